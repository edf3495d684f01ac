"""The graph as SVG, laid out in layers, and as data for the script that makes it interactive.

Parents are above children. Arcs are curves with vertical ends and a small triangle as head; an arc is wider the more
the score loses without it. The arcs of a class that is a parent of all others are straight and faint.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import hypot, sqrt
from typing import Any

from exactbnc.formats.dot import is_parent_of_all
from exactbnc.pictures._layout import BOX_HEIGHT, Layout, Point, layered_layout
from exactbnc.report.information import markov_blanket
from exactbnc.report.markup import element, text
from exactbnc.report.subject import Subject

FONT_SIZE = 13.5
BOLD = 1.1
"""How much wider the letters of the class are."""
PADDING = 6.5
MARGIN = 24.0
LONGEST_LABEL = 24
SHAPE, SPREAD = 1.6, 1.8
"""Width by height of the canvas on a desk, and how far a small network may be spread to fill it."""
HEAD_LENGTH, HEAD_WIDTH = 7.0, 6.0
THINNEST, WIDEST = 1.1, 3.4
MOST_BENT = 24
"""In larger networks the arcs of the class stay straight: bends would be a tangle."""
BENDS = tuple(range(30, 520, 35))
STEEPEST = 1.0
"""How far an arc may go aside, per unit of height, where it passes a layer."""

_NARROW, _WIDE = frozenset("fijlrtI.,:;'|!()[]{} -/"), frozenset("mwMW@%&")


@dataclass(frozen=True, eq=False)
class Picture:
    """The markup of the graph, the part of the plane it covers (x, y, width, height), and the data of the script."""

    svg: str
    view: tuple[float, float, float, float]
    data: dict[str, Any]


def draw_graph(subject: Subject, information: Mapping[tuple[str, str], float]) -> Picture:
    """Lay out and draw the network of a report."""
    dag, class_name = subject.dag, subject.class_name
    c = dag.names.index(class_name) if class_name in dag.names else None
    hub = c if is_parent_of_all(dag, class_name) else None
    labels = [short_label(name) for name in dag.names]
    stretches = [BOLD if v == c else 1.0 for v in range(dag.n_vars)]
    widths = [
        round(text_width(label) * stretch + 2 * PADDING, 1) for label, stretch in zip(labels, stretches, strict=True)
    ]
    layout = _downwards(layered_layout(dag.parents, widths, hub=hub, shape=SHAPE, spread=SPREAD))
    blanket = markov_blanket(dag.parents, c) if c is not None and hub is None else frozenset()
    most = max(subject.arc_losses.values(), default=0.0)
    arcs: list[list[Any]] = []
    drawn: list[str] = []
    bent: list[list[Point]] = []
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            names = (dag.names[parent], dag.names[child])
            loss = subject.arc_losses.get(names)
            kind = "arc"
            route: Sequence[Point] = layout.routes[parent, child]
            if parent == hub:
                route, kind = _way_round(route, child, hub, layout.centres, widths), "arc hub"
                bent += [[_half_way(route[0], route[1]), _half_way(route[-2], route[-1])]]
            drawn.append(_arc(len(arcs), names, kind, route, _stroke(loss, most)))
            arcs.append([parent, child, loss, information.get(names)])
    nodes = [
        _node(v, name, labels[v], widths[v], layout.centres[v], v == c, v in blanket)
        for v, name in enumerate(dag.names)
    ]
    drawn.sort(key=lambda markup: 'class="arc hub"' not in markup)  # faint ones behind
    view = _view(layout, widths, bent)
    world = element("g", "".join(drawn), id="drawn-arcs") + element("g", "".join(nodes), id="nodes")
    svg = element(
        "svg",
        world,
        id="graph",
        viewBox=" ".join(f"{side:g}" for side in view),
        preserveAspectRatio="xMidYMid meet",
        role="application",
        aria_label=f"Graph of {dag.n_vars} variables and {dag.n_arcs} arcs. Arrow keys move between variables, "
        "Enter keeps the details, Escape lets go, plus and minus zoom, 0 shows everything.",
    )
    data = {
        "names": list(dag.names),
        "x": [round(x, 1) for x, _ in layout.centres],
        "y": [round(y, 1) for _, y in layout.centres],
        "widths": widths,
        "height": BOX_HEIGHT,
        "head": [HEAD_LENGTH, HEAD_WIDTH],
        "class": c,
        "hub": hub,
        "arcs": arcs,
        "view": list(view),
        "local_scores": [subject.local_scores.get(name) for name in dag.names],
        "n_states": None if subject.net is None else [len(states) for states in subject.net.states],
    }
    return Picture(svg, view, data)


def short_label(name: str) -> str:
    """The name on one line, its middle omitted where it is long.

    >>> short_label("a rather long name of a variable")
    'a rather lon…f a variable'
    """
    shown = " ".join(name.split()) or "(blank)"
    half = LONGEST_LABEL // 2
    return shown if len(shown) <= LONGEST_LABEL else f"{shown[:half]}…{shown[-half:]}"


def text_width(label: str) -> float:
    """About how wide a label is in a sans-serif of the graph's size; the script narrows what turns out wider."""
    return FONT_SIZE * sum(_advance(letter) for letter in label)


def _advance(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.34
    if letter in _WIDE:
        return 0.92
    return 0.70 if letter.isupper() else 0.60


def arc_path(points: Sequence[Point], *, straight: bool) -> tuple[str, str]:
    """The line through points, from the parent down to the child, and its head, as path data.

    A straight one has two points, or three if it is bent towards the second. Otherwise the ends are vertical, and
    between them come pairs of points, where the arc enters and leaves a layer that it only passes.
    """
    tip, before = points[-1], points[-2]
    dx, dy = (tip[0] - before[0], tip[1] - before[1]) if straight else (0.0, 1.0)
    length = hypot(dx, dy) or 1.0
    dx, dy = dx / length, dy / length
    neck = (tip[0] - dx * HEAD_LENGTH, tip[1] - dy * HEAD_LENGTH)
    if straight:
        line = f"M{_xy(points[0])}" + "".join(f"Q{_xy(bend)} " for bend in points[1:-1]) + _xy(neck)
        line = line if len(points) > 2 else f"M{_xy(points[0])}L{_xy(neck)}"
    else:
        line = _curve([points[0], *_middles(points[1:-1]), neck])
    side = HEAD_WIDTH / 2
    left = (neck[0] - dy * side, neck[1] + dx * side)
    right = (neck[0] + dy * side, neck[1] - dx * side)
    return line, f"M{_xy(tip)}L{_xy(left)}L{_xy(right)}Z"


def _way_round(
    route: Sequence[Point], child: int, hub: int, centres: Sequence[Point], widths: Sequence[float]
) -> Sequence[Point]:
    """The straight line if no box is in its way or there are many boxes; else the flattest bend past them.

    The bend is a quadratic curve, looked at in a few places; it ends at the top or a side of the child.
    """
    others = [v for v in range(len(centres)) if v not in (child, hub)]
    if len(others) > MOST_BENT or not _hits(route, others, centres, widths):
        return route
    start, top = route[0], route[-1]
    x, y = centres[child]
    for bend, side in product(BENDS, (-1, 1)):
        for end in (top, (x + side * widths[child] / 2, y)):
            middle_x, middle_y = _half_way(start, end)
            bent = [start, (middle_x + side * bend, middle_y), end]
            if not _hits(bent, others, centres, widths):
                return bent
    return route


def _hits(points: Sequence[Point], boxes: Sequence[int], centres: Sequence[Point], widths: Sequence[float]) -> bool:
    """Whether the line or the quadratic curve touches one of the boxes."""
    (x0, y0), (x1, y1), (x2, y2) = points if len(points) == 3 else (points[0], _half_way(*points), points[1])
    for step in range(1, 40):
        t = step / 40
        x = (1 - t) ** 2 * x0 + 2 * t * (1 - t) * x1 + t * t * x2
        y = (1 - t) ** 2 * y0 + 2 * t * (1 - t) * y1 + t * t * y2
        for v in boxes:
            if abs(x - centres[v][0]) < widths[v] / 2 + 5 and abs(y - centres[v][1]) < BOX_HEIGHT / 2 + 3:
                return True
    return False


def _half_way(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def _middles(pairs: Sequence[Point]) -> list[Point]:
    """Where the arc passes a layer: half-way between entering and leaving it."""
    return [(x, (y + next_y) / 2) for (x, y), (_, next_y) in zip(pairs[::2], pairs[1::2], strict=True)]


def _curve(knots: Sequence[Point]) -> str:
    """A smooth way down through the knots, vertical at both ends, that never turns back between two of them.

    At a knot between two steps in the same direction the slope dx/dy is the harmonic mean of theirs (Fritsch and
    Butland, 1984), at most STEEPEST so that the arc keeps clear of the boxes beside it; elsewhere it is 0.
    """
    steps = [(x1 - x0) / (y1 - y0) for (x0, y0), (x1, y1) in pairwise(knots)]
    inner = [2 * a * b / (a + b) if a * b > 0 else 0.0 for a, b in pairwise(steps)]
    slopes = [0.0, *(max(-STEEPEST, min(STEEPEST, slope)) for slope in inner), 0.0]
    line = f"M{_xy(knots[0])}"
    for (start, slope), (end, next_slope) in pairwise(zip(knots, slopes, strict=True)):
        reach = (end[1] - start[1]) / (3 if slope and next_slope else 2)
        first = (start[0] + slope * reach, start[1] + reach)
        second = (end[0] - next_slope * reach, end[1] - reach)
        line += f"C{_xy(first)} {_xy(second)} {_xy(end)}"
    return line


def _arc(number: int, names: tuple[str, str], kind: str, route: Sequence[Point], width: float) -> str:
    line, head = arc_path(route, straight=kind == "arc hub")
    content = element("path", class_="hit", d=line)
    content += element("path", class_="line", d=line, style=f"--w:{width:g}") + element("path", class_="head", d=head)
    return element("g", content, class_=kind, data_arc=number, aria_label=f"{names[0]} to {names[1]}")


def _node(v: int, name: str, label: str, width: float, centre: Point, is_class: bool, in_blanket: bool) -> str:
    kind = "node" + (" class" if is_class else "") + (" blanket" if in_blanket else "")
    box = element("rect", x=-width / 2, y=-BOX_HEIGHT / 2, width=width, height=BOX_HEIGHT, rx=7)
    words = element("text", text(label), text_anchor="middle", dy="0.35em")
    return element(
        "g",
        element("title", text(name)) + box + words,
        class_=kind,
        data_node=v,
        transform=f"translate({_xy(centre)})",
        tabindex=0 if v == 0 else -1,
        role="button",
        aria_label=name + (", the class" if is_class else ""),
    )


def _stroke(loss: float | None, most: float) -> float:
    if loss is None or most <= 0:
        return 1.4
    return round(THINNEST + (WIDEST - THINNEST) * sqrt(max(0.0, loss / most)), 2)


def _downwards(layout: Layout) -> Layout:
    """The layout has y upwards, SVG downwards."""
    routes = {arc: [(x, -y) for x, y in route] for arc, route in layout.routes.items()}
    return Layout(tuple((x, -y) for x, y in layout.centres), routes)


def _view(
    layout: Layout, widths: Sequence[float], bent: Sequence[Sequence[Point]]
) -> tuple[float, float, float, float]:
    if not widths:
        return 0.0, 0.0, 1.0, 1.0
    sides = [x + side * width / 2 for (x, _), width in zip(layout.centres, widths, strict=True) for side in (-1, 1)]
    sides += [x for route in [*layout.routes.values(), *bent] for x, _ in route]
    heights = [y for _, y in layout.centres]
    left, top = min(sides) - MARGIN, min(heights) - BOX_HEIGHT / 2 - MARGIN
    right, bottom = max(sides) + MARGIN, max(heights) + BOX_HEIGHT / 2 + MARGIN
    return round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1)


def _xy(point: Point) -> str:
    return f"{round(point[0], 1):g},{round(point[1], 1):g}"
