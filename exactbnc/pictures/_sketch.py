"""The places of a network in a drawing made of SVG: labels, boxes, and the curves of the arcs as path data.

Parents are above children. Arcs are curves with vertical ends and a small triangle as head. The arcs of a class that is
a parent of all others are straight, or bent where a box is in their way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import hypot

from exactbnc.formats.dot import is_parent_of_all
from exactbnc.graph.dag import DAG
from exactbnc.pictures._layout import BOX_HEIGHT, PAGE_SHAPE, Layout, Point, layered_layout

FONT_SIZE = 13.5
BOLD = 1.1
"""How much wider the letters of the class are."""
PADDING = 6.5
LONGEST_LABEL = 24
HEAD_LENGTH, HEAD_WIDTH = 7.0, 6.0
MOST_BENT = 24
"""In larger networks the arcs of the class stay straight: bends would be a tangle."""
BENDS = tuple(range(30, 520, 35))
STEEPEST = 1.0
"""How far an arc may go aside, per unit of height, where it passes a layer."""

_NARROW, _WIDE = frozenset("fijlrtI.,:;'|!()[]{} -/"), frozenset("mwMW@%&")

View = tuple[float, float, float, float]
"""The part of the plane that a drawing covers: x, y, width, height."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """Where everything is, y growing downwards; variables by their index, arcs as (parent, child)."""

    labels: Sequence[str]
    widths: Sequence[float]
    centres: Sequence[Point]
    routes: Mapping[tuple[int, int], Sequence[Point]]
    class_index: int | None
    hub: int | None
    """The class if it is a parent of all others."""
    view: View

    def path(self, arc: tuple[int, int]) -> tuple[str, str]:
        """The line of an arc and its head, as path data."""
        return arc_path(self.routes[arc], straight=arc[0] == self.hub)


def sketch(
    dag: DAG, class_name: str | None, *, margin: float, shape: float = PAGE_SHAPE, spread: float = 1.0
) -> Sketch:
    """Lay out a network for a drawing of this shape, spread to it at most by that factor."""
    c = dag.names.index(class_name) if class_name in dag.names else None
    hub = c if is_parent_of_all(dag, class_name) else None
    labels = [short_label(name) for name in dag.names]
    widths = [round(text_width(label) * (BOLD if v == c else 1.0) + 2 * PADDING, 1) for v, label in enumerate(labels)]
    layout = _downwards(layered_layout(dag.parents, widths, hub=hub, shape=shape, spread=spread))
    routes: dict[tuple[int, int], Sequence[Point]] = dict(layout.routes)
    bent = []
    if hub is not None:
        for child in range(dag.n_vars):
            if child != hub:
                route = _way_round(layout.routes[hub, child], child, hub, layout.centres, widths)
                routes[hub, child] = route
                bent.append([_half_way(route[0], route[1]), _half_way(route[-2], route[-1])])
    return Sketch(labels, widths, layout.centres, routes, c, hub, _view(layout, widths, bent, margin))


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
        line = f"M{xy(points[0])}" + "".join(f"Q{xy(bend)} " for bend in points[1:-1]) + xy(neck)
        line = line if len(points) > 2 else f"M{xy(points[0])}L{xy(neck)}"
    else:
        line = _curve([points[0], *_middles(points[1:-1]), neck])
    side = HEAD_WIDTH / 2
    left = (neck[0] - dy * side, neck[1] + dx * side)
    right = (neck[0] + dy * side, neck[1] - dx * side)
    return line, f"M{xy(tip)}L{xy(left)}L{xy(right)}Z"


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
    line = f"M{xy(knots[0])}"
    for (start, slope), (end, next_slope) in pairwise(zip(knots, slopes, strict=True)):
        reach = (end[1] - start[1]) / (3 if slope and next_slope else 2)
        first = (start[0] + slope * reach, start[1] + reach)
        second = (end[0] - next_slope * reach, end[1] - reach)
        line += f"C{xy(first)} {xy(second)} {xy(end)}"
    return line


def _downwards(layout: Layout) -> Layout:
    """The layout has y upwards, SVG downwards."""
    routes = {arc: [(x, -y) for x, y in route] for arc, route in layout.routes.items()}
    return Layout(tuple((x, -y) for x, y in layout.centres), routes)


def _view(layout: Layout, widths: Sequence[float], bent: Sequence[Sequence[Point]], margin: float) -> View:
    """What the boxes and arcs cover, and a margin; of a bent arc the curve reaches half-way to its bend."""
    if not widths:
        return 0.0, 0.0, 1.0, 1.0
    sides = [x + side * width / 2 for (x, _), width in zip(layout.centres, widths, strict=True) for side in (-1, 1)]
    sides += [x for route in [*layout.routes.values(), *bent] for x, _ in route]
    heights = [y for _, y in layout.centres]
    left, top = min(sides) - margin, min(heights) - BOX_HEIGHT / 2 - margin
    right, bottom = max(sides) + margin, max(heights) + BOX_HEIGHT / 2 + margin
    return round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1)


def xy(point: Point) -> str:
    return f"{round(point[0], 1):g},{round(point[1], 1):g}"
