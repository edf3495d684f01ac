import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection._search import Separation
from exactbnc.learning.selection.hiton_pc import HITONPC
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
    net = strong_net("[A][B|A][C|A][D|B][E|B][F|C][G|D:F]")

    assert HITONPC(level=0.001).all_parents_and_children(net.sample(20_000, seed=seed)) == neighbours_of(net.dag)


@pytest.mark.parametrize("seed", range(3))
def test_in_asia_one_descendant_is_too_many(seed):
    """{either, bronc} separates tub and dysp, but bronc is independent of tub and never comes in."""
    net = strong_net(ASIA)

    found = HITONPC(level=0.001).all_parents_and_children(net.sample(20_000, seed=seed))

    assert found == neighbours_of(net.dag) | {"tub": ("asia", "either", "dysp")}


@given(dags(), st.integers(0, 3))
@examples(80)
def test_with_perfect_tests_only_descendants_are_too_many(dag, seed):
    """Parents and children are never separated; others are given the parents, unless they are descendants."""
    separation = perfect_separation(dag, seed)

    for v, near in enumerate(neighbours_of(dag).values()):
        found = HITONPC().neighbours(separation, v)

        assert {dag.names[x] for x in found} >= set(near)
        assert all(v in dag.ancestors(x) for x in found if dag.names[x] not in near)


@given(dags(max_vars=6), st.integers(0, 3))
@examples(60)
def test_no_set_of_the_others_separates_what_is_left(dag, seed):
    separation = perfect_separation(dag, seed)
    for v in range(dag.n_vars):
        found = HITONPC().neighbours(separation, v)

        assert not any(separation.is_separated(x, v, found) for x in found)


def literal_hiton_pc(tests, target):
    """The module's lines, every set tried at every step; the newest is the first to be asked."""
    assoc = Associations(tests)
    pc, others = [], [x for x in range(tests.n_vars) if x != target]
    for x in sorted(others, key=lambda x: assoc.given(x, target, ()), reverse=True):
        pc.append(x)
        for y in [x, *pc[:-1]]:
            if assoc.least(y, target, pc) == (0, 0):
                pc.remove(y)
    return pc


@given(st.integers(2, 7), st.integers(0, 10**6))
@examples(100)
def test_inclusion_and_elimination_are_those_of_the_paper(n_vars, seed):
    tests = ChanceTests(n_vars, seed)

    for v in range(n_vars):
        assert HITONPC().neighbours(Separation(tests, 0.05, None), v) == literal_hiton_pc(tests, v)


def test_there_is_no_symmetry_correction():
    dag = DAG.from_modelstring(HIDDEN_DESCENDANT)

    found = HITONPC().neighbours(perfect_separation(dag, 0), dag.names.index("T"))

    assert {dag.names[x] for x in found} == {"A", "D"}
