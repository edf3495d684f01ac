"""A network as a networkx graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactbnc.dag import DAG
from exactbnc.solution import Solution

if TYPE_CHECKING:
    import networkx


def to_networkx(dag: DAG, solution: Solution | None = None) -> networkx.DiGraph:
    """A DiGraph whose nodes are the names; node attribute `class` says whether it is the class.

    Graph attributes, where known: `class`, `score`, `bound`, `status`. They are plain numbers and texts, which every
    writer of networkx takes.
    """
    import networkx

    graph = networkx.DiGraph()
    class_name = None if solution is None else solution.class_name
    graph.add_nodes_from((name, {"class": name == class_name}) for name in dag.names)
    graph.add_edges_from(dag.arcs)
    if solution is not None:
        facts = {
            "class": class_name,
            "score": solution.score,
            "bound": solution.bound,
            "status": solution.status.value,
        }
        graph.graph.update((key, value) for key, value in facts.items() if value is not None)
    return graph
