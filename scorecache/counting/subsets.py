"""Subsets in colexicographic order: ranks, unranking, the next subset.

A set s_0 < s_1 < ... < s_(m-1) has the rank sum_i binom(s_i, i + 1). Joint sets are walked as rows: all sets P + {x}
with x below every element of P are neighbours, of ranks base(P) + x with base(P) = sum_i binom(p_i, i + 2), so that
whatever is stored by rank is read and written in runs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]

MOST = 1 << 62


def binomials(n: int, m: int) -> Ints:
    """binom[i, j] for i <= n, j <= m; entries past 2^62 are cut there, far beyond what can be enumerated."""
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    table[:, 0] = 1
    for i in range(1, n + 1):
        table[i, 1:] = table[i - 1, :-1] + np.minimum(table[i - 1, 1:], MOST - table[i - 1, :-1])
    return table


def unrank(rank: int, size: int, binom: Ints) -> Ints:
    """The subset of that rank among those of a size, ascending."""
    subset = np.zeros(size, dtype=np.int64)
    for i in range(size - 1, -1, -1):
        column = binom[:, i + 1]
        subset[i] = bisect_right(column, rank) - 1
        rank -= int(column[subset[i]])
    return subset


def sets_before(rank: int, size: int, lead: int, n: int, binom: Ints) -> int:
    """The number of sets of `size` + `lead` elements whose `size` largest come before the subset of that rank."""
    if rank == binom[n, size]:
        return int(binom[n, size + lead])
    return sum(int(binom[v, i + lead + 1]) for i, v in enumerate(unrank(rank, size, binom)))


@kernel
def advance(subset: Ints, size: int) -> int:
    """Step to the next subset in colex order; the position up to which (inclusive) elements changed."""
    i = 0
    while i + 1 < size and subset[i] + 1 == subset[i + 1]:
        i += 1
    subset[i] += 1
    for below in range(i):
        subset[below] = below
    return i


@kernel
def rank_without(subset: Ints, size: int, skip: int, also: int, shift: int, binom: Ints) -> int:
    """The rank of a subset without positions `skip` and `also` (-1: none), as if `shift` smaller elements led it."""
    rank = 0
    position = shift
    for i in range(size):
        if i != skip and i != also:
            position += 1
            rank += binom[subset[i], position]
    return rank


@kernel
def ranks_below(row: Ints, n_row: int, binom: Ints, ranks: Ints) -> int:
    """The rank of row + {x} and those of the sets with one variable less: without p_i (all for x = 0: add x), the row.

    Elements after a missing one stand one place lower; so do all of them where x is missing.
    """
    lower = 0
    for j in range(n_row):
        lower += binom[row[j], j + 1]
    ranks[n_row] = lower
    rank = 0
    for i in range(n_row):
        lower -= binom[row[i], i + 1]
        ranks[i] = rank + lower
        rank += binom[row[i], i + 2]
    return rank


def row_chunks(
    binom: Ints, size: int, n: int, row_from: int, row_to: int, n_sets: int, *, lead: int = 1
) -> Iterator[tuple[int, int]]:
    """Cut rows, the sets that share all but their `lead` smallest elements, into runs of about `n_sets` sets."""
    if size == lead:
        yield 0, 1
        return
    first = row_from
    while first < row_to:
        rank = sets_before(first, size - lead, lead, n, binom) + n_sets
        last = row_to
        if rank < comb(n, size):
            elements = unrank(rank, size, binom)
            last = min(row_to, max(first + 1, sum(int(binom[elements[i], i - lead + 1]) for i in range(lead, size))))
        yield first, last
        first = last
