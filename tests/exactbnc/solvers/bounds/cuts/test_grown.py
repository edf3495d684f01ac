"""Separation of k-cluster inequalities against all clusters and all networks."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.solvers.bounds.cuts.cluster import MIN_VIOLATION
from exactbnc.solvers.bounds.cuts.grown import grown_clusters
from tests.exactbnc.solvers.bounds.cuts.test_cluster import point_of, points
from tests.strategies import examples

KS = st.sampled_from([1, 2])


def unhit_mass(point, cluster, k):
    """sum over v in C and W with |W n C| < k of x(v, W)"""
    return sum(
        point.value[f]
        for f in range(len(point.child))
        if point.child[f] in cluster
        and len(cluster & set(point.members[point.start[f] : point.start[f + 1]].tolist())) < k
    )


def as_sets(clusters):
    return [set(np.flatnonzero(cluster).tolist()) for cluster in clusters]


@examples(200)
@given(points(), KS)
def test_clusters_are_distinct_and_violated_by_what_is_said(point, k):
    clusters, violation = grown_clusters(point, k)

    assert len({cluster.tobytes() for cluster in clusters}) == len(clusters)
    for cluster, amount in zip(as_sets(clusters), violation, strict=True):
        assert len(cluster) > k
        assert amount >= MIN_VIOLATION
        assert unhit_mass(point, cluster, k) == pytest.approx(k - amount)


@examples(200)
@given(points(max_vars=6), KS, st.integers(0, 2**32 - 1))
def test_no_network_violates_a_cluster(point, k, seed):
    random = np.random.default_rng(seed)
    clusters, _ = grown_clusters(point, k)

    for _ in range(20):
        order = random.permutation(point.n_vars).tolist()
        parents = {v: {u for u in order[:i] if random.random() < 0.7} for i, v in enumerate(order)}
        assert all(sum(len(parents[v] & cluster) < k for v in cluster) >= k for cluster in as_sets(clusters))


@examples(100)
@given(points(max_vars=3))
def test_a_violated_triple_is_found(point):
    triples = [set(c) for c in combinations(range(point.n_vars), 3)]
    expected = [c for c in triples if unhit_mass(point, c, 2) < 2 - MIN_VIOLATION]

    clusters, _ = grown_clusters(point, 2)

    assert as_sets(clusters) == expected


def test_two_parents_for_each_of_three_violate_the_two_cluster():
    # half of each pair of parents and half of nothing: k = 1 holds with 3/2, k = 2 fails with 3/2
    child, value = [0, 0, 1, 1, 2, 2], [0.5] * 6
    point = point_of(3, child, value, [[1, 2], [], [0, 2], [], [0, 1], []])

    clusters, violation = grown_clusters(point, 2)

    assert as_sets(clusters) == [{0, 1, 2}]
    assert violation == pytest.approx([0.5])
    assert not len(grown_clusters(point, 1)[0])


def test_an_empty_support_violates_nothing():
    clusters, violation = grown_clusters(point_of(3, [0, 1, 2], [1.0] * 3, [[], [], []]), 2)

    assert clusters.shape == (0, 3)
    assert not len(violation)


def test_more_than_64_variables():
    parents = [[] for _ in range(130)]
    for v, others in ((66, [100, 129]), (100, [66, 129]), (129, [66, 100])):
        parents[v] = others
    point = point_of(130, range(130), np.ones(130), parents)

    clusters, _ = grown_clusters(point, 2)

    assert as_sets(clusters) == [{66, 100, 129}]
