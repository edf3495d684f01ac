"""Violated k-cluster inequalities by greedy growth, for k = 1 and 2.

In an acyclic graph the first k members of a cluster C in an order have fewer than k parents in C:

    sum over v in C and W with |W n C| < k of x(v, W) >= k,   k < |C|     (Bartlett & Cussens 2017, "Integer linear
                                                                          programming for the Bayesian network structure
                                                                          learning problem", section 4)

The left-hand side is the *unhit mass* of C. Growth starts from every pair in which one is a parent of the other at the
point. For k = 2 a pair has unhit mass 2, and its families with one member inside need one more.
"""

from __future__ import annotations

import numpy as np

from exactbnc.solvers.bounds.cuts.cluster import MIN_VIOLATION, Bools, Floats, Ints, Point
from scorecache.system.compiled import kernel


def grown_clusters(point: Point, k: int, *, min_violation: float = MIN_VIOLATION) -> tuple[Bools, Floats]:
    """Distinct violated k-clusters as rows, and by how much each is violated; k is 1 or 2.

    Grown from every arc of the point; possibly none although there are some.
    """
    family = np.repeat(np.arange(len(point.child)), np.diff(point.start))
    pairs = np.sort(np.stack([point.child[family], point.members], axis=1), axis=1)
    pairs = np.unique(pairs, axis=0)
    holder_start, holders = _holders(point, family)
    clusters, violation = _grow(point, holder_start, holders, pairs, k, min_violation)
    _, first = np.unique(np.packbits(clusters, axis=1), axis=0, return_index=True)
    return clusters[first], violation[first]


def _holders(point: Point, family: Ints) -> tuple[Ints, Ints]:
    """Per variable the families that hold it, in compressed rows."""
    by_member = np.argsort(point.members, kind="stable")
    sizes = np.bincount(point.members, minlength=point.n_vars)
    return np.concatenate([[0], np.cumsum(sizes)]), family[by_member]


@kernel
def _grow(
    point: Point, holder_start: Ints, holders: Ints, pairs: Ints, k: int, min_violation: float
) -> tuple[Bools, Floats]:
    """From each pair, add the variable that leaves the least unhit mass; keep the cluster once it is violated."""
    n_vars, child, value, start, members = point
    threshold = k - min_violation
    found = np.zeros((len(pairs), n_vars), dtype=np.bool_)
    violation = np.zeros(len(pairs))
    n_found = 0
    # the families of every variable in compressed rows
    own_start = np.zeros(n_vars + 1, dtype=np.int64)
    for family in range(len(child)):
        own_start[child[family] + 1] += 1
    for v in range(n_vars):
        own_start[v + 1] += own_start[v]
    own_families = np.argsort(child, kind="mergesort")
    is_in = np.zeros(n_vars, dtype=np.bool_)
    n_inside = np.zeros(len(child), dtype=np.int64)  # |W n C| of every family
    own = np.empty(n_vars)  # mass of the families of a variable outside with |W n C| < k
    hit = np.empty(n_vars)  # mass of the families of members with |W n C| = k - 1 that hold the variable
    for seed in range(len(pairs)):
        is_in[:] = False
        n_inside[:] = 0
        hit[:] = 0.0
        own[:] = 0.0
        for family in range(len(child)):
            own[child[family]] += value[family]
        unhit, n_members = 0.0, 0
        joining = pairs[seed, 0]
        while joining >= 0:
            # a variable joins C: its own mass counts, less the mass that it hits
            is_in[joining] = True
            n_members += 1
            unhit += own[joining] - hit[joining]
            # its families with |W n C| = k - 1 can be hit by their further members
            for place in range(own_start[joining], own_start[joining + 1]):
                family = own_families[place]
                if n_inside[family] == k - 1:
                    for position in range(start[family], start[family + 1]):
                        hit[members[position]] += value[family]
            # |W n C| grows in the families that hold it: some reach k - 1, others k
            for place in range(holder_start[joining], holder_start[joining + 1]):
                family = holders[place]
                n_inside[family] += 1
                if not is_in[child[family]]:
                    if n_inside[family] == k:
                        own[child[family]] -= value[family]
                elif n_inside[family] == k - 1 or n_inside[family] == k:
                    gained = value[family] if n_inside[family] < k else -value[family]
                    for position in range(start[family], start[family + 1]):
                        hit[members[position]] += gained
            # next: the other one of the pair, then the variable that leaves the least unhit mass, if any
            if n_members == 1:
                joining = pairs[seed, 1]
                continue
            joining = -1
            for u in range(n_vars):
                if is_in[u] or hit[u] <= 1e-12:
                    continue
                if joining < 0 or own[u] - hit[u] < own[joining] - hit[joining]:
                    joining = u
            if joining >= 0 and unhit < threshold and own[joining] - hit[joining] >= 0.0:
                joining = -1
        if unhit < threshold and n_members > k:
            found[n_found] = is_in
            violation[n_found] = k - unhit
            n_found += 1
    return found[:n_found], violation[:n_found]
