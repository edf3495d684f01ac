"""The graph as SVG, and as data for the script that makes it interactive.

An arc is wider the more the score loses without it, and fainter the less probable it is, where that is known. The arcs
of a class that is a parent of all others are faint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from exactbnc.pictures._layout import BOX_HEIGHT
from exactbnc.pictures._sketch import HEAD_LENGTH, HEAD_WIDTH, Sketch, View, sketch, xy
from exactbnc.report.information import markov_blanket
from exactbnc.report.markup import element, text
from exactbnc.report.subject import Subject

MARGIN = 24.0
SHAPE, SPREAD = 1.6, 1.8
"""Width by height of the canvas on a desk, and how far a small network may be spread to fill it."""
THINNEST, WIDEST = 1.1, 3.4


@dataclass(frozen=True, eq=False)
class Picture:
    """The markup of the graph, the part of the plane that it covers, and the data of the script."""

    svg: str
    view: View
    data: dict[str, Any]


def draw_graph(subject: Subject, information: Mapping[tuple[str, str], float]) -> Picture:
    """Lay out and draw the network of a report."""
    dag = subject.dag
    drawn = sketch(dag, subject.class_name, margin=MARGIN, shape=SHAPE, spread=SPREAD)
    c, hub = drawn.class_index, drawn.hub
    blanket = markov_blanket(dag.parents, c) if c is not None and hub is None else frozenset()
    most = max(subject.arc_losses.values(), default=0.0)
    table = None if subject.posterior is None else subject.posterior.arcs
    arcs: list[list[Any]] = []
    curves: list[str] = []
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            names = (dag.names[parent], dag.names[child])
            loss = subject.arc_losses.get(names)
            p = None if table is None else float(table.loc[names])
            curves.append(_arc(len(arcs), names, drawn, (parent, child), _stroke(loss, most), p))
            arcs.append([parent, child, loss, information.get(names), p])
    nodes = [_node(v, name, drawn, v in blanket) for v, name in enumerate(dag.names)]
    curves.sort(key=lambda markup: 'class="arc hub"' not in markup)  # faint ones behind
    world = element("g", "".join(curves), id="drawn-arcs") + element("g", "".join(nodes), id="nodes")
    svg = element(
        "svg",
        world,
        id="graph",
        class_=None if table is None else "shaded",
        viewBox=" ".join(f"{side:g}" for side in drawn.view),
        preserveAspectRatio="xMidYMid meet",
        role="application",
        aria_label=f"Graph of {dag.n_vars} variables and {dag.n_arcs} arcs. Arrow keys move between variables, "
        "Enter keeps the details, Escape lets go, plus and minus zoom, 0 shows everything.",
    )
    data = {
        "names": list(dag.names),
        "x": [round(x, 1) for x, _ in drawn.centres],
        "y": [round(y, 1) for _, y in drawn.centres],
        "widths": drawn.widths,
        "height": BOX_HEIGHT,
        "head": [HEAD_LENGTH, HEAD_WIDTH],
        "class": c,
        "hub": hub,
        "arcs": arcs,
        "view": list(drawn.view),
        "local_scores": [subject.local_scores.get(name) for name in dag.names],
        "n_states": None if subject.net is None else [len(states) for states in subject.net.states],
    }
    return Picture(svg, drawn.view, data)


def _arc(
    number: int, names: tuple[str, str], drawn: Sketch, arc: tuple[int, int], width: float, p: float | None
) -> str:
    line, head = drawn.path(arc)
    content = element("path", class_="hit", d=line)
    content += element("path", class_="line", d=line, style=f"--w:{width:g}") + element("path", class_="head", d=head)
    kind = "arc hub" if arc[0] == drawn.hub else "arc"
    shade = None if p is None else f"--p:{p:.4f}"
    return element("g", content, class_=kind, data_arc=number, aria_label=f"{names[0]} to {names[1]}", style=shade)


def _node(v: int, name: str, drawn: Sketch, in_blanket: bool) -> str:
    is_class = v == drawn.class_index
    return element(
        "g",
        box_content(drawn, v, name),
        class_="node" + (" class" if is_class else "") + (" blanket" if in_blanket else ""),
        data_node=v,
        transform=f"translate({xy(drawn.centres[v])})",
        tabindex=0 if v == 0 else -1,
        role="button",
        aria_label=name + (", the class" if is_class else ""),
    )


def box_content(drawn: Sketch, v: int, name: str) -> str:
    """The box of a variable around the origin, its label and its whole name."""
    width = drawn.widths[v]
    box = element("rect", x=-width / 2, y=-BOX_HEIGHT / 2, width=width, height=BOX_HEIGHT, rx=7)
    words = element("text", text(drawn.labels[v]), text_anchor="middle", dy="0.35em")
    return element("title", text(name)) + box + words


def _stroke(loss: float | None, most: float) -> float:
    if loss is None or most <= 0:
        return 1.4
    return round(THINNEST + (WIDEST - THINNEST) * sqrt(max(0.0, loss / most)), 2)
