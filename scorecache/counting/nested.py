"""Sparse tables in nested order, which are refined, projected and counted in one pass each, nothing looked up.

A table (S, v) lists the configurations of S + {0, ..., v - 1} that occur, with their weights, cell by cell of S. Rows
are numbered in the lexicographic order of the variables 0, 1, 2, ..., an entry is named after its first row, and the
entries of a cell ascend. Hence entries of a cell that agree on the variables below u are neighbours, and the tables of
larger sets come from those of smaller ones by one pass over what is left of the data:

    refine    (S, v) -> (S + {u}, u), u < v: cells fall apart by the state of u, variables between u and v are dropped
    project   (S, v) -> (S, u), u < v: variables from u on are dropped                              (`nested_refine`)
    count     (S, v), x < v: the cells of S + {x}, or of S and several variables below v            (`nested_count`)

A cell with a single entry never falls apart again, whatever is added to S, so it leaves the table and only its weight
is kept (compare the stripped partitions of Huhtala et al. 1999, "TANE"). Weights of such cells, like those that are
counted, are *tallied*: `small[w]` cells have the weight w, and the few with a weight of `len(small)` or more are
listed one by one in `large`.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

FEWEST_SMALL, MOST_SMALL = 16, 256
MERGED_SHARE = 0.75
"""A prefix is worth its memory if so few of the rows differ on it, and a projection if so few entries are left."""

FEWEST_PREFIXES, ROWS_PER_PREFIX = 64, 16
"""So few different prefixes are gone through for every set that is counted."""


class Nested(NamedTuple):
    """The rows in lexicographic order; rows that agree on the variables below v share `prefix[prefix_row[v]]`.

    `n_prefixes[v]` tells how many different ones there are. The last line of `prefix` tells all rows apart. Where there
    are at most as many as `first_row` has columns, it holds the first row of each.
    """

    codes: NDArray[np.uint16]
    prefix: Counts
    prefix_row: Ints
    n_prefixes: Ints
    first_row: Counts


class Tables(NamedTuple):
    """Room for the tables of several sets S, one set per line d, and for the projections of each.

    Line d holds `n_kept[d]` tables one after the other, each over fewer variables (those below `below[d, k]`). Table k
    has the entries `entry_end[d, k]:entry_end[d, k + 1]` in the cells `cell_end[d, k]:cell_end[d, k + 1]`; `cells`
    holds the end of each cell among the entries. `n_large[d, k]` weights are listed in `large[d, k]`.
    """

    rows: Counts
    weights: Counts
    cells: Counts
    n_kept: Ints
    below: Ints
    entry_end: Ints
    cell_end: Ints
    small: Counts
    large: Counts
    n_large: Ints
    held: Counts
    """Room for the rows and weights of one cell while it is parted."""
    in_cell: Ints
    met: Ints
    place: Ints
    """Room for what falls into each part of one cell (all 0 between calls), for the parts that occur, and for where
    they begin."""


def nested_rows(codes: NDArray[np.uint16]) -> tuple[Nested, Ints]:
    """Sort the rows by their codes (variables x rows); the rows, and their order."""
    n_vars, n_rows = codes.shape
    order = np.lexsort(codes[::-1])
    codes = np.ascontiguousarray(codes[:, order])
    codes.flags.writeable = False
    lines = [np.zeros(n_rows, dtype=np.int32)]
    differs = np.zeros(n_rows, dtype=np.bool_)
    for column in codes:
        differs[1:] |= column[1:] != column[:-1]
        line = np.cumsum(differs, dtype=np.int32)
        if line[-1] + 1 > MERGED_SHARE * n_rows:
            break
        lines.append(line)
    n_prefixes = np.array([line[-1] + 1 for line in lines] + [n_rows] * (n_vars + 1 - len(lines)), dtype=np.int64)
    prefix = np.array([*lines, np.arange(n_rows)], dtype=np.int32)
    few = max(FEWEST_PREFIXES, n_rows // ROWS_PER_PREFIX)
    first_row = np.zeros((len(prefix), few), dtype=np.int32)
    for line, firsts in zip(prefix, first_row, strict=True):
        found = np.flatnonzero(np.diff(line, prepend=-1))
        if len(found) <= few:
            firsts[: len(found)] = found
    return Nested(codes, prefix, np.minimum(np.arange(n_vars + 1), len(lines)), n_prefixes, first_row), order


def n_small(total_weight: int) -> int:
    """From this weight on cells are listed one by one: about as many places for both kinds."""
    return min(max(FEWEST_SMALL, min(MOST_SMALL, isqrt(total_weight))), total_weight + 1)


@kernel
def new_tables(n_sets: int, nested: Nested, n_small: int, n_large: int, n_cells: int) -> Tables:
    """Room for the tables of a number of sets; a projection is kept only if it is smaller by the merged share."""
    n_vars, n_rows = nested.codes.shape
    n_entries = int(n_rows / (1.0 - MERGED_SHARE)) + n_vars + 1
    return Tables(
        np.empty((n_sets, n_entries), np.int32),
        np.empty((n_sets, n_entries), np.int32),
        np.empty((n_sets, n_entries // 2 + 1), np.int32),
        np.zeros(n_sets, np.int64),
        np.zeros((n_sets, n_vars + 2), np.int64),
        np.zeros((n_sets, n_vars + 3), np.int64),
        np.zeros((n_sets, n_vars + 3), np.int64),
        np.zeros((n_sets, n_vars + 2, n_small), np.int32),
        np.empty((n_sets, n_vars + 2, n_large), np.int32),
        np.zeros((n_sets, n_vars + 2), np.int64),
        np.empty((2, n_rows + 1), np.int32),
        np.zeros(n_cells, np.int64),
        np.empty(n_cells + 1, np.int64),
        np.empty(n_cells, np.int64),
    )


@kernel
def tally(small: Counts, large: Counts, n_large: int, weight: int) -> int:
    """Note a cell; the number of those that are listed."""
    if weight < len(small):
        small[weight] += 1
        return n_large
    large[n_large] = weight
    return n_large + 1


@kernel
def copy_tally(tables: Tables, d: int, k: int, small: Counts, large: Counts) -> int:
    """Begin with the cells that have left a table; the number of those that are listed."""
    for weight in range(len(small)):
        small[weight] = tables.small[d, k, weight]
    for i in range(tables.n_large[d, k]):
        large[i] = tables.large[d, k, i]
    return tables.n_large[d, k]


@kernel
def start(tables: Tables, d: int, labels: Counts, n_labels: int, weights: Ints, n_vars: int) -> None:
    """The table of the base alone: rows by label, with all variables."""
    sizes = np.zeros(n_labels, np.int64)
    for i in range(len(labels)):
        sizes[labels[i]] += 1
    small, large = tables.small[d, 0], tables.large[d, 0]
    small[:] = 0
    n_large = n_cells = at = 0
    places = np.full(n_labels, -1)
    for label in range(n_labels):
        if sizes[label] > 1:
            places[label] = at
            at += sizes[label]
            tables.cells[d, n_cells] = at
            n_cells += 1
    for i in range(len(labels)):
        place = places[labels[i]]
        if place < 0:
            n_large = tally(small, large, n_large, weights[i])
        else:
            tables.rows[d, place] = i
            tables.weights[d, place] = weights[i]
            places[labels[i]] += 1
    close(tables, d, 0, n_vars, at, n_cells, n_large)


@kernel
def close(tables: Tables, d: int, k: int, below: int, entry_end: int, cell_end: int, n_large: int) -> None:
    """Table k of line d is finished, and the last one."""
    tables.n_kept[d] = k + 1
    tables.below[d, k] = below
    tables.entry_end[d, k + 1] = entry_end
    tables.cell_end[d, k + 1] = cell_end
    tables.n_large[d, k] = n_large


@kernel
def smallest(tables: Tables, d: int, below: int) -> int:
    """The smallest table that still has all variables below this one."""
    k = tables.n_kept[d] - 1
    while tables.below[d, k] < below:
        k -= 1
    return k
