"""A network as an SVG element for a web page or a notebook, drawn without matplotlib."""

from __future__ import annotations

from html import escape

from exactbnc.formats.dot import CLASS_COLOUR
from exactbnc.graph.dag import DAG
from exactbnc.pictures._layout import BOX_HEIGHT
from exactbnc.pictures._sketch import FONT_SIZE, Sketch, sketch, xy

MARGIN = 8.0


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
    drawn = sketch(dag, class_name, margin=MARGIN)
    arcs = sorted(drawn.routes, key=lambda arc: arc[0] != drawn.hub)  # faint ones behind
    parts = [_arc(drawn, arc) for arc in arcs]
    parts += [_node(drawn, v, name) for v, name in enumerate(dag.names)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(f"{side:g}" for side in drawn.view)}" '
        f'width="{drawn.view[2]:.0f}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="Graph of {dag.n_vars} variables and {dag.n_arcs} arcs" font-family="sans-serif" '
        f'font-size="{FONT_SIZE:g}">{"".join(parts)}</svg>'
    )


def _arc(drawn: Sketch, arc: tuple[int, int]) -> str:
    line, head = drawn.path(arc)
    faint = ' opacity="0.35"' if arc[0] == drawn.hub else ""
    return f'<g{faint}><path d="{line}" fill="none" stroke="currentColor"/><path d="{head}" fill="currentColor"/></g>'


def _node(drawn: Sketch, v: int, name: str) -> str:
    width, is_class = drawn.widths[v], v == drawn.class_index
    return (
        f'<g transform="translate({xy(drawn.centres[v])})"><title>{escape(name)}</title>'
        f'<rect x="{-width / 2:g}" y="{-BOX_HEIGHT / 2:g}" width="{width:g}" height="{BOX_HEIGHT:g}" rx="6" '
        f'fill="{CLASS_COLOUR if is_class else "#dfe8f5"}" stroke="#5a6b85"/>'
        f'<text text-anchor="middle" dy="0.35em" fill="#1b2430">{escape(drawn.labels[v])}</text></g>'
    )
