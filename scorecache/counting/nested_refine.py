"""Larger sets and fewer variables: from nested tables of S to those of S + {u}, and from (S, v) to (S, u)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.nested import MERGED_SHARE, Counts, Nested, Tables, close, copy_tally, smallest, tally
from scorecache.system.compiled import kernel

PROMISING = 1.5
"""A projection is tried if it cannot leave more than this many times the entries there are."""


@kernel
def refine(tables: Tables, d: int, u: int, arity: int, nested: Nested, to: int) -> None:
    """Begin line `to` with the table (S + {u}, u), from the tables of S in line d."""
    k = smallest(tables, d, u + 1)
    small, large = tables.small[to, 0], tables.large[to, 0]
    n_large = copy_tally(tables, d, k, small, large)
    tables.n_large[to, 0] = n_large
    column, prefix = nested.codes[u], nested.prefix[nested.prefix_row[u + 1]]
    if arity == 2:
        _part_in_two(tables, d, k, column, prefix, to)
    else:
        _part(tables, d, k, column, prefix, to)
    tables.n_kept[to] = 1
    tables.below[to, 0] = u


@kernel
def _part(tables: Tables, d: int, k: int, column: NDArray[np.uint16], prefix: Counts, to: int) -> None:
    """Part the cells of table k of line d by the states of u, whose column this is, into the first table of `to`."""
    known_rows, known_weights, known_cells = tables.rows[d], tables.weights[d], tables.cells[d]
    rows, weights, cells = tables.rows[to], tables.weights[to], tables.cells[to]
    small, large, held = tables.small[to, 0], tables.large[to, 0], tables.held
    n_large = tables.n_large[to, 0]
    in_state, met, place = tables.in_cell, tables.met, tables.place
    at = n_cells = 0
    first = tables.entry_end[d, k]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = known_cells[cell]
        # merge entries that agree on the variables up to u into `held`, and count those of each state of u
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
        # one new cell for each state that was met, room for its entries; a single entry gets no cell
        for i in range(n_met):
            place[met[i]] = at
            if in_state[met[i]] > 1:
                at += in_state[met[i]]
                cells[n_cells] = at
                n_cells += 1
        # the entries to their cells, in their order; single ones to the tally
        for e in range(n):
            state = column[held[0, e]]
            if in_state[state] == 1:
                n_large = tally(small, large, n_large, held[1, e])
            else:
                rows[place[state]] = held[0, e]
                weights[place[state]] = held[1, e]
                place[state] += 1
        for i in range(n_met):
            in_state[met[i]] = 0
    tables.entry_end[to, 1] = at
    tables.cell_end[to, 1] = n_cells
    tables.n_large[to, 0] = n_large


@kernel
def _part_in_two(tables: Tables, d: int, k: int, column: NDArray[np.uint16], prefix: Counts, to: int) -> None:
    """The same for two states: each entry is written to both new cells, and only the end of its own one advances."""
    known_rows, known_weights, known_cells = tables.rows[d], tables.weights[d], tables.cells[d]
    rows, weights, cells = tables.rows[to], tables.weights[to], tables.cells[to]
    small, large, held = tables.small[to, 0], tables.large[to, 0], tables.held
    n_large = tables.n_large[to, 0]
    at = n_cells = 0
    first = tables.entry_end[d, k]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = known_cells[cell]
        # merged entries of state 0 go to their place from `at` on, those of state 1 to `held`
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
        # close the cell of state 0, then copy that of state 1 behind it; single entries go to the tally
        if zeros == at + 1:
            n_large = tally(small, large, n_large, weights[at])
        elif zeros > at:
            at = zeros
            cells[n_cells] = at
            n_cells += 1
        if ones == 1:
            n_large = tally(small, large, n_large, held[1, 0])
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


@kernel
def project(tables: Tables, d: int, least: int, nested: Nested) -> None:
    """Add tables (S, u) with falling u >= least to line d, wherever that leaves few enough entries."""
    for u in range(tables.below[d, tables.n_kept[d] - 1] - 1, least - 1, -1):
        project_once(tables, d, u, nested)


@kernel
def project_once(tables: Tables, d: int, u: int, nested: Nested) -> None:
    """Add the table (S, u) to line d, if that promises to leave few enough entries, and does."""
    k = tables.n_kept[d] - 1
    n_entries = tables.entry_end[d, k + 1] - tables.entry_end[d, k]
    n_cells = tables.cell_end[d, k + 1] - tables.cell_end[d, k]
    if u < tables.below[d, k] and n_cells * nested.n_prefixes[u] <= PROMISING * n_entries:
        _project(tables, d, u, nested.prefix[nested.prefix_row[u]])


@kernel
def _project(tables: Tables, d: int, u: int, prefix: Counts) -> None:
    """Add the table (S, u) if it is smaller by the merged share than the last one."""
    k = tables.n_kept[d] - 1
    rows, weights, cells = tables.rows[d], tables.weights[d], tables.cells[d]
    small, large = tables.small[d, k + 1], tables.large[d, k + 1]
    n_large = copy_tally(tables, d, k, small, large)
    first, end = tables.entry_end[d, k], tables.entry_end[d, k + 1]
    most = end + int(MERGED_SHARE * (end - first))
    at, cell_at = end, tables.cell_end[d, k + 1]
    for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
        last = cells[cell]
        if at + last - first > len(rows):
            return
        # merge the entries of the cell that agree on the variables below u
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
        # a single entry leaves the table; give up once the projection is not smaller by the merged share
        if n == at + 1:
            n_large = tally(small, large, n_large, weights[at])
        else:
            at = n
            cells[cell_at] = at
            cell_at += 1
        if at > most:
            return
    close(tables, d, k + 1, u, at, cell_at, n_large)
