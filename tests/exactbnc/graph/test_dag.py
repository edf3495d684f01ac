from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG, CycleError, find_cycle, topological_order
from scorecache.errors import ParameterError
from tests.exactbnc.formats.strategies import dags
from tests.exactbnc.random_problems import is_acyclic
from tests.strategies import examples

LETTERS = list("ABCDEF")


def letter_dags():
    return st.integers(1, 6).flatmap(lambda n: dags(names=LETTERS[:n]))


def reaches(dag, source, target):
    """Literally: is there an arc, or an arc to something that reaches the target?"""
    children = [v for v in range(dag.n_vars) if source in dag.parents[v]]
    return target in children or any(reaches(dag, child, target) for child in children)


@pytest.mark.parametrize(
    ("names", "parents", "message"),
    [
        (("A", "A"), ((), ()), "variable names must be different from each other"),
        (("A", "B"), ((),), "2 variables need 2 parent sets"),
        (("A", "B"), ((1,), (0,)), "a network has no directed cycle. Got A -> B -> A instead."),
        (("A",), ((0,),), "a network has no directed cycle. Got A -> A instead."),
        (("A", "B"), ((2,), ()), "the parents of A must be ascending indices. Got (2,) instead."),
        (("A", "B"), ((-1,), ()), "the parents of A must be ascending indices. Got (-1,) instead."),
        (("A", "B", "C"), ((), (), (1, 0)), "the parents of C must be ascending indices. Got (1, 0) instead."),
        (("A", "B"), ((), (0, 0)), "the parents of B must be ascending indices. Got (0, 0) instead."),
    ],
)
def test_what_is_no_network_is_refused(names, parents, message):
    with pytest.raises(ParameterError) as caught:
        DAG(names, parents)

    assert str(caught.value) == message


def test_parents_in_any_order_are_sorted():
    assert DAG.of(["A", "B", "C"], [[], [], [1, 0, 1]]) == DAG(("A", "B", "C"), ((), (), (0, 1)))


def test_an_arc_to_a_stranger_is_named():
    with pytest.raises(ParameterError, match=r"^the arc A -> X names 'X', which is not a variable$"):
        DAG.from_arcs(["A", "B"], [("A", "X")])


def test_a_cycle_of_arcs_is_named():
    with pytest.raises(CycleError, match=r"Got B -> D -> C -> B instead"):
        DAG.from_arcs("ABCD", [("A", "B"), ("B", "D"), ("D", "C"), ("C", "B")])


@given(letter_dags())
def test_arcs_round_trip(dag):
    assert DAG.from_arcs(dag.names, dag.arcs) == dag
    assert len(dag.arcs) == dag.n_arcs


@given(letter_dags())
def test_modelstring_round_trips(dag):
    assert DAG.from_modelstring(dag.modelstring, dag.names) == dag
    assert set(DAG.from_modelstring(dag.modelstring).arcs) == set(dag.arcs)


def test_modelstring_of_a_collider():
    assert DAG.from_arcs("ABC", [("A", "B"), ("C", "B")]).modelstring == "[A][C][B|A:C]"


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        ("A -> B", None, "a model string looks like [A][B|A][C|A:B]. Got 'A -> B' instead."),
        ("", None, "a model string looks like [A][B|A][C|A:B]. Got '' instead."),
        ("[A", None, "a model string looks like [A][B|A][C|A:B]. Got '[A' instead."),
        ("[A][B|]", None, "a model string looks like [A][B|A][C|A:B]. Got '[A][B|]' instead."),
        ("[A][A]", None, "a model string names every variable once. Got 'A' twice."),
        ("[A][B|C]", None, "the arc C -> B names 'C', which is not a variable"),
        ("[A][C]", ("A", "B"), "a model string must name every variable and no other; it differs in B, C"),
        ("[A|B][B|A]", None, "a network has no directed cycle. Got A -> B -> A instead."),
    ],
)
def test_faulty_model_strings(text, names, message):
    with pytest.raises(ParameterError) as caught:
        DAG.from_modelstring(text, names)

    assert str(caught.value) == message


@given(letter_dags())
def test_order_puts_parents_before_children(dag):
    place = {v: position for position, v in enumerate(dag.order)}

    assert sorted(dag.order) == list(range(dag.n_vars))
    assert all(place[parent] < place[child] for child in place for parent in dag.parents[child])


@given(letter_dags())
def test_ancestors_are_those_that_reach(dag):
    for v in range(dag.n_vars):
        assert dag.ancestors(v) == {u for u in range(dag.n_vars) if reaches(dag, u, v)}


@given(letter_dags())
def test_immoralities_are_unmarried_parents(dag):
    arcs = {(parent, child) for child, listed in enumerate(dag.parents) for parent in listed}
    expected = {
        (a, child, b)
        for a, b in combinations(range(dag.n_vars), 2)
        for child in range(dag.n_vars)
        if {(a, child), (b, child)} <= arcs and not {(a, b), (b, a)} & arcs
    }

    found = list(dag.immoralities())

    assert set(found) == expected
    assert len(found) == len(expected)


@examples(200)
@given(st.lists(st.lists(st.integers(0, 4), max_size=2), min_size=5, max_size=5))
def test_a_cycle_is_found_where_there_is_one(parents):
    cycle = find_cycle(parents)

    assert (cycle is None) == is_acyclic(parents)
    assert (cycle is None) == (len(topological_order(parents)) == 5)
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1 > 0
        assert all(parent in parents[child] for parent, child in pairwise(cycle))


def test_every_pair_of_arcs_on_three_variables():
    arcs = [(a, b) for a, b in product("ABC", repeat=2) if a != b]
    for first, second in combinations(arcs, 2):
        if first == second[::-1]:
            with pytest.raises(CycleError):
                DAG.from_arcs("ABC", [first, second])
        else:
            assert DAG.from_arcs("ABC", [first, second]).n_arcs == 2
