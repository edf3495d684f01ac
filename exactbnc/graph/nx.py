"""A network as a networkx graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactbnc.graph.dag import DAG

if TYPE_CHECKING:
    import networkx


def to_networkx(dag: DAG, class_name: str | None = None, **facts: Any) -> networkx.DiGraph:
    """Convert a network to networkx.

    Parameters
    ----------
    dag : DAG
    class_name : str, optional
    **facts
        Numbers and texts that become graph attributes, except those that are None.

    Returns
    -------
    networkx.DiGraph
        Its nodes are the names; the node attribute `class` is True for the class.

    Examples
    --------
    >>> list(to_networkx(DAG.from_modelstring("[A][B|A]")).edges)
    [('A', 'B')]
    """
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from((name, {"class": name == class_name}) for name in dag.names)
    graph.add_edges_from(dag.arcs)
    known = {"class": class_name, **facts}
    graph.graph.update((key, value) for key, value in known.items() if value is not None)
    return graph
