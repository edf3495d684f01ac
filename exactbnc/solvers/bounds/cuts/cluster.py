"""Violated cluster inequalities by exact search; `grown` finds most of them sooner.

For a cluster C of at least two variables, some member has no parent in C, because an acyclic graph over C has a source:

    sum over v in C and W with W n C = {} of x(v, W) >= 1          (Jaakkola et al. 2010, "Learning Bayesian network
                                                                     structure using LP relaxations")

At a point x with sum_W x(v, W) = 1 the left-hand side is the *unhit mass* of C. Families are given in compressed rows:
family f belongs to `child[f]`, has `value[f]` > 0 and the members `members[start[f]:start[f + 1]]`. Clusters are rows
of a boolean matrix; there is no limit on the number of variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MIN_VIOLATION = 1e-4
"""A cluster counts as violated from this much below 1; SCIP's own least efficacy at the root."""

_UNDECIDED, _IN, _OUT = 0, 1, 2


class Point(NamedTuple):
    """The families in the support of a point, in compressed rows."""

    n_vars: int
    child: Ints
    value: Floats
    start: Ints
    members: Ints


def exact_clusters(
    point: Point, *, max_clusters: int, node_cap: int, min_violation: float = MIN_VIOLATION
) -> tuple[Bools, bool]:
    """Violated clusters, and whether the search was complete: then an empty answer proves that there is none.

    The search ends early at `max_clusters` clusters (they are an answer, so it counts as complete) or at `node_cap`
    nodes. A violated cluster is not extended further.
    """
    found, is_complete = _search(point, 1.0 - min_violation, max_clusters, node_cap)
    return found, bool(is_complete)


def cycle_clusters(before: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The variables of a shortest cycle through every variable that lies on one; empty if the graph is acyclic.

    `before[v]` are the parents of v. The unhit mass of a cycle is 0, the worst violation.
    """
    clusters = {tuple(sorted(cycle)) for v in range(len(before)) if (cycle := _shortest_cycle(before, v))}
    return sorted(clusters)


def _shortest_cycle(before: Sequence[Sequence[int]], v: int) -> list[int]:
    """The variables of a shortest directed cycle through v; empty if there is none."""
    came_from = {v: v}
    layer = [v]
    while layer:
        following: list[int] = []
        for child in layer:
            if v in before[child]:
                cycle = [child]
                while cycle[-1] != v:
                    cycle.append(came_from[cycle[-1]])
                return cycle
            for parent in before[child]:
                if parent not in came_from:
                    came_from[parent] = child
                    following.append(parent)
        layer = following
    return []


@kernel
def _is_hit(family: int, state: NDArray[np.int8], start: Ints, members: Ints, wanted: int) -> bool:
    """Does the family have a member in the given state?"""
    for position in range(start[family], start[family + 1]):  # noqa: SIM110 (compiled)
        if state[members[position]] == wanted:
            return True
    return False


@kernel
def _evaluate(
    state: NDArray[np.int8], child: Ints, value: Floats, start: Ints, members: Ints
) -> tuple[float, float, int]:
    """The unhit mass, the part of it that no undecided variable can hit, and the largest family that one can hit."""
    unhit, lost, largest = 0.0, 0.0, -1
    for family in range(len(child)):
        if state[child[family]] != _IN or _is_hit(family, state, start, members, _IN):
            continue
        unhit += value[family]
        if not _is_hit(family, state, start, members, _UNDECIDED):
            lost += value[family]
        elif largest < 0 or value[family] > value[largest]:
            largest = family
    return unhit, lost, largest


@kernel
def _search(point: Point, threshold: float, max_clusters: int, node_cap: int) -> tuple[Bools, bool]:
    """Depth first over clusters whose smallest member is the seed.

    A node is cut off when the mass that can no longer be hit reaches the threshold. Otherwise branch on the largest
    unhit family: its first undecided member joins the cluster, or stays out and the second joins, ..., or all stay out.
    """
    n_vars, child, value, start, members = point
    found = np.zeros((max_clusters, n_vars), dtype=np.bool_)
    n_found, n_nodes = 0, 0
    state = np.zeros((n_vars + 1, n_vars), dtype=np.int8)
    branching = np.zeros(n_vars + 1, dtype=np.int64)
    position = np.zeros(n_vars + 1, dtype=np.int64)
    for seed in range(n_vars):
        state[0, :] = _UNDECIDED
        state[0, :seed] = _OUT
        state[0, seed] = _IN
        level, is_new = 0, True
        while level >= 0:
            # a new node: its unhit mass; it is a leaf if the cluster is violated or never will be
            if is_new:
                n_nodes += 1
                if n_nodes > node_cap:
                    return found[:n_found], False
                unhit, lost, largest = _evaluate(state[level], child, value, start, members)
                if unhit < threshold:
                    for u in range(n_vars):
                        found[n_found, u] = state[level, u] == _IN
                    n_found += 1
                    if n_found == max_clusters:
                        return found, True
                if unhit < threshold or lost >= threshold or largest < 0:
                    level, is_new = level - 1, False
                    continue
                branching[level], position[level], is_new = largest, start[largest], False
            # the next branch: the first undecided member of the unhit family joins below, and stays out here
            last = start[branching[level] + 1]
            while position[level] < last and state[level, members[position[level]]] != _UNDECIDED:
                position[level] += 1
            if position[level] == last:
                is_new = True  # all members of the family stay out: a new node in the same place
                continue
            joining = members[position[level]]
            state[level + 1] = state[level]
            state[level + 1, joining] = _IN
            state[level, joining] = _OUT
            level, is_new = level + 1, True
    return found[:n_found], True
