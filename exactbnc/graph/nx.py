"""A network as a networkx graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactbnc.graph.dag import DAG

if TYPE_CHECKING:
    import networkx


def to_networkx(dag: DAG, class_name: str | None = None, **facts: Any) -> networkx.DiGraph:
    """A DiGraph whose nodes are the names; node attribute `class` says whether it is the class.

    The class and the facts, where they are not None, become graph attributes: plain numbers and texts, which every
    writer of networkx takes.
    """
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from((name, {"class": name == class_name}) for name in dag.names)
    graph.add_edges_from(dag.arcs)
    known = {"class": class_name, **facts}
    graph.graph.update((key, value) for key, value in known.items() if value is not None)
    return graph
