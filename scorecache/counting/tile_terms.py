"""The terms of a tile of binary joint sets (`binary_tiles`), summed over the cells of each set.

A cell of the suffix U has the counts n11 of each pair, A(x) of each variable and T; its four terms for the set
U + {p, x} are those of n11, A(x) - n11, A(p) - n11 and T - A(x) - A(p) + n11.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scorecache.counting.terms import count_term
from scorecache.counting.types import Counts, Ints, Terms
from scorecache.system.compiled import kernel


class Tile(NamedTuple):
    """The counts of a tile, cell by cell and in each by base configuration.

    `pairs` are those of U + {p, x}, numbered e = binom(p, 2) + x, `singles` of U + {x}, `totals` of U.
    """

    pairs: Counts
    singles: Counts
    totals: Counts


@kernel
def new_tile(n_cells: int, n_vars: int, n_pairs: int) -> Tile:
    """Room for the counts of so many cells."""
    return Tile(
        np.empty(n_cells * n_pairs, np.int32), np.empty(n_cells * n_vars, np.int32), np.empty(n_cells, np.int32)
    )


@kernel
def add_terms(terms: Terms, start: int, shape: int, n_cells: int, below: int, tile: Tile, value: Ints) -> None:
    """Add the four terms of every cell to `value[e]`, for all pairs of variables smaller than `below`.

    The terms of a set begin at `start`; a count past the tables is evaluated for the `shape`.
    """
    table, n_pairs = terms.table, below * (below - 1) // 2
    pairs, singles, totals = tile.pairs, tile.singles, tile.totals
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
    """Add the terms of one p and the `n_x` variables x below it to `value`, from `at_value` on.

    In this cell `with_p` is A(p) and `rest` is T - A(p); n11 is read from `at_pairs` on, A(x) from `at_singles` on.
    Unsigned indices spare numba's test for negative ones.
    """
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
