"""Islands of unknown values, and sums over them, against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network import elimination
from exactbnc.network.codes import UNKNOWN, Rows
from exactbnc.network.elimination import islands_of, log_sum_exp, row_chunks, sum_out
from scorecache.errors import MemoryLimitError
from tests.exactbnc.network.bayesnet_strategies import bayesnets, random_tables
from tests.exactbnc.network.test_posterior import dense_net, partial_rows
from tests.strategies import examples


def literal_islands(net, unknown, target):
    """Drop unknown sinks while there are any, then join what shares a family of those that are left."""
    dag = net.dag
    left = set(range(net.n_vars))
    while barren := {v for v in left & unknown if not any(v in dag.parents[w] for w in left)}:
        left -= barren
    families = {v: {v, *dag.parents[v]} for v in left}
    islands = [{v} for v in left & unknown]
    for own in families.values():
        joined = [island for island in islands if island & own]
        islands = [island for island in islands if not island & own] + ([set().union(*joined)] if joined else [])
    touching = [(island, {v for v, own in families.items() if own & island}) for island in islands]
    return {
        (frozenset(island), frozenset(children))
        for island, children in touching
        if target is None or any(target in families[v] for v in children)
    }


def test_islands_are_what_shares_families_beside_barren_variables():
    random, n, n_untied = np.random.default_rng(0), 7, 0
    for _ in range(300):
        arcs = np.triu(random.random((n, n)) < 0.25, 1)
        dag = DAG.of("abcdefg", [np.flatnonzero(arcs[:, v]).tolist() for v in range(n)])
        net = random_tables(dag, [(0,)] * n, 0)
        target = None if random.random() < 0.2 else int(random.integers(n))
        unknown = frozenset(np.flatnonzero(random.random(n) < 0.5).tolist()) - {target}

        found = islands_of(net, unknown, target)

        assert len(found) == len(set(found))
        assert set(found) == literal_islands(net, unknown, target)
        n_untied += len(found) < len(islands_of(net, unknown, None))
    assert n_untied > 10


def test_islands_of_a_chain_by_hand():
    net = dense_net(6, 1, seed=0)

    assert islands_of(net, frozenset([0, 2, 5]), None) == [
        (frozenset([0]), frozenset([0, 1])),
        (frozenset([2]), frozenset([2, 3])),
    ]
    assert islands_of(net, frozenset([0, 2, 5]), 3) == [(frozenset([2]), frozenset([2, 3]))]
    assert islands_of(net, frozenset([1, 2, 4]), 0) == [(frozenset([1, 2]), frozenset([1, 2, 3]))]


@given(bayesnets(), st.integers(0, 2**32 - 1), st.data())
@examples(80)
def test_summing_out_adds_up_the_products_of_the_families(net, seed, data):
    keep = data.draw(st.lists(st.sampled_from(range(net.n_vars)), unique=True, max_size=2))
    variables = data.draw(st.frozensets(st.sampled_from(range(net.n_vars)))) - set(keep)
    children = {v for v, ps in enumerate(net.dag.parents) if not variables.isdisjoint((*ps, v))}
    codes = partial_rows(net, seed, n_rows=3, unknown=0.0)

    found = sum_out(net, Rows(codes), variables, children, keep)

    expected = np.zeros((3, *net.arities[keep]))
    for row in range(3):
        for values in itertools.product(*(range(net.arities[v]) for v in (*keep, *variables))):
            full = codes[:, row].tolist()
            for v, value in zip((*keep, *variables), values, strict=True):
                full[v] = value
            cells = [net.tables[v][tuple(full[u] for u in (*net.dag.parents[v], v))] for v in children]
            expected[(row, *values[: len(keep)])] += np.prod(cells)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-10, atol=1e-300)


def test_pieces_of_the_rows_give_what_all_rows_give(monkeypatch):
    net = dense_net(6, 2, seed=8)
    codes = partial_rows(net, 1, n_rows=100)
    whole, joint = net.log_posterior(codes, "v2"), net.log_probability(codes)

    monkeypatch.setattr(elimination, "MOST_CELLS", 40)

    np.testing.assert_allclose(net.log_posterior(codes, "v2"), whole, rtol=1e-13)
    np.testing.assert_allclose(net.log_probability(codes), joint, rtol=1e-13)


def test_pieces_have_as_many_rows_as_the_largest_table_allows(monkeypatch):
    """Eliminating one of the three variables of v2's family makes a table of eight cells."""
    net = dense_net(3, 2, seed=0)
    monkeypatch.setattr(elimination, "MOST_CELLS", 35)

    assert row_chunks(net, [0, 1], [0, 1, 2], [2], 9) == [slice(0, 4), slice(4, 8), slice(8, 12)]

    monkeypatch.setattr(elimination, "MOST_CELLS", 7)
    with pytest.raises(MemoryLimitError, match="summing out 2 unknown values needs a table of 8 cells, more than 7"):
        row_chunks(net, [0, 1], [0, 1, 2], [2], 9)


def test_rows_without_an_island_are_left_alone():
    net = random_tables(dense_net(3, 1, seed=0).dag, [(0, 1)] * 3, 1)
    sums = np.full((2, 2), 7.0)
    codes = np.array([[0, UNKNOWN], [1, 1], [UNKNOWN, 0]], dtype=np.uint16)

    elimination.add_islands(net, Rows(codes), 1, sums)

    assert sums[0].tolist() == [7.0, 7.0]  # v2 is barren
    assert sums[1] != pytest.approx([7.0, 7.0])


@given(st.lists(st.floats(-1e3, 1e3) | st.just(-np.inf), min_size=1, max_size=5))
def test_log_sum_exp_is_exact_up_to_rounding_and_minus_infinity_of_nothing(values):
    found = log_sum_exp(np.array([values]), 1)

    largest = max(values)
    if largest == -np.inf:
        assert found[0] == -np.inf
    else:
        assert found[0] == pytest.approx(largest + np.log(sum(np.exp(v - largest) for v in values)))
