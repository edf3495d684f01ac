"""Tree sums against enumeration of all trees and against determinants of thousands of digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.averaging.tree_sum import (
    bottlenecks,
    edge_probabilities,
    log_excess,
)
from tests.exactbnc.learning.averaging.all_trees import all_trees

DIGITS = 60


@st.composite
def log_weight_matrices(draw, max_vertices=6):
    """Weights that spread over up to 5000 nats, or come in a few far-apart levels, with ties."""
    n = draw(st.integers(1, max_vertices))
    span = draw(st.sampled_from([0.0, 1.0, 100.0, 800.0, 5000.0]))
    level = draw(st.sampled_from([None, 2, 3]))
    offset = draw(st.sampled_from([0.0, -70000.0, 900.0]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    part = random.random((n, n)) if level is None else random.integers(0, level, (n, n)) / (level - 1)
    upper = np.triu(offset - span * part, 1)
    return upper + upper.T


def log_heaviest_tree(log_weights):
    """sum_v m_v."""
    bottleneck = bottlenecks(log_weights)
    return math.fsum(bottleneck[v, v + 1 :].max() for v in range(len(bottleneck) - 1))


def log_tree_sum(log_weights):
    """log Z, put together as its users do."""
    return log_heaviest_tree(log_weights) + log_excess(log_weights)


def tree_weights(log_weights):
    """(tree, weight) in 60 digits; mpmath's exponents have no limit."""
    weight = [[mpmath.exp(mpmath.mpf(float(w))) for w in row] for row in log_weights]
    return [(tree, mpmath.fprod(weight[u][v] for u, v in tree)) for tree in all_trees(len(log_weights))]


def rounding(log_weights):
    """What the eps of the largest log weight can make of a sum over n - 1 of them."""
    return 1e-13 + 8 * len(log_weights) * np.finfo(float).eps * np.abs(log_weights).max()


def test_there_are_as_many_trees_as_cayley_says():
    for n in range(2, 7):
        assert len(set(all_trees(n))) == n ** (n - 2)
        assert log_tree_sum(np.zeros((n, n))) == pytest.approx((n - 2) * math.log(n), abs=1e-14)


@given(log_weight_matrices())
def test_the_sum_is_that_of_all_trees(log_weights):
    with mpmath.workdps(DIGITS):
        weights = [weight for _, weight in tree_weights(log_weights)]
        expected = mpmath.log(mpmath.fsum(weights))
        heaviest = mpmath.log(max(weights))

        assert abs(expected - log_tree_sum(log_weights)) <= rounding(log_weights)
        assert abs(heaviest - log_heaviest_tree(log_weights)) <= rounding(log_weights)
        assert abs(expected - heaviest - log_excess(log_weights)) <= rounding(log_weights)


@given(log_weight_matrices())
def test_edge_probabilities_are_shares_of_all_trees(log_weights):
    n = len(log_weights)
    with mpmath.workdps(DIGITS):
        listed = tree_weights(log_weights)
        total = mpmath.fsum(weight for _, weight in listed)
        expected = np.zeros((n, n))
        for u in range(n):
            for v in range(u + 1, n):
                share = mpmath.fsum(weight for tree, weight in listed if (u, v) in tree) / total
                expected[u, v] = expected[v, u] = float(share)

    found = edge_probabilities(log_weights)

    assert found == pytest.approx(expected, rel=10 * rounding(log_weights), abs=1e-200)


@pytest.mark.parametrize(("n", "span"), [(12, 30), (8, 700), (5, 5000)])
def test_the_sum_is_the_determinant_of_the_laplacian(n, span):
    random = np.random.default_rng(n)
    upper = np.triu(-span * random.random((n, n)), 1)
    log_weights = upper + upper.T
    with mpmath.workdps(DIGITS + 2 * span):  # cancellation takes about span / log(10) digits
        weight = mpmath.matrix(n, n)
        for u in range(n):
            for v in range(n):
                weight[u, v] = 0 if u == v else mpmath.exp(mpmath.mpf(float(log_weights[u, v])))
        laplacian = mpmath.diag([mpmath.fsum(weight[u, v] for v in range(n)) for u in range(n)]) - weight
        expected = mpmath.log(mpmath.det(laplacian[: n - 1, : n - 1]))

        found = log_tree_sum(log_weights)

        assert abs(found - expected) <= 1e-12 * abs(expected)
        assert abs(found - expected) <= 1e-10


def test_many_vertices_far_apart_give_the_sum_of_a_star_and_a_path():
    """Weights of a path so heavy that its tree is the only one that counts, and the other way round for a star."""
    n = 200
    path, star = np.full((n, n), -9000.0), np.full((n, n), -9000.0)
    for v in range(1, n):
        path[v - 1, v] = path[v, v - 1] = -float(v)
        star[0, v] = star[v, 0] = 5.0 * v

    assert log_tree_sum(path) == pytest.approx(-n * (n - 1) / 2, rel=1e-14)
    assert log_tree_sum(star) == pytest.approx(5 * n * (n - 1) / 2, rel=1e-14)
    assert edge_probabilities(path)[np.arange(n - 1), np.arange(1, n)] == pytest.approx(np.ones(n - 1), rel=1e-12)


@given(log_weight_matrices(max_vertices=8))
def test_bottlenecks_are_the_widest_paths(log_weights):
    """Floyd's recursion on max-min instead of min-plus."""
    widest = log_weights.copy()
    np.fill_diagonal(widest, np.inf)
    for k in range(len(widest)):
        widest = np.maximum(widest, np.minimum(widest[:, [k]], widest[[k], :]))

    assert np.array_equal(bottlenecks(log_weights), widest)


@given(log_weight_matrices(max_vertices=12))
def test_the_edges_of_a_tree_are_one_fewer_than_its_vertices(log_weights):
    assert edge_probabilities(log_weights).sum() / 2 == pytest.approx(len(log_weights) - 1, rel=1e-8)
