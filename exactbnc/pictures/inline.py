"""A network as an SVG element for a web page or a notebook: the layered layout, drawn without matplotlib."""

from __future__ import annotations

from html import escape

from exactbnc.graph.dag import DAG
from exactbnc.pictures._layout import BOX_HEIGHT, Point, layered_layout

FONT_SIZE = 12.0
MARGIN = 8.0
LONGEST_LABEL = 24

_HEAD = """<defs><marker id="{id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0.5L8 4L0 7.5z" fill="currentColor"/></marker></defs>"""


def graph_svg(dag: DAG, class_name: str | None = None) -> str:
    """Draw a network as the text of an SVG element, in the colour of the text around it.

    Parameters
    ----------
    dag : DAG
    class_name : str, optional
        A variable to highlight.

    Returns
    -------
    str

    Examples
    --------
    >>> graph_svg(DAG.from_modelstring("[A][B|A]"))[:4]
    '<svg'
    """
    labels = [_label(name) for name in dag.names]
    widths = [max(40.0, 0.62 * FONT_SIZE * len(label) + 16.0) for label in labels]
    c = dag.names.index(class_name) if class_name in dag.names else None
    is_hub = c is not None and dag.n_vars > 2 and all(c in listed for v, listed in enumerate(dag.parents) if v != c)
    layout = layered_layout(dag.parents, widths, hub=c if is_hub else None)
    left = min((x - w / 2 for (x, _), w in zip(layout.centres, widths, strict=True)), default=0.0) - MARGIN
    right = max((x + w / 2 for (x, _), w in zip(layout.centres, widths, strict=True)), default=0.0) + MARGIN
    top = max((y for _, y in layout.centres), default=0.0) + BOX_HEIGHT / 2 + MARGIN
    bottom = min((y for _, y in layout.centres), default=0.0) - BOX_HEIGHT / 2 - MARGIN

    def place(point: Point) -> str:
        return f"{point[0] - left:.1f} {top - point[1]:.1f}"

    arrow = f"exactbnc-arrow-{dag.n_vars}-{dag.n_arcs}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right - left:.0f} {top - bottom:.0f}" '
        f'width="{right - left:.0f}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="Graph of {dag.n_vars} variables and {dag.n_arcs} arcs" font-family="sans-serif" '
        f'font-size="{FONT_SIZE:g}">',
        _HEAD.format(id=arrow),
    ]
    for (parent, _), points in layout.routes.items():
        faint = ' opacity="0.35"' if is_hub and parent == c else ""
        line = f"M{place(points[0])}" + "".join(f"L{place(point)}" for point in points[1:])
        parts.append(f'<path d="{line}" fill="none" stroke="currentColor"{faint} marker-end="url(#{arrow})"/>')
    for v, ((x, y), width) in enumerate(zip(layout.centres, widths, strict=True)):
        corner = place((x - width / 2, y + BOX_HEIGHT / 2)).split()
        fill = "#f3c26b" if v == c else "#dfe8f5"
        parts.append(
            f'<g><title>{escape(dag.names[v])}</title><rect x="{corner[0]}" y="{corner[1]}" width="{width:.1f}" '
            f'height="{BOX_HEIGHT:g}" rx="6" fill="{fill}" stroke="#5a6b85"/><text x="{x - left:.1f}" '
            f'y="{top - y + FONT_SIZE / 3:.1f}" text-anchor="middle" fill="#1b2430">{escape(labels[v])}</text></g>'
        )
    return "".join(parts) + "</svg>"


def _label(name: str) -> str:
    """The name on one line, its middle left out where it is long."""
    shown = " ".join(name.split())
    half = LONGEST_LABEL // 2
    return shown if len(shown) <= LONGEST_LABEL else f"{shown[:half]}…{shown[-half:]}"
