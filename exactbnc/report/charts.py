"""Plots as inline SVG: a frame with axes, and the curves in it. Colours come from the style sheet by class names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

from exactbnc.report.assessment import Bin, RocCurve
from exactbnc.report.markup import element, number, text
from exactbnc.report.subject import TracePoint

Range = tuple[float, float]

N_COLOURS = 6
"""Colours of series in the style sheet; more series repeat them with another dash."""

LEAST_STAY = 0.004
"""A value that lasts for a smaller part of the time would be invisible."""


@dataclass(frozen=True)
class Frame:
    """A plot area in user units, y downwards as in SVG."""

    x: Range
    y: Range
    width: float = 420.0
    height: float = 300.0
    left: float = 62.0
    bottom: float = 44.0
    top: float = 12.0
    right: float = 16.0

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the data is on the page."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        inner_width = self.width - self.left - self.right
        inner_height = self.height - self.top - self.bottom
        return round(self.left + across * inner_width, 2), round(self.top + (1 - up) * inner_height, 2)

    def line(self, points: Sequence[tuple[float, float]], **attributes: Any) -> str:
        """A polyline through points of the data."""
        listed = " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))
        return element("polyline", points=listed, **attributes)

    def axes(self, x_title: str, y_title: str) -> str:
        """Grid lines, numbers and titles."""
        marks = []
        (x0, y0), (x1, y1) = self.at(self.x[0], self.y[0]), self.at(self.x[1], self.y[1])
        for value, label in labelled(ticks(*self.y)):
            y = self.at(self.x[0], value)[1]
            marks.append(element("line", class_="grid", x1=x0, x2=x1, y1=y, y2=y))
            marks.append(element("text", text(label), class_="tick", x=x0 - 8, y=y, text_anchor="end", dy="0.32em"))
        for value, label in labelled(ticks(*self.x)):
            x = self.at(value, self.y[0])[0]
            marks.append(element("line", class_="mark", x1=x, x2=x, y1=y0, y2=y0 + 4))
            marks.append(element("text", text(label), class_="tick", x=x, y=y0 + 17, text_anchor="middle"))
        marks.append(element("line", class_="axis", x1=x0, x2=x1, y1=y0, y2=y0))
        middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
        marks.append(
            element("text", text(x_title), class_="title", x=middle_x, y=self.height - 6, text_anchor="middle")
        )
        turn = f"rotate(-90 12 {middle_y})"
        marks.append(
            element("text", text(y_title), class_="title", x=12, y=middle_y, text_anchor="middle", transform=turn)
        )
        return "".join(marks)

    def svg(self, content: str, description: str) -> str:
        """The whole picture with words for those who do not see it."""
        return element(
            "svg",
            content,
            class_="chart",
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_label=description,
        )


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers within a range.

    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    raw = (high - low) / about
    size = 10.0 ** floor(log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def labelled(values: Sequence[float]) -> list[tuple[float, str]]:
    """Each value with its text, all with as many digits as the step needs."""
    step = values[1] - values[0] if len(values) > 1 else 1.0
    digits = next(d for d in range(13) if abs(round(step, d) - step) <= 1e-6 * step) if step < 1 else 0
    digits = max(digits, 1) if step % 1 else digits
    return [(value, number(value, digits)) for value in values]


def convergence_chart(trace: Sequence[TracePoint]) -> str:
    """The best score so far and the bound over time, as steps."""
    start, end = trace[0][0], trace[-1][0]
    least = LEAST_STAY * (end - start)
    scores = _lasting([(seconds, score) for seconds, score, _ in trace if score is not None], least)
    bounds = _lasting([(seconds, bound) for seconds, _, bound in trace if bound is not None], least)
    values = [value for _, value in (*scores, *bounds)]
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 1e-3 * max(1.0, abs(high))
    frame = Frame((start, end), (low - room, high + room), width=860.0, height=300.0, left=92.0)
    lines = [frame.axes("seconds since the start", "score")]
    for points, kind in ((bounds, "bound"), (scores, "score")):
        if points:
            lines.append(frame.line(_steps(points, end), class_=f"curve {kind}"))
            x, y = frame.at(*points[-1])
            lines.append(element("circle", class_=f"dot {kind}", cx=x, cy=y, r=3.5))
    return frame.svg(
        "".join(lines),
        f"Best score and bound over {end:.2f} seconds; they end at {number(scores[-1][1]) if scores else 'no score'} "
        f"and {number(bounds[-1][1]) if bounds else 'no bound'}.",
    )


def _lasting(points: Sequence[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """Without the values that are replaced at once, which would only stretch the scale."""
    kept = [earlier for earlier, later in pairwise(points) if later[0] - earlier[0] >= least]
    return [*kept, *points[-1:]]


def _steps(points: Sequence[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """A value lasts until the next one."""
    drawn = [points[0]]
    for (_, before), (seconds, value) in pairwise(points):
        drawn += [(seconds, before), (seconds, value)]
    return [*drawn, (end, points[-1][1])]


def reliability_chart(bins: Sequence[Bin], x_title: str) -> str:
    """How sure predictions are against how often they are right; the area of a dot is the number of rows."""
    frame = Frame((0.0, 1.0), (0.0, 1.0), height=340.0)
    most = max(each.weight for each in bins)
    marks = [frame.axes(x_title, "observed share"), frame.line([(0, 0), (1, 1)], class_="diagonal")]
    marks.append(frame.line([(each.confidence, each.share) for each in bins], class_="curve series-0"))
    for each in bins:
        x, y = frame.at(each.confidence, each.share)
        label = f"{each.weight:,.0f} rows: predicted {each.confidence:.3f}, observed {each.share:.3f}"
        radius = round(2.5 + 6.5 * (each.weight / most) ** 0.5, 2)
        marks.append(element("circle", element("title", text(label)), class_="dot series-0", cx=x, cy=y, r=radius))
    return frame.svg("".join(marks), f"Reliability curve over {len(bins)} bins of predictions.")


def roc_chart(curves: Sequence[RocCurve]) -> str:
    """ROC curves, one a class."""
    frame = Frame((0.0, 1.0), (0.0, 1.0), height=340.0)
    marks = [frame.axes("false positive rate", "true positive rate"), frame.line([(0, 0), (1, 1)], class_="diagonal")]
    for place, curve in enumerate(curves):
        points = [(float(x), float(y)) for x, y in curve.points]
        marks.append(frame.line(points, class_=f"curve {series_class(place)}"))
    areas = ", ".join(f"{curve.label} {curve.area:.3f}" for curve in curves)
    return frame.svg("".join(marks), f"ROC curves; areas: {areas}.")


def series_class(place: int) -> str:
    """The classes that give a series its colour and dash."""
    return f"series-{place % N_COLOURS} dash-{place // N_COLOURS % 3}"


def folds_strip(values: Sequence[float], mean: float) -> str:
    """One dot a fold on a short line, the mean as a stroke."""
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or 1e-3 * max(1.0, abs(high))
    frame = Frame((low - room, high + room), (0.0, 1.0), 180.0, 22.0, 4.0, 4.0, 4.0, 4.0)
    marks = [element("line", class_="axis", x1=4, x2=176, y1=11, y2=11)]
    marks += [element("circle", class_="dot series-0 fold", cx=frame.at(v, 0.5)[0], cy=11, r=3.5) for v in values]
    x = frame.at(mean, 0.5)[0]
    marks.append(element("line", class_="mean", x1=x, x2=x, y1=2, y2=20))
    return frame.svg("".join(marks), f"{len(values)} folds from {low:.4f} to {high:.4f}")
