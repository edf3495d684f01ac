"""Families in compressed rows, as `members_of` gives them, and as masks: which come first, which fit together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from exactbnc.solvers.bounds.cuts.cluster import Bools
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import Words
from scorecache.system.compiled import kernel


def smallest_families(start: Ints, child_start: Ints) -> Ints:
    """Per child the family with the fewest members."""
    sizes = np.diff(start)
    return np.array([first + np.argmin(sizes[first:last]) for first, last in pairwise(child_start.tolist())])


def rows_of(start: Ints, members: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Some of the rows."""
    sizes = start[rows + 1] - start[rows]
    chosen_start = np.concatenate([[0], np.cumsum(sizes)])
    position = np.arange(chosen_start[-1]) + np.repeat(start[rows] - chosen_start[:-1], sizes)
    return chosen_start, members[position]


@kernel
def is_among_first(child: Ints, n_vars: int, most: int) -> Bools:
    """Marks the first `most` entries of every child."""
    n_seen = np.zeros(n_vars, dtype=np.int64)
    is_first = np.zeros(len(child), dtype=np.bool_)
    for i in range(len(child)):
        is_first[i] = n_seen[child[i]] < most
        n_seen[child[i]] += 1
    return is_first


@kernel
def is_acyclic(masks: Words, chosen: Ints) -> bool:
    """Can the children of these families, one each, be put in order?"""
    n_vars = len(chosen)
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    is_placed = np.zeros(n_vars, dtype=np.bool_)
    n_placed, n_before = 0, -1
    while n_placed > n_before:
        n_before = n_placed
        for v in range(n_vars):
            if is_placed[v]:
                continue
            fits = True
            for w in range(masks.shape[1]):
                fits &= (masks[chosen[v], w] & ~placed[w]) == 0
            if fits:
                placed[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                is_placed[v] = True
                n_placed += 1
    return n_placed == n_vars
