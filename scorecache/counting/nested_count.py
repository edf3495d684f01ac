"""The cells of S and further variables, tallied from a nested table of S."""

from __future__ import annotations

from scorecache.counting.nested import Counts, Ints, Nested, Tables, copy_tally, smallest, tally
from scorecache.system.compiled import kernel


@kernel
def count(tables: Tables, d: int, x: int, arity: int, nested: Nested, small: Counts, large: Counts) -> int:
    """Tally the cells of S + {x}, S being that of line d; the number of those in `large`."""
    k = smallest(tables, d, x + 1)
    column = nested.codes[x]
    rows, weights, cells = tables.rows[d], tables.weights[d], tables.cells[d]
    n_large = copy_tally(tables, d, k, small, large)
    first = tables.entry_end[d, k]
    # two states: N(S, 1) is a sum over the entries of the cell, N(S, 0) what is left of N(S)
    if arity == 2:
        for cell in range(tables.cell_end[d, k], tables.cell_end[d, k + 1]):
            last = cells[cell]
            total = ones = 0
            for e in range(first, last):
                total += weights[e]
                ones += weights[e] * column[rows[e]]
            first = last
            if ones > 0:
                n_large = tally(small, large, n_large, ones)
            if ones < total:
                n_large = tally(small, large, n_large, total - ones)
        return n_large
    # more: N(S, k) by state, and the states that were met, so that only these are tallied and cleared
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
            n_large = tally(small, large, n_large, in_state[met[i]])
            in_state[met[i]] = 0
        first = last
    return n_large


@kernel
def tail_codes(nested: Nested, below: int, tail: Ints, n_tail: int, arities: Ints, codes: Ints) -> None:
    """The configuration of some variables, all below `below`, by the number of the prefix."""
    # rows of one prefix agree on all these variables: the first row of each speaks for them
    first_row = nested.first_row[nested.prefix_row[below]]
    n_prefixes = nested.n_prefixes[below]
    codes[:n_prefixes] = 0
    for i in range(n_tail):
        column, r = nested.codes[tail[i]], arities[tail[i]]
        for number in range(n_prefixes):
            codes[number] = codes[number] * r + column[first_row[number]]


@kernel
def count_tail(tables: Tables, d: int, below: int, codes: Ints, prefix: Counts, small: Counts, large: Counts) -> int:
    """Tally the cells of S and some variables below `below`, whose configuration `codes` tells by prefix."""
    k = smallest(tables, d, below)
    rows, weights, cells = tables.rows[d], tables.weights[d], tables.cells[d]
    n_large = copy_tally(tables, d, k, small, large)
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
            n_large = tally(small, large, n_large, in_cell[met[i]])
            in_cell[met[i]] = 0
        first = last
    return n_large
