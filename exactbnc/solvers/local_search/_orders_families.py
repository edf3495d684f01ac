"""Compiled table of the search over orders: families in compressed rows, and those of every pair of variables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Families(NamedTuple):
    """Families of child v: `child_start[v]:child_start[v + 1]`, cheapest first, the last one a penalty without members.

    A *pair* is a parent and a child that has families with it: those of parent v are `pair_start[v]:pair_start[v + 1]`,
    pair k is with `pair_child[k]`, whose families with v are `holders[holder_start[k]:holder_start[k + 1]]`.
    """

    child_start: Ints
    cost: Ints
    member_start: Ints
    members: Ints
    pair_start: Ints
    pair_child: Ints
    holder_start: Ints
    holders: Ints


@kernel
def list_pairs(child_start: Ints, member_start: Ints, members: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The pairs and their holders, as Families has them: families sorted by member, then by child."""
    n_vars = len(child_start) - 1
    position = np.zeros(n_vars + 1, dtype=np.int64)
    for member in members:
        position[member + 1] += 1
    for v in range(n_vars):
        position[v + 1] += position[v]
    holders = np.empty(len(members), dtype=np.int64)
    owner = np.empty(len(members), dtype=np.int64)
    ends = position[1:].copy()
    for child in range(n_vars):
        for family in range(child_start[child], child_start[child + 1]):
            for k in range(member_start[family], member_start[family + 1]):
                holders[position[members[k]]] = family
                owner[position[members[k]]] = child
                position[members[k]] += 1
    pair_start = np.zeros(n_vars + 1, dtype=np.int64)
    pair_child = np.empty(len(members), dtype=np.int64)
    holder_start = np.zeros(len(members) + 1, dtype=np.int64)
    n_pairs, first = 0, 0
    for v in range(n_vars):
        for k in range(first, ends[v]):
            if k == first or owner[k] != owner[k - 1]:
                pair_child[n_pairs] = owner[k]
                holder_start[n_pairs] = k
                n_pairs += 1
        first = ends[v]
        pair_start[v + 1] = n_pairs
    holder_start[n_pairs] = len(members)
    return pair_start, pair_child[:n_pairs].copy(), holder_start[: n_pairs + 1].copy(), holders
