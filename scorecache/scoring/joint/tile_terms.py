"""The terms of a tile of binary joint sets (`binary_tiles`), summed over the cells of each set.

A cell of the suffix U has the tables `pairs[e]` = n11, `singles[x]` = A(x) and T; its four terms for the set
U + {p, x} are those of n11, A(x) - n11, A(p) - n11 and T - A(x) - A(p) + n11.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from scorecache.scoring.joint.terms import count_term
from scorecache.scoring.joint.types import Counts, Ints, Terms

Index = int | np.uint64


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def merge_bases(n_cells: int, n_base: int, width: int, table: Counts, merged: Counts) -> None:
    """Sum the base configurations (the classes) out of every cell."""
    for cell in range(n_cells):
        for e in range(width):
            merged[cell * width + e] = table[cell * n_base * width + e]
        for base in range(1, n_base):
            at = (cell * n_base + base) * width
            for e in range(width):
                merged[cell * width + e] += table[at + e]


@njit(cache=True, nogil=True)
def set_terms_of_two_classes(
    terms: Terms,
    start: int,
    n_cells: int,
    below: int,
    n_pairs: int,
    pairs: Counts,
    singles: Counts,
    totals: Counts,
    with_p: Ints,
    rest: Ints,
    value: Ints,
) -> None:
    """What `add_terms`, `merge_bases` and `add_terms` of the marginal give for two base configurations, in one pass.

    Only tables that depend on q are cut short, and scores with a marginal have none.
    """
    table, marginal_start = terms.table, terms.marginal_start
    for p in range(1, below):
        for cell in range(2 * n_cells):
            with_p[cell] = singles[cell * below + p]
            rest[cell] = totals[cell] - with_p[cell]
        e = p * (p - 1) // 2
        _set_run(table, start, marginal_start, n_cells, below, n_pairs, pairs, singles, with_p, rest, value, e, p)


@njit(cache=True, nogil=True)
def _set_run(
    table: Ints,
    start: int,
    marginal_start: int,
    n_cells: int,
    below: int,
    n_pairs: int,
    pairs: Counts,
    singles: Counts,
    with_p: Ints,
    rest: Ints,
    value: Ints,
    at_value: int,
    n_x: int,
) -> None:
    """The terms of one p and all x below it."""
    first = np.uint64(at_value)
    to_pair, to_single = np.uint64(n_pairs), np.uint64(below)
    cells, merged = np.uint64(start), np.uint64(marginal_start)
    if n_cells == 4:  # two variables in the suffix, the usual top level: a constant number of steps is unrolled
        for x in range(np.uint64(n_x)):
            total = 0
            for cell in range(np.uint64(4)):
                total += _cell_terms(
                    table, cells, merged, pairs, first + x, to_pair, singles, x, to_single, with_p, rest, cell
                )
            value[first + x] = total
        return
    for x in range(np.uint64(n_x)):
        total = 0
        for cell in range(np.uint64(n_cells)):
            total += _cell_terms(
                table, cells, merged, pairs, first + x, to_pair, singles, x, to_single, with_p, rest, cell
            )
        value[first + x] = total


@njit(inline="always")
def _cell_terms(
    table: Ints,
    cells: Index,
    merged: Index,
    pairs: Counts,
    at_pair: Index,
    to_pair: Index,
    singles: Counts,
    at_single: Index,
    to_single: Index,
    with_p: Ints,
    rest: Ints,
    cell: Index,
) -> int:
    """The terms of one cell of the suffix: of its two classes, and of both together."""
    one = cell + cell
    other = one + np.uint64(1)
    both = np.uint64(pairs[at_pair + one * to_pair])
    x_alone = np.uint64(singles[at_single + one * to_single]) - both
    p_alone = np.uint64(with_p[one]) - both
    neither = np.uint64(rest[one]) - x_alone
    other_both = np.uint64(pairs[at_pair + other * to_pair])
    other_x_alone = np.uint64(singles[at_single + other * to_single]) - other_both
    other_p_alone = np.uint64(with_p[other]) - other_both
    other_neither = np.uint64(rest[other]) - other_x_alone
    of_one = table[cells + both] + table[cells + x_alone] + table[cells + p_alone] + table[cells + neither]
    of_other = table[cells + other_both] + table[cells + other_x_alone]
    of_other += table[cells + other_p_alone] + table[cells + other_neither]
    of_both = table[merged + both + other_both] + table[merged + x_alone + other_x_alone]
    of_both += table[merged + p_alone + other_p_alone] + table[merged + neither + other_neither]
    return of_one + of_other + of_both


@njit(cache=True, nogil=True)
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
