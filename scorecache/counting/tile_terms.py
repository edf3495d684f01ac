"""The terms of a tile of binary joint sets (`binary_tiles`), summed over the cells of each set.

A cell of the suffix U has the tables `pairs[e]` = n11, `singles[x]` = A(x) and T; its four terms for the set
U + {p, x} are those of n11, A(x) - n11, A(p) - n11 and T - A(x) - A(p) + n11.
"""

from __future__ import annotations

import numpy as np

from scorecache.counting.terms import count_term
from scorecache.counting.types import Counts, Ints, Terms
from scorecache.system.compiled import kernel


@kernel
def add_terms(
    terms: Terms,
    start: int,
    shape: int,
    n_cells: int,
    below: int,
    n_pairs: int,
    pairs: Counts,
    singles: Counts,
    totals: Counts,
    value: Ints,
) -> None:
    """Add the four terms of every cell and pair."""
    table = terms.table
    for cell in range(n_cells):
        capped = terms.cap <= totals[cell]
        for p in range(1, below):
            with_p = singles[cell * below + p]
            rest = totals[cell] - with_p
            e = p * (p - 1) // 2
            at = cell * n_pairs + e
            if capped:
                for x in range(p):
                    n = pairs[at + x]
                    with_x = singles[cell * below + x]
                    value[e + x] += (
                        count_term(terms, start, shape, n)
                        + count_term(terms, start, shape, with_x - n)
                        + count_term(terms, start, shape, with_p - n)
                        + count_term(terms, start, shape, rest - with_x + n)
                    )
                continue
            _add_run(table, start, with_p, rest, pairs, at, singles, cell * below, value, e, p)


@kernel
def merge_bases(n_cells: int, n_base: int, width: int, table: Counts, merged: Counts) -> None:
    """Sum the base configurations (the classes) out of every cell."""
    for cell in range(n_cells):
        for e in range(width):
            merged[cell * width + e] = table[cell * n_base * width + e]
        for base in range(1, n_base):
            at = (cell * n_base + base) * width
            for e in range(width):
                merged[cell * width + e] += table[at + e]


@kernel
def _add_run(
    table: Ints,
    start: int,
    with_p: int,
    rest: int,
    pairs: Counts,
    at_pairs: int,
    singles: Counts,
    at_singles: int,
    value: Ints,
    at_value: int,
    n_x: int,
) -> None:
    """The terms of one p and all x below it; unsigned indices spare numba's test for negative ones."""
    of_pair, of_x, to = np.uint64(at_pairs), np.uint64(at_singles), np.uint64(at_value)
    for x in range(np.uint64(n_x)):
        n = pairs[of_pair + x]
        with_x = singles[of_x + x]
        value[to + x] += (
            table[np.uint64(start + n)]
            + table[np.uint64(start + with_x - n)]
            + table[np.uint64(start + with_p - n)]
            + table[np.uint64(start + rest - with_x + n)]
        )
