"""Drawing a layered layout with matplotlib, one unit of the axes being one point of the page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from exactbnc.formats.dot import CLASS_ARC_COLOUR, CLASS_COLOUR, arc_width, is_parent_of_all
from exactbnc.graph.dag import DAG, Arc
from exactbnc.pictures._layout import BOX_HEIGHT, Layout, Point, layered_layout
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path as Curve

DPI = 150

_MOST_PIXELS = 16_000
_FONT_SIZE = 10.0
_TITLE_SIZE = 12.0
_PADDING = 9.0
_MARGIN = 18.0
_LONGEST_LABEL = 32
_BOX_COLOUR, _BOX_EDGE, _TEXT_COLOUR = "#f4f6f9", "#5b6b7f", "#1d2733"
_ARC_COLOURS = ("#2f4b7c", "#b5542a", "#3b7d4f", "#8a3b7a", "#8c6d1f", "#2c7d8c", "#a8324a", "#5a4fa3")
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def draw(
    dag: DAG,
    kind: str,
    class_name: str | None,
    title: str | None,
    strengths: Mapping[Arc, float] | None = None,
) -> bytes:
    """The picture as a file of that kind: png, svg or pdf."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ParameterError(
            "a picture needs graphviz (its program 'dot') or matplotlib (pip install matplotlib); neither is installed"
        ) from error

    sketch = _Sketch.of(dag, class_name, title, strengths or {})
    page = sketch.page
    with matplotlib.rc_context({"svg.hashsalt": "exactbnc", "pdf.fonttype": 42}):
        figure = Figure(figsize=page.inches, facecolor="white")
        sketch.paint(figure.add_axes((0, 0, 1, 1)))
        picture = io.BytesIO()
        dpi = min(DPI, _MOST_PIXELS * 72 / max(page.width, page.height))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure.savefig(picture, format=kind, dpi=dpi, metadata=_UNDATED.get(kind))
    _warn_of_missing_glyphs(caught)
    return picture.getvalue()


def draw_on(
    dag: DAG,
    axes: Axes | None,
    class_name: str | None,
    title: str | None,
    strengths: Mapping[Arc, float] | None = None,
) -> Axes:
    """Draw into axes of matplotlib; None: into a new figure of pyplot, as large as the picture needs."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ParameterError("a plot needs matplotlib: pip install matplotlib") from error

    sketch = _Sketch.of(dag, class_name, title, strengths or {})
    if axes is None:
        axes = pyplot.figure(figsize=sketch.page.inches, facecolor="white").add_axes((0, 0, 1, 1))
    else:
        axes.set_aspect("equal")
    sketch.paint(axes)
    return axes


@dataclass(frozen=True)
class _Sketch:
    """The positions of all elements."""

    layout: Layout
    labels: Sequence[str]
    widths: Sequence[float]
    page: _Page
    class_index: int | None
    hub: int | None
    title: str | None
    arc_widths: Mapping[tuple[int, int], float]
    """In points, of the arcs that have a strength."""

    @classmethod
    def of(cls, dag: DAG, class_name: str | None, title: str | None, strengths: Mapping[Arc, float]) -> _Sketch:
        class_index = dag.names.index(class_name) if class_name in dag.names else None
        hub = class_index if is_parent_of_all(dag, class_name) else None
        labels = [_label(name) for name in dag.names]
        widths = [_text_width(label) + 2 * _PADDING for label in labels]
        layout = layered_layout(dag.parents, widths, hub=hub)
        index = {name: v for v, name in enumerate(dag.names)}
        arc_widths = {(index[parent], index[child]): arc_width(p) for (parent, child), p in strengths.items()}
        return cls(layout, labels, widths, _page(layout, widths, title), class_index, hub, title, arc_widths)

    def paint(self, axes: Axes) -> None:
        page = self.page
        axes.set(xlim=(page.left, page.right), ylim=(page.bottom, page.top))
        axes.set_axis_off()
        _draw_arcs(axes, self.layout, self.hub, self.arc_widths)
        _draw_boxes(axes, self.layout, self.labels, self.widths, self.class_index)
        if self.title is not None:
            place = ((page.left + page.right) / 2, page.top - _MARGIN)
            axes.text(*place, _escaped(self.title), size=_TITLE_SIZE, color=_TEXT_COLOUR, ha="center", va="top")


@dataclass(frozen=True)
class _Page:
    left: float
    right: float
    bottom: float
    top: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def inches(self) -> tuple[float, float]:
        return self.width / 72, self.height / 72


def _page(layout: Layout, widths: Sequence[float], title: str | None) -> _Page:
    """What the boxes, the arcs and the title cover, and a margin."""
    sides = [x + side * width / 2 for (x, _), width in zip(layout.centres, widths, strict=True) for side in (-1, 1)]
    sides += [x for route in layout.routes.values() for x, _ in route]
    heights = [y for _, y in layout.centres]
    title_width = 0.0 if title is None else _text_width(_escaped(title)) * _TITLE_SIZE / _FONT_SIZE
    middle, half = (min(sides) + max(sides)) / 2, max(max(sides) - min(sides), title_width) / 2 + _MARGIN
    return _Page(
        left=middle - half,
        right=middle + half,
        bottom=min(heights) - BOX_HEIGHT / 2 - _MARGIN,
        top=max(heights) + BOX_HEIGHT / 2 + _MARGIN + (0.0 if title is None else 2.5 * _TITLE_SIZE),
    )


def _draw_arcs(axes: Axes, layout: Layout, hub: int | None, arc_widths: Mapping[tuple[int, int], float]) -> None:
    from matplotlib.patches import FancyArrowPatch

    for (parent, child), route in layout.routes.items():
        is_faint = parent == hub
        arrow = FancyArrowPatch(
            path=_line(route) if is_faint else _curve(route),
            arrowstyle="-|>",
            mutation_scale=6 if is_faint else 9,
            linewidth=arc_widths.get((parent, child), 0.6 if is_faint else 1.2),
            color=CLASS_ARC_COLOUR if is_faint else _ARC_COLOURS[parent % len(_ARC_COLOURS)],
            capstyle="round",
            joinstyle="miter",
            zorder=1 if is_faint else 2,
        )
        axes.add_patch(arrow)


def _line(route: Sequence[Point]) -> Curve:
    from matplotlib.path import Path as Curve

    return Curve(list(route))


def _curve(route: Sequence[Point]) -> Curve:
    """Through the points with vertical tangents."""
    from matplotlib.path import Path as Curve

    vertices, codes = [route[0]], [Curve.MOVETO]
    for (x, y), (next_x, next_y) in pairwise(route):
        middle = (y + next_y) / 2
        vertices += [(x, middle), (next_x, middle), (next_x, next_y)]
        codes += [Curve.CURVE4] * 3
    return Curve(vertices, codes)


def _draw_boxes(
    axes: Axes, layout: Layout, labels: Sequence[str], widths: Sequence[float], class_index: int | None
) -> None:
    from matplotlib.patches import FancyBboxPatch

    for v, ((x, y), label, width) in enumerate(zip(layout.centres, labels, widths, strict=True)):
        is_class = v == class_index
        box = FancyBboxPatch(
            (x - width / 2, y - BOX_HEIGHT / 2),
            width,
            BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=6",
            facecolor=CLASS_COLOUR if is_class else _BOX_COLOUR,
            edgecolor=_BOX_EDGE,
            linewidth=1.4 if is_class else 0.9,
            zorder=3,
        )
        axes.add_patch(box)
        axes.text(x, y, label, size=_FONT_SIZE, color=_TEXT_COLOUR, ha="center", va="center_baseline", zorder=4)


def _label(name: str) -> str:
    """The name on one line, its middle omitted where it is long."""
    shown = " ".join(name.split())
    if len(shown) > _LONGEST_LABEL:
        shown = f"{shown[: _LONGEST_LABEL // 2]}…{shown[-_LONGEST_LABEL // 2 + 1 :]}"
    return _escaped(shown)


def _escaped(text: str) -> str:
    """A dollar is a dollar, not the beginning of mathematics."""
    return text.replace("$", r"\$")


def _text_width(text: str) -> float:
    """In points, at the size of the labels."""
    from matplotlib.textpath import TextPath

    vertices = TextPath((0, 0), text, size=_FONT_SIZE).vertices
    return float(vertices[:, 0].max()) if len(vertices) else 0.0


def _warn_of_missing_glyphs(caught: Sequence[warnings.WarningMessage]) -> None:
    """Repeat warnings, but only one for all characters that matplotlib's font lacks."""
    lacking = {str(warning.message) for warning in caught if str(warning.message).startswith("Glyph ")}
    if lacking:
        warnings.warn(
            f"the font of the picture lacks {len(lacking)} characters of the names, shown as boxes", stacklevel=4
        )
    for warning in caught:
        if str(warning.message) not in lacking:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
