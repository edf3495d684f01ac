import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection._search import Separation
from exactbnc.learning.selection.mmpc import MMPC, candidates
from tests.exactbnc.selection.networks import (
    ASIA,
    HIDDEN_DESCENDANT,
    Associations,
    ChanceTests,
    dags,
    neighbours_of,
    perfect_separation,
    strong_net,
)
from tests.strategies import examples


@pytest.mark.parametrize("seed", range(3))
def test_parents_and_children_of_every_variable_are_found(seed):
    net = strong_net(ASIA)

    assert MMPC(level=0.001).all_parents_and_children(net.sample(20_000, seed=seed)) == neighbours_of(net.dag)


@given(dags(), st.integers(0, 3))
@examples(80)
def test_with_perfect_tests_it_is_exact(dag, seed):
    """Tsamardinos et al. prove it for faithful networks, whatever the sizes of the associations."""
    separation = perfect_separation(dag, seed)

    for v, expected in enumerate(neighbours_of(dag).values()):
        assert tuple(dag.names[x] for x in sorted(MMPC().neighbours(separation, v))) == expected


def literal_candidates(tests, target):
    """The paper's two phases, every association computed anew."""
    assoc = Associations(tests)
    cpc = []
    while True:
        least = {x: assoc.least(x, target, cpc) for x in range(tests.n_vars) if x != target and x not in cpc}
        if not any(value > (0, 0) for value in least.values()):
            break
        cpc.append(max(least, key=least.get))
    for x in list(cpc):
        if assoc.least(x, target, cpc) == (0, 0):
            cpc.remove(x)
    return cpc


@given(st.integers(2, 7), st.integers(0, 10**6))
@examples(100)
def test_both_phases_are_those_of_the_paper(n_vars, seed):
    tests = ChanceTests(n_vars, seed)

    for v in range(n_vars):
        assert candidates(Separation(tests, 0.05, None), v) == literal_candidates(tests, v)


def test_only_the_symmetry_correction_removes_a_hidden_descendant():
    dag = DAG.from_modelstring(HIDDEN_DESCENDANT)
    t, a, d = map(dag.names.index, "TAD")
    separation = perfect_separation(dag, 0)

    assert sorted(candidates(separation, t)) == sorted([a, d])
    assert MMPC().neighbours(separation, t) == [a]


def test_the_backward_phase_removes_what_came_too_early():
    """A separates B and C from T; by chance they come before it, and leave when it is there."""
    dag = DAG.from_modelstring("[T][A|T][B|A][C|A]")

    assert {tuple(candidates(perfect_separation(dag, seed), 0)) for seed in range(20)} == {(1,)}


def test_a_larger_level_never_makes_fewer_univariate_candidates():
    data = strong_net(ASIA).sample(300, seed=1)
    sizes = [
        sum(map(len, MMPC(level=level, max_given=0).all_parents_and_children(data).values()))
        for level in (1e-6, 0.01, 0.05, 0.5)
    ]

    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
