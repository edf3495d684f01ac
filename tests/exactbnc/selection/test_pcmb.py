import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection._search import Separation
from exactbnc.learning.selection.pcmb import PCMB
from tests.exactbnc.selection.networks import (
    ASIA,
    HIDDEN_DESCENDANT,
    Associations,
    ChanceTests,
    blankets_of,
    dags,
    neighbours_of,
    perfect_separation,
    strong_net,
)
from tests.strategies import examples


@pytest.mark.parametrize("seed", range(3))
def test_parents_and_children_of_every_variable_are_found(seed):
    net = strong_net(ASIA)

    assert PCMB(level=0.001).all_parents_and_children(net.sample(20_000, seed=seed)) == neighbours_of(net.dag)


def test_the_markov_blanket_of_every_variable_is_found():
    net = strong_net(ASIA)
    data = net.sample(20_000, seed=0)

    assert {v: PCMB(level=0.001).markov_blanket(data, v) for v in net.names} == blankets_of(net.dag)


@given(dags(max_vars=6), st.integers(0, 3))
@examples(80)
def test_with_perfect_tests_it_is_exact(dag, seed):
    """Peña et al. prove both for faithful networks, whatever the sizes of the associations."""
    separation = perfect_separation(dag, seed)
    near, blankets = list(neighbours_of(dag).values()), list(blankets_of(dag).values())

    for v in range(dag.n_vars):
        assert tuple(dag.names[x] for x in sorted(PCMB().neighbours(separation, v))) == near[v]
        assert tuple(dag.names[x] for x in sorted(PCMB().blanket(separation, v))) == blankets[v]


def literal_get_pcd(tests, target):
    """The paper's three steps, every dependence computed anew."""
    dep = Associations(tests)
    pcd, waiting = [], [x for x in range(tests.n_vars) if x != target]
    while True:
        before = list(pcd)
        waiting = [x for x in waiting if dep.least(x, target, pcd) > (0, 0)]
        if waiting:
            newest = max(waiting, key=lambda x: dep.least(x, target, pcd))
            pcd.append(newest)
            waiting.remove(newest)
        pcd = [x for x in pcd if dep.least(x, target, pcd) > (0, 0)]
        if pcd == before:
            return pcd


@given(st.integers(2, 6), st.integers(0, 10**6))
@examples(100)
def test_the_steps_are_those_of_the_paper(n_vars, seed):
    tests = ChanceTests(n_vars, seed)
    pcd = [literal_get_pcd(tests, v) for v in range(n_vars)]

    for v in range(n_vars):
        assert PCMB().neighbours(Separation(tests, 0.05, None), v) == [x for x in pcd[v] if v in pcd[x]]


def test_a_spouse_is_found_that_only_its_own_side_separates():
    """D is a hidden descendant of T, as above, and with T a parent of Y."""
    dag = DAG.from_modelstring("[T][S][A|S:T][D|A:S][Y|D:T]")

    found = PCMB().blanket(perfect_separation(dag, 0), dag.names.index("T"))

    assert {dag.names[x] for x in found} == {"A", "S", "D", "Y"}


def test_a_hidden_descendant_is_not_a_neighbour_and_its_other_parent_is_a_spouse():
    dag = DAG.from_modelstring(HIDDEN_DESCENDANT)
    data = strong_net(HIDDEN_DESCENDANT).sample(20_000, seed=0)

    assert PCMB(level=0.001).parents_and_children(data, "T") == ("A",)
    assert PCMB(level=0.001).markov_blanket(data, "T") == blankets_of(dag)["T"] == ("S", "A")
