"""MMPC, HITON-PC and PCMB: each the literal steps of its paper, and what it finds when its tests know the network."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection._search import Separation
from exactbnc.learning.selection.hiton_pc import HITONPC
from exactbnc.learning.selection.mmpc import MMPC, candidates
from exactbnc.learning.selection.pcmb import PCMB
from exactbnc.network.sampling import sample
from tests.exactbnc.learning.selection.networks import (
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


def literal_mmpc(tests, target):
    """Both phases of the paper, every association computed anew; before the symmetry correction."""
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


def literal_get_pcd(tests, target):
    """The three steps of the paper's GetPCD, every dependence computed anew; before the symmetry correction."""
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


LITERAL = {MMPC: (literal_mmpc, True), HITONPC: (literal_hiton_pc, False), PCMB: (literal_get_pcd, True)}
"""Each search with its literal twin, and whether it keeps only what has the target among its own."""

EXACT = [search for search, (_, is_symmetric) in LITERAL.items() if is_symmetric]
every_search = pytest.mark.parametrize("search", LITERAL)
every_exact_search = pytest.mark.parametrize("search", EXACT)


def names_of(dag, found):
    return tuple(dag.names[x] for x in sorted(found))


@every_search
@given(n_vars=st.integers(2, 6), seed=st.integers(0, 10**6))
@examples(100)
def test_the_steps_are_those_of_the_paper(search, n_vars, seed):
    tests = ChanceTests(n_vars, seed)
    literal, is_symmetric = LITERAL[search]
    expected = [literal(tests, v) for v in range(n_vars)]

    for v in range(n_vars):
        found = search().neighbours(Separation(tests, 0.05, None), v)
        assert found == [x for x in expected[v] if not is_symmetric or v in expected[x]]


@every_exact_search
@given(dag=dags(max_vars=6), seed=st.integers(0, 3))
@examples(80)
def test_with_perfect_tests_a_symmetric_search_is_exact(search, dag, seed):
    """Tsamardinos et al. and Peña et al. prove it for faithful networks, whatever the sizes of the associations."""
    separation = perfect_separation(dag, seed)

    assert {v: names_of(dag, search().neighbours(separation, i)) for i, v in enumerate(dag.names)} == neighbours_of(dag)


@given(dags(), st.integers(0, 3))
@examples(80)
def test_with_perfect_tests_hiton_pc_takes_only_descendants_besides(dag, seed):
    """Parents and children are never separated; others are given the parents, unless they are descendants."""
    separation = perfect_separation(dag, seed)

    for v, near in enumerate(neighbours_of(dag).values()):
        found = HITONPC().neighbours(separation, v)

        assert {dag.names[x] for x in found} >= set(near)
        assert all(v in dag.ancestors(x) for x in found if dag.names[x] not in near)
        assert not any(separation.is_separated(x, v, found) for x in found)


@given(dags(max_vars=6), st.integers(0, 3))
@examples(80)
def test_with_perfect_tests_the_blanket_of_pcmb_is_exact(dag, seed):
    separation = perfect_separation(dag, seed)

    assert {v: names_of(dag, PCMB().blanket(separation, i)) for i, v in enumerate(dag.names)} == blankets_of(dag)


@pytest.mark.parametrize("seed", range(2))
@every_search
def test_in_asia_every_neighbour_is_found_in_data(search, seed):
    """{either, bronc} separates tub and dysp, but bronc is independent of tub: HITON-PC never takes it in."""
    net = strong_net(ASIA)
    besides = {} if search in EXACT else {"tub": ("asia", "either", "dysp")}

    found = search(level=0.001).all_parents_and_children(sample(net, 20_000, seed=seed))

    assert found == neighbours_of(net.dag) | besides


@every_exact_search
def test_only_the_symmetry_correction_removes_a_hidden_descendant(search):
    dag = DAG.from_modelstring(HIDDEN_DESCENDANT)
    separation, t = perfect_separation(dag, 0), dag.names.index("T")

    assert names_of(dag, search().neighbours(separation, t)) == ("A",)
    assert names_of(dag, candidates(separation, t)) == ("A", "D")
    assert names_of(dag, HITONPC().neighbours(separation, t)) == ("A", "D")


def test_the_backward_phase_of_mmpc_removes_what_came_too_early():
    """A separates B and C from T; by chance they come before it, and leave when it is there."""
    dag = DAG.from_modelstring("[T][A|T][B|A][C|A]")

    assert {tuple(candidates(perfect_separation(dag, seed), 0)) for seed in range(20)} == {(1,)}


def test_the_markov_blanket_of_every_variable_is_found_in_data():
    net = strong_net(ASIA)
    data = sample(net, 20_000, seed=0)

    assert {v: PCMB(level=0.001).markov_blanket(data, v) for v in net.names} == blankets_of(net.dag)


@pytest.mark.parametrize("modelstring", [HIDDEN_DESCENDANT, "[T][S][A|S:T][D|A:S][Y|D:T]"])
def test_a_spouse_is_found_that_only_its_own_side_separates(modelstring):
    """D is a hidden descendant of T; in the second network also a spouse of T."""
    dag = DAG.from_modelstring(modelstring)

    assert names_of(dag, PCMB().blanket(perfect_separation(dag, 0), dag.names.index("T"))) == blankets_of(dag)["T"]
