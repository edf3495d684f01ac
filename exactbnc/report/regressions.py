"""Regressions as pictures: the rows and the lines of every number that depends on another number.

A line is a + b x for one configuration of the parents with states, the other parents that are numbers at their means.
"""

from __future__ import annotations

from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Rows
from exactbnc.network.regressions import Regression, regression_of
from exactbnc.report.charts import N_COLOURS, Frame, series_class
from exactbnc.report.markup import element, name_text, number, text
from scorecache.errors import MemoryLimitError

MOST_PICTURES = 24
MOST_POINTS = 300
"""Of a picture; of more rows, evenly spaced ones are drawn."""
MOST_LINES = N_COLOURS

Floats = NDArray[np.float64]
Line = tuple[tuple[int, ...], tuple[float, float]]
"""A configuration, and the heights of its line at both ends."""


def regression_pictures(net: BayesNet, rows: Rows | None) -> str:
    """A figure for each arc between numbers; without rows the lines alone, over two standard deviations."""
    arcs = [(u, v) for v in range(net.n_vars) if net.is_number[v] for u in net.dag.parents[v] if net.is_number[u]]
    if not arcs:
        return ""
    shown = "".join(_figure(net, u, v, rows) for u, v in arcs[:MOST_PICTURES])
    left = len(arcs) - MOST_PICTURES
    note = element("p", f"Not drawn: {left:,} more arcs between numbers.", class_="note") if left > 0 else ""
    return element("div", shown, class_="plots") + note


def _figure(net: BayesNet, parent: int, child: int, rows: Rows | None) -> str:
    own = regression_of(net, child)
    chosen = None if rows is None else _known(rows, own)
    points = _points(rows, chosen, parent, child)
    middles = {u: _middle(net, u, rows, chosen) for u in own.regressors}
    mean, deviation = middles[parent]
    low, high = (mean - 2 * deviation, mean + 2 * deviation) if len(points) < 2 else _ends(points[:, 0])
    lines = _lines(net, own, parent, middles, (low, high))
    heights = np.array([y for _, ends in lines for y in ends] + points[:, 1].tolist())
    frame = Frame(_roomy(low, high), _roomy(float(heights.min()), float(heights.max())), height=300.0)
    marks = [frame.axes(net.names[parent], net.names[child])]
    place = {configuration: i for i, (configuration, _) in enumerate(lines)}
    for i, (x, y) in enumerate(points):
        configuration = () if rows is None or chosen is None else tuple(rows.codes[list(own.given), chosen[i]].tolist())
        if configuration in place:
            cx, cy = frame.at(float(x), float(y))
            series = series_class(place[configuration])
            marks.append(element("circle", class_=f"dot {series}", cx=cx, cy=cy, r=2, opacity=0.45))
    for configuration, (left, right) in lines:
        series = series_class(place[configuration])
        marks.append(frame.line([(low, left), (high, right)], class_=f"curve {series}"))
    described = f"{net.names[child]} against {net.names[parent]}: {len(points)} rows, {len(lines)} regression lines."
    return element("figure", frame.svg("".join(marks), described) + _caption(net, own, parent, lines))


def _lines(
    net: BayesNet, own: Regression, parent: int, middles: dict[int, tuple[float, float]], ends: tuple[float, float]
) -> list[Line]:
    """Configurations of the parents with states, and the heights of their lines at both ends."""
    found = []
    for configuration in islice(product(*(range(len(net.states[u])) for u in own.given)), MOST_LINES):
        row = own.table[configuration]
        at_mean = row[0] + sum(row[i] * middles[u][0] for i, u in enumerate(own.regressors, start=1))
        slope = row[1 + own.regressors.index(parent)]
        left, right = (float(at_mean + slope * (x - middles[parent][0])) for x in ends)
        found.append((configuration, (left, right)))
    return found


def _caption(
    net: BayesNet, own: Regression, parent: int, lines: list[tuple[tuple[int, ...], tuple[float, float]]]
) -> str:
    """What each line stands for, with its slope."""
    items = ""
    for place, (configuration, _) in enumerate(lines):
        known = ", ".join(
            f"{net.names[u]} = {net.states[u][code]}" for u, code in zip(own.given, configuration, strict=True)
        )
        slope = number(float(own.table[configuration][1 + own.regressors.index(parent)]), 4)
        key = element("i", "", class_=f"key line {series_class(place)}")
        items += element("li", key + text(f"{known + ': ' if known else ''}slope {slope}"))
    others = [net.names[u] for u in own.regressors if u != parent]
    fixed = element("p", text(f"{', '.join(others)} at the mean"), class_="note") if others else ""
    n_lines = int(np.prod([len(net.states[u]) for u in own.given]))
    if n_lines > len(lines):
        fixed += element("p", f"The first {len(lines)} of {n_lines:,} configurations.", class_="note")
    title = element("b", f"{name_text(net.names[own.child])} given {name_text(net.names[parent])}")
    return element("figcaption", title + element("ul", items, class_="legend") + fixed)


def _known(rows: Rows, own: Regression) -> NDArray[np.int64]:
    """At most this many rows in which the family is known."""
    whole = np.flatnonzero((rows.codes[list(own.members)] != UNKNOWN).all(axis=0))
    return whole[np.unique(np.linspace(0, len(whole) - 1, MOST_POINTS).astype(np.int64))] if len(whole) else whole


def _points(rows: Rows | None, chosen: NDArray[np.int64] | None, parent: int, child: int) -> Floats:
    if rows is None or chosen is None or not len(chosen):
        return np.empty((0, 2))
    return np.column_stack([rows.column(parent)[chosen], rows.column(child)[chosen]])


def _middle(net: BayesNet, v: int, rows: Rows | None, chosen: NDArray[np.int64] | None) -> tuple[float, float]:
    """Mean and standard deviation: of the rows, or under the network."""
    if rows is not None and chosen is not None and len(chosen) > 1:
        values = rows.column(v)[chosen]
        return float(values.mean()), float(values.std()) or 1.0
    try:
        found = net.query(net.names[v])
    except MemoryLimitError:
        return 0.0, 1.0
    return found.mean, float(np.sqrt(found.variance)) or 1.0


def _ends(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _roomy(low: float, high: float) -> tuple[float, float]:
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room
