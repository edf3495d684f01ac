"""A graph in any of the ways that people write one."""

import networkx as nx
import pytest

from exactbnc.graph.dag import DAG, CycleError
from exactbnc.graph.given import as_dag
from scorecache.errors import ParameterError

DAG_OF_3 = DAG.from_modelstring("[a][b|a][c|a:b]")


@pytest.mark.parametrize(
    "graph",
    [
        DAG_OF_3,
        "[a][b|a][c|a:b]",
        DAG_OF_3.to_networkx(),
        [("a", "b"), ("a", "c"), ("b", "c")],
        (["a", "b"], ["a", "c"], ["b", "c"]),
    ],
    ids=["DAG", "model string", "networkx", "pairs", "lists"],
)
def test_all_ways_give_the_same_graph(graph):
    assert as_dag(graph, DAG_OF_3.names) == DAG_OF_3


def test_arcs_name_their_variables_unless_told():
    assert as_dag([("b", "a")]).names == ("b", "a")
    assert as_dag([("b", "a")], ["a", "b", "c"]).names == ("a", "b", "c")


@pytest.mark.parametrize("graph", [3, None, ["abc"], [("a", "b", "c")], {"a": 1}])
def test_what_is_no_graph_is_answered_with_what_is_one(graph):
    with pytest.raises(ParameterError, match=r"a graph is a DAG, a BayesNet, a networkx.DiGraph, a model string"):
        as_dag(graph)


def test_undirected_and_cyclic_graphs_are_refused():
    with pytest.raises(ParameterError, match="needs a directed graph"):
        as_dag(nx.Graph([("a", "b")]))
    with pytest.raises(CycleError):
        as_dag(nx.DiGraph([("a", "b"), ("b", "a")]))
