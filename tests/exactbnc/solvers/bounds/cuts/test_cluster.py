"""Separation of cluster inequalities against all clusters, one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import find_cycle
from exactbnc.solvers.bounds.cuts.cluster import MIN_VIOLATION, Point, cycle_clusters, exact_clusters
from exactbnc.solvers.bounds.cuts.grown import grown_clusters
from tests.strategies import examples


@st.composite
def points(draw, max_vars=7):
    """Fractional points: per variable a few parent sets whose values sum to 1."""
    n_vars = draw(st.integers(2, max_vars))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.2, 0.4, 0.6]))
    child, value, members = [], [], []
    for v in range(n_vars):
        shares = random.dirichlet(np.ones(random.integers(1, 4)))
        for share in shares:
            child.append(v)
            value.append(share)
            members.append([u for u in range(n_vars) if u != v and random.random() < density])
    return point_of(n_vars, child, value, members)


def point_of(n_vars, child, value, members):
    return Point(
        n_vars,
        np.array(child, dtype=np.int64),
        np.array(value, dtype=np.float64),
        np.concatenate([[0], np.cumsum([len(listed) for listed in members])]).astype(np.int64),
        np.array([member for listed in members for member in listed], dtype=np.int64),
    )


def unhit_mass(point, cluster):
    """sum over v in C and W with W n C = {} of x(v, W)"""
    return sum(
        point.value[f]
        for f in range(len(point.child))
        if point.child[f] in cluster and not cluster & set(point.members[point.start[f] : point.start[f + 1]].tolist())
    )


def violated_by_enumeration(point):
    everything = range(point.n_vars)
    clusters = (set(c) for size in range(2, point.n_vars + 1) for c in combinations(everything, size))
    return [cluster for cluster in clusters if unhit_mass(point, cluster) < 1 - MIN_VIOLATION]


@examples(150)
@given(points())
def test_exact_search_finds_a_violated_cluster_whenever_there_is_one(point):
    expected = violated_by_enumeration(point)

    clusters, is_complete = exact_clusters(point, max_clusters=1000, node_cap=10**6)

    assert is_complete
    assert (len(clusters) > 0) == (len(expected) > 0)
    assert all(set(np.flatnonzero(cluster).tolist()) in expected for cluster in clusters)
    assert len({cluster.tobytes() for cluster in clusters}) == len(clusters)


def test_search_says_that_the_node_cap_ended_it():
    point = point_of(3, [0, 1, 2], [1.0, 1.0, 1.0], [[1, 2], [2], []])

    clusters, is_complete = exact_clusters(point, max_clusters=10, node_cap=1)

    assert not len(clusters)
    assert not is_complete


def exact(point):
    return exact_clusters(point, max_clusters=9, node_cap=99)[0]


@pytest.mark.parametrize("find", [lambda point: grown_clusters(point, 1)[0], exact])
def test_more_than_64_variables(find):
    parents = [[] for _ in range(130)]
    parents[66], parents[129] = [129], [66]
    point = point_of(130, range(130), np.ones(130), parents)

    clusters = find(point)

    assert [np.flatnonzero(cluster).tolist() for cluster in clusters] == [[66, 129]]


@examples(100)
@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_cycle_clusters_are_found_exactly_in_cyclic_graphs(n_vars, seed):
    random = np.random.default_rng(seed)
    before = [[u for u in range(n_vars) if u != v and random.random() < 0.25] for v in range(n_vars)]

    clusters = cycle_clusters(before)

    assert (not clusters) == (find_cycle(before) is None)
    assert all(set(before[v]) & set(cluster) for cluster in clusters for v in cluster)
