from exactbnc.graph.nx import to_networkx
from tests.exactbnc.formats.strategies import CLASSIFIER, COLLIDER, solution_of


def test_a_network_alone_has_nodes_and_arcs():
    graph = to_networkx(COLLIDER)

    assert list(graph.nodes(data="class")) == [("A", False), ("B", False), ("C", False)]
    assert list(graph.edges) == [("A", "C"), ("B", "C")]
    assert graph.graph == {}


def test_a_solution_adds_its_facts():
    graph = solution_of(CLASSIFIER, class_name="class").to_networkx()

    assert graph.nodes["class"]["class"] is True
    assert graph.nodes["x"]["class"] is False
    assert graph.graph == {"class": "class", "score": -26.875, "bound": -26.0, "status": "feasible"}
    assert type(graph.graph["status"]) is str
