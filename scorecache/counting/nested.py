"""Sparse tables in nested order, refined and projected in one pass each, without looking anything up.

A table (S, v) lists the configurations of S + {0, ..., v - 1} that occur, with their weights, cell by cell of S. Rows
are numbered in the lexicographic order of the variables 0, 1, 2, ..., an entry is named after its first row, and the
entries of a cell ascend. Hence entries of a cell that agree on the variables below u are neighbours, and the tables of
larger sets come from those of smaller ones by one pass over what is left of the data:

    refine    (S, v) -> (S + {u}, u), u < v: cells fall apart by the state of u, variables between u and v are dropped
    project   (S, v) -> (S, u), u < v: variables from u on are dropped
    count     (S, v), x < v: the weights of the cells of S + {x}, or of S and several variables below v

A cell with a single entry never falls apart again, whatever is added to S, so it leaves the table and only its weight
is kept (compare the stripped partitions of Huhtala et al. 1999, "TANE"). Weights of such cells, like those that are
counted, are *tallied*: `small[w]` cells have the weight w, and the few with a weight of `len(small)` or more are
listed one by one in `large`.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

FEWEST_SMALL, MOST_SMALL = 16, 256
MERGED_SHARE = 0.75
"""A prefix is worth its memory if so few of the rows differ on it, and a projection if so few entries are left."""

PROMISING = 1.5
"""A projection is tried if it cannot leave more than this many times the entries there are."""

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


@njit(cache=True, nogil=True)
def new_tables(n_sets: int, nested: Nested, n_small: int, n_large: int, n_cells: int) -> Tables:
    """Room for the tables of so many sets; a projection is kept only if it is smaller by the merged share."""
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


@njit(cache=True, nogil=True)
def _tally(small: Counts, large: Counts, n_large: int, weight: int) -> int:
    """Note a cell; the number of those that are listed."""
    if weight < len(small):
        small[weight] += 1
        return n_large
    large[n_large] = weight
    return n_large + 1


@njit(cache=True, nogil=True)
def _copy_tally(tables: Tables, d: int, k: int, small: Counts, large: Counts) -> int:
    """Begin with the cells that have left a table; the number of those that are listed."""
    for weight in range(len(small)):
        small[weight] = tables.small[d, k, weight]
    for i in range(tables.n_large[d, k]):
        large[i] = tables.large[d, k, i]
    return tables.n_large[d, k]


@njit(cache=True, nogil=True)
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
            n_large = _tally(small, large, n_large, weights[i])
        else:
            tables.rows[d, place] = i
            tables.weights[d, place] = weights[i]
            places[labels[i]] += 1
    _close(tables, d, 0, n_vars, at, n_cells, n_large)


@njit(cache=True, nogil=True)
def _close(tables: Tables, d: int, k: int, below: int, entry_end: int, cell_end: int, n_large: int) -> None:
    """Table k of line d is finished, and the last one."""
    tables.n_kept[d] = k + 1
    tables.below[d, k] = below
    tables.entry_end[d, k + 1] = entry_end
    tables.cell_end[d, k + 1] = cell_end
    tables.n_large[d, k] = n_large


@njit(cache=True, nogil=True)
def _smallest(tables: Tables, d: int, below: int) -> int:
    """The smallest table that still has all variables below this one."""
    k = tables.n_kept[d] - 1
    while tables.below[d, k] < below:
        k -= 1
    return k


@njit(cache=True, nogil=True)
def refine(tables: Tables, d: int, u: int, arity: int, nested: Nested, to: int) -> None:
    """Begin line `to` with the table (S + {u}, u), from the tables of S in line d."""
    k = _smallest(tables, d, u + 1)
    small, large = tables.small[to, 0], tables.large[to, 0]
    n_large = _copy_tally(tables, d, k, small, large)
    tables.n_large[to, 0] = n_large
    column, prefix = nested.codes[u], nested.prefix[nested.prefix_row[u + 1]]
    if arity == 2:
        _part_in_two(tables, d, k, column, prefix, to)
    else:
        _part(tables, d, k, column, prefix, to)
    tables.n_kept[to] = 1
    tables.below[to, 0] = u


@njit(cache=True, nogil=True)
def _part(tables: Tables, d: int, k: int, column: NDArray[np.uint16], prefix: Counts, to: int) -> None:
    """Part the cells of table k by the states of a column."""
    known_rows, known_weights, known_cells = tables.rows[d], tables.weights[d], tables.cells[d]
    rows, weights, cells = tables.rows[to], tables.weights[to], tables.cells[to]
    small, large, held = tables.small[to, 0], tables.large[to, 0], tables.held
    n_large = tables.n_large[to, 0]
    in_state, met, place = tables.in_cell, tables.met, tables.place
    at = n_cells = 0
    first = tables.entry_end[d, k]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = known_cells[cell]
        n = n_met = 0
        known = -1
        for e in range(first, last):
            row = known_rows[e]
            if prefix[row] == known:
                held[1, n - 1] += known_weights[e]
            else:
                known = prefix[row]
                held[0, n] = row
                held[1, n] = known_weights[e]
                state = column[row]
                met[n_met] = state
                n_met += in_state[state] == 0
                in_state[state] += 1
                n += 1
        first = last
        for i in range(n_met):
            place[met[i]] = at
            if in_state[met[i]] > 1:
                at += in_state[met[i]]
                cells[n_cells] = at
                n_cells += 1
        for e in range(n):
            state = column[held[0, e]]
            if in_state[state] == 1:
                n_large = _tally(small, large, n_large, held[1, e])
            else:
                rows[place[state]] = held[0, e]
                weights[place[state]] = held[1, e]
                place[state] += 1
        for i in range(n_met):
            in_state[met[i]] = 0
    tables.entry_end[to, 1] = at
    tables.cell_end[to, 1] = n_cells
    tables.n_large[to, 0] = n_large


@njit(cache=True, nogil=True)
def _part_in_two(tables: Tables, d: int, k: int, column: NDArray[np.uint16], prefix: Counts, to: int) -> None:
    """The same for two states: every entry is put down twice, and only one of the two ends moves on."""
    known_rows, known_weights, known_cells = tables.rows[d], tables.weights[d], tables.cells[d]
    rows, weights, cells = tables.rows[to], tables.weights[to], tables.cells[to]
    small, large, held = tables.small[to, 0], tables.large[to, 0], tables.held
    n_large = tables.n_large[to, 0]
    at = n_cells = 0
    first = tables.entry_end[d, k]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = known_cells[cell]
        zeros, ones = at, 0
        known = -1
        state = 0
        for e in range(first, last):
            row, weight = known_rows[e], known_weights[e]
            if prefix[row] == known:
                if state:
                    held[1, ones - 1] += weight
                else:
                    weights[zeros - 1] += weight
            else:
                known = prefix[row]
                state = int(column[row])
                rows[zeros] = row
                weights[zeros] = weight
                held[0, ones] = row
                held[1, ones] = weight
                zeros += 1 - state
                ones += state
        first = last
        if zeros == at + 1:
            n_large = _tally(small, large, n_large, weights[at])
        elif zeros > at:
            at = zeros
            cells[n_cells] = at
            n_cells += 1
        if ones == 1:
            n_large = _tally(small, large, n_large, held[1, 0])
        elif ones > 1:
            for e in range(ones):
                rows[at + e] = held[0, e]
                weights[at + e] = held[1, e]
            at += ones
            cells[n_cells] = at
            n_cells += 1
    tables.entry_end[to, 1] = at
    tables.cell_end[to, 1] = n_cells
    tables.n_large[to, 0] = n_large


@njit(cache=True, nogil=True)
def project(tables: Tables, d: int, least: int, nested: Nested) -> None:
    """Add tables (S, u) with falling u >= least to line d, wherever that leaves few enough entries."""
    for u in range(tables.below[d, tables.n_kept[d] - 1] - 1, least - 1, -1):
        project_once(tables, d, u, nested)


@njit(cache=True, nogil=True)
def project_once(tables: Tables, d: int, u: int, nested: Nested) -> None:
    """Add the table (S, u) to line d, if that promises to leave few enough entries, and does."""
    k = tables.n_kept[d] - 1
    n_entries = tables.entry_end[d, k + 1] - tables.entry_end[d, k]
    n_cells = tables.cell_end[d, k + 1] - tables.cell_end[d, k]
    if u < tables.below[d, k] and n_cells * nested.n_prefixes[u] <= PROMISING * n_entries:
        _project(tables, d, u, nested.prefix[nested.prefix_row[u]])


@njit(cache=True, nogil=True)
def _project(tables: Tables, d: int, u: int, prefix: Counts) -> None:
    """Add the table (S, u) if it is smaller by the merged share than the last one."""
    k = tables.n_kept[d] - 1
    rows, weights, cells = tables.rows[d], tables.weights[d], tables.cells[d]
    small, large = tables.small[d, k + 1], tables.large[d, k + 1]
    n_large = _copy_tally(tables, d, k, small, large)
    first, end = tables.entry_end[d, k], tables.entry_end[d, k + 1]
    most = end + int(MERGED_SHARE * (end - first))
    at, cell_at = end, tables.cell_end[d, k + 1]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = cells[cell]
        if at + last - first > len(rows):
            return
        n = at
        known = -1
        for e in range(first, last):
            row = rows[e]
            if prefix[row] == known:
                weights[n - 1] += weights[e]
            else:
                known = prefix[row]
                rows[n] = row
                weights[n] = weights[e]
                n += 1
        first = last
        if n == at + 1:
            n_large = _tally(small, large, n_large, weights[at])
        else:
            at = n
            cells[cell_at] = at
            cell_at += 1
        if at > most:
            return
    _close(tables, d, k + 1, u, at, cell_at, n_large)


@njit(cache=True, nogil=True)
def count(tables: Tables, d: int, x: int, arity: int, nested: Nested, small: Counts, large: Counts) -> int:
    """Tally the cells of S + {x}, S being that of line d; the number of those in `large`."""
    k = _smallest(tables, d, x + 1)
    column = nested.codes[x]
    rows, weights, cells = tables.rows[d], tables.weights[d], tables.cells[d]
    n_large = _copy_tally(tables, d, k, small, large)
    first = tables.entry_end[d, k]
    if arity == 2:
        for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
            last = cells[cell]
            total = ones = 0
            for e in range(first, last):
                total += weights[e]
                ones += weights[e] * column[rows[e]]
            first = last
            if ones > 0:
                n_large = _tally(small, large, n_large, ones)
            if ones < total:
                n_large = _tally(small, large, n_large, total - ones)
        return n_large
    in_state, met = tables.in_cell, tables.met
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = cells[cell]
        n_met = 0
        for e in range(first, last):
            state = column[rows[e]]
            met[n_met] = state
            n_met += in_state[state] == 0
            in_state[state] += weights[e]
        for i in range(n_met):
            n_large = _tally(small, large, n_large, in_state[met[i]])
            in_state[met[i]] = 0
        first = last
    return n_large


@njit(cache=True, nogil=True)
def tail_codes(nested: Nested, below: int, tail: Ints, n_tail: int, arities: Ints, codes: Ints) -> None:
    """The configuration of some variables, all below `below`, by the number of the prefix."""
    first_row = nested.first_row[nested.prefix_row[below]]
    n_prefixes = nested.n_prefixes[below]
    codes[:n_prefixes] = 0
    for i in range(n_tail):
        column, r = nested.codes[tail[i]], arities[tail[i]]
        for number in range(n_prefixes):
            codes[number] = codes[number] * r + column[first_row[number]]


@njit(cache=True, nogil=True)
def count_tail(tables: Tables, d: int, below: int, codes: Ints, prefix: Counts, small: Counts, large: Counts) -> int:
    """Tally the cells of S and some variables below `below`, whose configuration `codes` tells by prefix."""
    k = _smallest(tables, d, below)
    rows, weights, cells = tables.rows[d], tables.weights[d], tables.cells[d]
    n_large = _copy_tally(tables, d, k, small, large)
    in_cell, met = tables.in_cell, tables.met
    first = tables.entry_end[d, k]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = cells[cell]
        n_met = 0
        for e in range(first, last):
            code = codes[prefix[rows[e]]]
            met[n_met] = code
            n_met += in_cell[code] == 0
            in_cell[code] += weights[e]
        for i in range(n_met):
            n_large = _tally(small, large, n_large, in_cell[met[i]])
            in_cell[met[i]] = 0
        first = last
    return n_large
