"""Joint sets of many variables, counted by nested tables; sets that no live family needs are not counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import family_needed, parents_needed
from scorecache.counting.nested import Nested, new_tables, start
from scorecache.counting.nested_count import count, count_tail, tail_codes
from scorecache.counting.nested_refine import project, project_once, refine
from scorecache.counting.row_values import first_row, new_values, shape_of
from scorecache.counting.subsets import advance, rank_without, ranks_below
from scorecache.counting.terms import count_term
from scorecache.counting.types import Counts, Ints, Lattice, Rules, Slab, Terms, Values
from scorecache.system.compiled import kernel

FEWEST_REFINED = 3
"""With fewer joint sets P + {x} to count, P itself is not worth a table."""

MOST_TAIL_CELLS = 32
"""Most cells of the smallest variables of a joint set that are counted without a table of their own."""


class NestedRows(NamedTuple):
    """Rows in nested order, their weights, and the labels that cells start from.

    `roots[0]` numbers the base configurations; `roots[1]`, where a marginal is asked for, those without the class.
    Cells of at least `n_small` rows are listed one by one, and there are at most `n_large` of them.
    """

    nested: Nested
    weights: Ints
    roots: NDArray[np.int32]
    n_roots: Ints
    n_small: int
    n_large: int


@kernel
def nested_values(
    row_from: int,
    row_to: int,
    x_from: int,
    parents_only: bool,
    rows: NestedRows,
    lattice: Lattice,
    terms: Terms,
    rules: Rules,
    known: Slab,
    is_top: bool,
) -> Values:
    """Count the joint sets of these rows that have a live family.

    `known` is the level below. With `parents_only` it is this level, scored already, and what is counted are the sets
    that were passed over but may still be the parents of some child.
    """
    # P, and room for the sums over the cells of P + {x}
    n_row, n_vars = lattice.size - 1, lattice.n_vars
    nested, n_roots = rows.nested, rows.roots.shape[0]
    row = first_row(row_from, lattice)
    values = new_values(row, row_to, x_from, parents_only, lattice, terms, rules, known, is_top)
    first, joint, bound = values.first, values.joint, values.bound
    parent_value, counted = values.parent_value, values.counted
    n_parts, n_bounds = len(terms.parent_start), len(bound)
    at_below = np.zeros(n_row + 1, np.int64)
    members = np.empty(n_row + 2, np.int64)
    # line root * (n_row + 1) + i has the tables of the base and row[i:]
    n_lines = n_row + 1
    n_cells = MOST_TAIL_CELLS
    for v in range(n_vars):
        n_cells = max(n_cells, lattice.arities[v])
    tables = new_tables(n_roots * n_lines, nested, rows.n_small, rows.n_large, n_cells)
    for root in range(n_roots):
        line = root * n_lines + n_row
        start(tables, line, rows.roots[root], rows.n_roots[root], rows.weights, n_vars)
        project(tables, line, n_row, nested)
    small = np.empty(rows.n_small, np.int32)
    large = np.empty(rows.n_large, np.int32)
    needed = np.empty(n_vars, np.bool_)
    tail = np.empty(n_row + 1, np.int64)
    codes = np.empty(nested.first_row.shape[1], np.int64)

    stale = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        shape_p = shape_of(row, lattice)
        at = rank_without(row, n_row, -1, -1, 1, lattice.binom) - first
        ranks_below(row, n_row, lattice.binom, at_below)
        # which P + {x} are counted at all
        x_to = row[0] if n_row > 0 else n_vars
        n_needed = 0
        for x in range(x_from, x_to):
            if parents_only:
                needed[x] = not counted[at + x] and parents_needed(lattice, row, x, known, members)
            else:
                needed[x] = family_needed(lattice, row, x, rules, known, at_below)
            n_needed += needed[x]
        if n_needed == 0:
            continue
        # the table of P, or for few x that of P without its smallest variables, the tail
        n_tail = 0 if n_needed >= FEWEST_REFINED else _tail_length(lattice, row, nested)
        for root in range(n_roots):
            for i in range(stale, n_tail - 1, -1):
                line = root * n_lines + i
                refine(tables, line + 1, row[i], lattice.arities[row[i]], nested, line)
                if i > 0:
                    project(tables, line, i, nested)
        stale = min(stale, n_tail - 1)
        top = row[n_tail - 1] + 1 if n_tail > 0 else 0
        for x in range(x_to - 1, x_from - 1, -1):
            if not needed[x]:
                continue
            # the cells of P + {x}: without the class first (root 1), so that the tallies of the whole set remain
            shape = lattice.step[shape_p, lattice.kinds[x]]
            if n_tail > 0:
                for i in range(n_tail):
                    tail[i] = row[i]
                tail[n_tail] = x
                tail_codes(nested, top, tail, n_tail + 1, lattice.arities, codes)
            prefix = nested.prefix[nested.prefix_row[top]]
            value = 0
            n_large = 0
            for root in range(n_roots - 1, -1, -1):
                line = root * n_lines
                if n_tail > 0:
                    n_large = count_tail(tables, line + n_tail, top, codes, prefix, small, large)
                else:
                    project_once(tables, line, x + 1, nested)
                    n_large = count(tables, line, x, lattice.arities[x], nested, small, large)
                begin = terms.marginal_start if root == 1 else terms.cell_start[shape]
                value += _sum_terms(terms, begin, shape, small, large, n_large)
            joint[at + x] = value
            if is_top:
                continue
            # the parents' part of its supersets, and the bound on their scores
            counted[at + x] = True
            if n_parts == 0:
                parent_value[0, at + x] = -value
            for kind in range(n_parts):
                parent_value[kind, at + x] = _sum_terms(terms, terms.parent_start[kind], shape, small, large, n_large)
            for kind in range(n_bounds):
                bound[kind, at + x] = _sum_terms(terms, terms.bound_start[kind], shape, small, large, n_large)
    return values


@kernel
def _tail_length(lattice: Lattice, row: Ints, nested: Nested) -> int:
    """How many of the smallest variables of a row, and x below them, are counted at once."""
    n_tail, n_cells = 0, lattice.arities[row[0]]
    while n_tail < lattice.size - 1:
        n_cells *= lattice.arities[row[n_tail]]
        if n_cells > MOST_TAIL_CELLS or nested.n_prefixes[row[n_tail] + 1] > nested.first_row.shape[1]:
            break
        n_tail += 1
    return n_tail


@kernel
def _sum_terms(terms: Terms, begin: int, shape: int, small: Counts, large: Counts, n_large: int) -> int:
    """The terms of all cells that were tallied; no small weight reaches the cap."""
    table, total = terms.table, 0
    for weight in range(1, len(small)):
        total += small[weight] * table[begin + weight]
    for i in range(n_large):
        total += count_term(terms, begin, shape, large[i])
    return total
