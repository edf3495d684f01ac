"""A graph given in one of the ways that people write one: as a DAG, of networkx, as a model string, as arcs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from exactbnc.graph.dag import DAG
from scorecache.errors import ParameterError


def as_dag(graph: Any, names: Sequence[str] | None = None) -> DAG:
    """The DAG of anything that describes one.

    Parameters
    ----------
    graph : DAG, BayesNet, networkx.DiGraph, str or iterable of pairs
        A text is a model string; pairs are (parent, child).
    names : sequence of str, optional
        The variables, for a list of arcs; by default those that it names.

    Returns
    -------
    DAG

    Raises
    ------
    ParameterError
        If it is none of these, or has a cycle.

    Examples
    --------
    >>> as_dag([("a", "c"), ("b", "c")]).modelstring
    '[a][b][c|a:b]'
    >>> as_dag("[a][b|a]").arcs
    (('a', 'b'),)
    """
    if isinstance(graph, DAG):
        return graph
    if isinstance(getattr(graph, "dag", None), DAG):  # a network with tables, a solution
        return graph.dag  # type: ignore[no-any-return]
    if isinstance(graph, str):
        return DAG.from_modelstring(graph)
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        if not graph.is_directed():
            raise ParameterError("a network needs a directed graph (networkx.DiGraph). Got an undirected one instead.")
        return DAG.from_arcs(map(str, graph.nodes), [(str(a), str(b)) for a, b in graph.edges()])
    arcs = _arcs(graph)
    mentioned = dict.fromkeys(name for arc in arcs for name in arc)
    return DAG.from_arcs(mentioned if names is None else names, arcs)


def _arcs(graph: Any) -> list[tuple[str, str]]:
    """The pairs of an iterable of pairs."""
    listed = list(graph) if isinstance(graph, Iterable) else None
    if listed is None or not all(isinstance(arc, list | tuple) and len(arc) == 2 for arc in listed):
        raise ParameterError(
            "a graph is a DAG, a BayesNet, a networkx.DiGraph, a model string such as '[a][b|a]', or a list of "
            f"(parent, child) pairs. Got {graph!r:.80} instead."
        )
    return [(str(parent), str(child)) for parent, child in listed]
