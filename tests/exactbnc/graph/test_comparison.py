import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.comparison import Comparison, compare
from exactbnc.graph.dag import DAG
from scorecache.errors import ParameterError
from tests.exactbnc.formats.strategies import dags
from tests.strategies import examples

NAMES = ("A", "B", "C", "D", "E")


@given(dags(names=NAMES), dags(names=NAMES))
@examples(80)
def test_the_differences_lead_from_the_first_to_the_second(first, second):
    found = compare(first, second)

    turned = {arc[::-1] for arc in found.reversed}
    assert (set(first.arcs) - set(found.removed) - turned) | {*found.added, *found.reversed} == set(second.arcs)
    assert found.shd == len({frozenset(arc) for arc in set(first.arcs) ^ set(second.arcs)})


@given(dags(names=NAMES), dags(names=NAMES), st.permutations(NAMES))
@examples(40)
def test_the_distances_are_symmetric_and_blind_to_the_order_of_variables(first, second, order):
    reordered = DAG.from_arcs(order, second.arcs)

    there, back, other = compare(first, second), compare(second, first), compare(first, reordered)

    assert there.shd == back.shd == other.shd
    assert there.cpdag_shd == back.cpdag_shd == other.cpdag_shd
    assert compare(second, reordered) == Comparison((), (), (), 0)


def test_equivalent_networks_differ_only_as_dags():
    found = compare(DAG.from_modelstring("[A][B|A][C|B]"), DAG.from_modelstring("[C][B|C][A|B]"))

    assert found == Comparison(added=(), removed=(), reversed=(("C", "B"), ("B", "A")), cpdag_shd=0)
    assert found.shd == 2
    assert found.is_equivalent


def test_a_lost_edge_that_was_undirected_counts_between_essential_graphs():
    found = compare(DAG.from_modelstring("[A][B|A]"), DAG.from_modelstring("[A][B]"))

    assert found == Comparison(added=(), removed=(("A", "B"),), reversed=(), cpdag_shd=1)


def test_an_immorality_directs_both_its_arcs():
    found = compare(DAG.from_modelstring("[A][C|A][B|C]"), DAG.from_modelstring("[A][B][C|A:B]"))

    assert (found.shd, found.cpdag_shd) == (1, 2)


def test_different_variables_are_named():
    with pytest.raises(ParameterError) as caught:
        compare(DAG.from_modelstring("[A][B][D]"), DAG.from_modelstring("[A][C]"))
    assert str(caught.value) == (
        "two networks must have the same variables to be compared: only the first has B, D; only the second has C"
    )
