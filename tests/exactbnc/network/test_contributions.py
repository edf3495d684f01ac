"""The terms of a prediction: they add up to the posterior, and to the log-odds of two classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.contributions import UNKNOWN_TERM, contributions
from scorecache.errors import ParameterError
from tests.exactbnc.network.bayesnet_strategies import bayesnets
from tests.exactbnc.network.test_posterior import dense_net, partial_rows
from tests.strategies import examples

seeds = st.integers(0, 2**32 - 1)


@given(bayesnets(), seeds, st.sampled_from([0.0, 0.5]))
@examples(60)
def test_terms_less_their_normaliser_are_the_log_posterior(net, seed, unknown):
    codes = partial_rows(net, seed, unknown=unknown)
    for name in net.names:
        found = contributions(net, name, codes)

        assert np.array_equal(found.log_posterior, net.log_posterior(codes, name))
        total = found.values.sum(axis=1)
        possible = np.isfinite(total.max(axis=1))
        expected = total[possible] - logsumexp(total[possible], axis=1, keepdims=True)
        np.testing.assert_allclose(found.log_posterior[possible], expected, rtol=1e-10, atol=1e-10)


@given(bayesnets(), seeds)
@examples(40)
def test_each_term_is_the_entry_of_its_family(net, seed):
    codes = partial_rows(net, seed, unknown=0.3)
    target = net.n_vars - 1
    children = [v for v, parents in enumerate(net.dag.parents) if target in parents]

    found = contributions(net, net.names[target], codes)

    assert found.class_name == net.names[target]
    assert found.classes == net.states[target]
    assert found.terms == (net.names[target], *(net.names[v] for v in children), UNKNOWN_TERM)
    assert found.values.shape == (codes.shape[1], len(children) + 2, net.arities[target])
    for row, values in zip(codes.T.tolist(), found.values, strict=True):
        for v, said in zip((target, *children), values, strict=False):
            members = (*net.dag.parents[v], v)
            at = tuple(slice(None) if u == target else row[u] for u in members)
            with np.errstate(divide="ignore"):
                own = np.zeros(len(said)) if UNKNOWN in at else np.log(net.tables[v][at])
            assert np.array_equal(said, own)
        is_known = all(code != UNKNOWN for v, code in enumerate(row) if v != target)
        assert not (is_known and values[-1].any())


def test_what_is_summed_out_by_hand():
    """x has the class and z for parents, and z is unknown: sum_z P(z | c) P(x = 1 | c, z)."""
    dag = DAG.from_arcs("czx", ["cz", "cx", "zx"])
    of_x = np.array([[[0.5, 0.5], [0.2, 0.8]], [[0.9, 0.1], [0.6, 0.4]]])
    net = BayesNet(dag, ((0, 1),) * 3, (np.array([0.3, 0.7]), np.array([[0.1, 0.9], [0.4, 0.6]]), of_x))

    found = contributions(net, "c", np.array([[0], [UNKNOWN], [1]], dtype=np.uint16))

    assert found.terms == ("c", "z", "x", UNKNOWN_TERM)
    together = np.log([0.1 * 0.5 + 0.9 * 0.8, 0.4 * 0.1 + 0.6 * 0.4])
    assert found.values[0] == pytest.approx(np.array([np.log([0.3, 0.7]), [0, 0], [0, 0], together]))


@given(seeds, st.sampled_from([0.0, 0.4]))
@examples(20)
def test_log_odds_add_up_to_the_difference_of_the_log_posteriors(seed, unknown):
    net = dense_net(5, 2, seed, arity=3)
    codes = partial_rows(net, seed, unknown=unknown)

    found = contributions(net, "v1", codes)

    for a, b in ((0, 1), (2, 0)):
        odds = found.log_odds(a, b)
        assert odds.sum(axis=1) == pytest.approx(found.log_posterior[:, a] - found.log_posterior[:, b], abs=1e-10)
        assert np.array_equal(odds, -found.log_odds(b, a))
    assert not found.log_odds(1, 1).any()


def test_log_odds_of_what_both_classes_exclude_are_even_and_of_one_infinite():
    dag = DAG.from_arcs("cx", ["cx"])
    tables = (np.ones(3) / 3, np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]))
    net = BayesNet(dag, (("a", "b", "d"), (0, 1)), tables)

    found = contributions(net, "c", np.array([[0], [1]], dtype=np.uint16))

    assert found.log_odds("a", "b").tolist() == [[0, 0, 0]]
    assert found.log_odds("d", "a")[0, 1] == np.inf == -found.log_odds("a", "d")[0, 1]
    with pytest.raises(ParameterError, match="'z' is not a class; classes are 'a', 'b', 'd'"):
        found.log_odds("a", "z")


def test_the_runner_up_is_the_second_most_probable_class_and_ties_keep_their_order():
    net = BayesNet(DAG.of("c", [[]]), (("a", "b", "d"),), (np.array([0.3, 0.4, 0.3]),))

    found = contributions(net, "c", np.zeros((1, 1), dtype=np.uint16))

    assert found.runner_up(0) == ("b", "a")
