"""Joint sets counted by bitmaps and Moebius inversion: small arities, every set of the level.

A row P is taken apart into its smallest element p and the suffix above it. The counts of suffix + {x} are worked out
once for all p below the suffix; those of P + {x} with p in state k >= 1 come from the stored blocks, and with p in
state 0 by difference.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.moebius import (
    Bits,
    Blocks,
    and_prefix,
    count_block,
    invert,
    merge_bases,
    suffix_sources,
    suffix_table,
)
from scorecache.counting.subsets import advance, rank_without, sets_before, unrank
from scorecache.counting.terms import count_term
from scorecache.counting.types import Ints, Lattice, Terms, Values
from scorecache.system.compiled import kernel


@kernel
def bitmap_values(
    row_from: int,
    row_to: int,
    lattice: Lattice,
    bits: Bits,
    blocks: Blocks,
    terms: Terms,
    is_top: bool,
    n_bounds: int,
) -> Values:
    """Count the joint sets of the rows `row_from` to `row_to` and sum their terms.

    `lattice` describes the level and `bits` the data, `blocks` has the all-positive entries of the levels below,
    `terms` the one-count terms. At the top level (`is_top`) nothing is kept for a next one; `n_bounds` is the number
    of kinds of children whose superset bounds are asked for.
    """
    # the first row P, and room for the sums over the cells of its sets P + {x}
    n_row, n_vars = lattice.size - 1, lattice.n_vars
    binom, step, kinds, arities = lattice.binom, lattice.step, lattice.kinds, lattice.arities
    words, indicators = bits.words, bits.first
    entries, row_start, level_start = blocks.entries, blocks.row_start, blocks.level_start
    n_base = len(bits.base_size)
    row = np.zeros(n_row, np.int64)
    if n_row > 0:
        unrank(row_from, n_row, n_vars, binom, row)
    first = rank_without(row, n_row, -1, -1, 1, binom)
    n_values = sets_before(row_to, n_row, n_vars, binom) - first
    joint = np.zeros(n_values, np.int64)
    bound = np.zeros((n_bounds, n_values), np.int64)
    n_parts, n_stored = len(terms.parent_start), 0 if is_top else n_values
    parent_value = np.zeros((max(1, n_parts), n_stored), np.int64)
    counted = np.ones(n_stored, np.bool_)
    # where the all-positive entries of these rows stand among those of the level, which are kept for the next one
    level_at, counts_at, n_counts = 0, 0, 0
    if not is_top:
        own_rows = level_start[n_row]
        level_at, counts_at = row_start[own_rows], row_start[own_rows + row_from]
        n_counts = row_start[own_rows + row_to] - counts_at
    counts = np.empty((1, n_counts), np.int32)

    # room for the largest table of a row: arities ascend with the index, so it belongs to the last variables
    most_cells = 1
    stack_start = np.zeros(n_row + 1, np.int64)
    size, at = 1, 1
    for i in range(n_row):
        most_cells *= arities[n_vars - 1 - i]
        size *= arities[n_vars - 1 - i] - 1
        stack_start[n_row - 1 - i] = at
        at += size
    t_most = indicators[n_vars]
    # stack[stack_start[i]:]: the AND of every all-positive configuration of row[i:]; of the empty suffix, all bits set
    stack = np.empty((at, words.shape[1]), np.uint64)
    for w in range(words.shape[1]):
        stack[0, w] = ~np.uint64(0)
    n_configs = np.ones(n_row + 1, np.int64)
    own_block = np.empty(size * n_base * t_most if is_top else 0, np.int32)
    # N(P, x) with x in its states 1.., and N(P); the same of the suffix above the smallest variable, and without class
    table = np.empty(most_cells * n_base * t_most, np.int32)
    total = np.empty(most_cells * n_base, np.int32)
    upper_table = np.empty(most_cells * n_base * t_most, np.int32)
    upper_total = np.empty(most_cells * n_base, np.int32)
    sizes = np.empty(most_cells, np.int64)
    ranks = np.empty(most_cells, np.int64)
    configs = np.empty(most_cells, np.int64)
    starts, shapes = np.empty(n_vars, np.int64), np.empty(n_vars, np.int64)
    value = np.empty(n_vars, np.int64)
    merged_table, merged_total = np.empty(most_cells * t_most, np.int32), np.empty(most_cells, np.int32)

    changed, has_suffix = n_row - 1, False
    for rank in range(row_from, row_to):
        if rank > row_from:
            changed = max(changed, advance(row, n_row))
        x_to = row[0] if n_row > 0 else n_vars
        if x_to == 0:
            continue
        t_to = indicators[x_to]
        # G_(P + {x}) over the all-positive configurations of P and all x below P
        and_prefix(bits, row, changed, stack, stack_start, n_configs)
        own = own_block if is_top else counts[0]
        own_at = 0 if is_top else row_start[level_start[n_row] + rank] - counts_at
        count_block(bits, stack, stack_start[0], n_configs[0], t_to, own, own_at)

        width = n_base * t_to
        n_cells = 1
        if n_row == 0:
            for e in range(width):
                table[e] = own[own_at + e]
            for base in range(n_base):
                total[base] = bits.base_size[base]
        else:
            lowest = row[0]
            suffix = row[1:]
            upper_cells = 1
            for i in range(1, n_row):
                upper_cells *= arities[row[i]]
            upper_t = indicators[row[1]] if n_row > 1 else t_most
            if changed > 0 or not has_suffix:
                # N of suffix + {x}, x below the suffix, and of the suffix alone
                suffix_table(lattice, blocks, bits, suffix, upper_cells, upper_t, upper_table, upper_total)
                has_suffix = True
                suffix_sources(lattice, suffix, upper_cells, sizes, ranks, configs)
            r = arities[lowest]
            n_cells = upper_cells * r
            slab = upper_cells * width
            # N with the lowest variable in state k >= 1: G from the stored blocks, inverted over the suffix
            for k in range(1, r):
                for cell in range(upper_cells):
                    to = k * slab + cell * width
                    if sizes[cell] == n_row - 1:
                        source = own
                        begin = own_at
                    else:
                        source = entries
                        begin = row_start[level_start[sizes[cell] + 1] + ranks[cell] + lowest]
                    begin += (k - 1 + (r - 1) * configs[cell]) * width
                    for e in range(width):
                        table[to + e] = source[begin + e]
                invert(arities, suffix, upper_cells, width, table, k * slab)
            # N(P) for all its states, and in the slab of state 0 N(suffix, x), of which the other states are taken off
            at_lowest = indicators[lowest]
            for cell in range(upper_cells):
                for base in range(n_base):
                    upper = (cell * n_base + base) * upper_t
                    rest = upper_total[cell * n_base + base]
                    for k in range(1, r):
                        count = upper_table[upper + at_lowest + k - 1]
                        total[(k * upper_cells + cell) * n_base + base] = count
                        rest -= count
                    total[cell * n_base + base] = rest
                    to = cell * width + base * t_to
                    for t in range(t_to):
                        table[to + t] = upper_table[upper + t]
            for k in range(1, r):
                for e in range(slab):
                    table[e] -= table[k * slab + e]
        changed = 0

        # the shapes of P + {x} and where their terms begin
        binary = arities[0] == 2 and arities[x_to - 1] == 2
        shape_p = 0
        for i in range(n_row):
            shape_p = step[shape_p, kinds[row[i]]]
        for x in range(x_to):
            shapes[x] = step[shape_p, kinds[x]]
            starts[x] = terms.cell_start[shapes[x]]
            value[x] = 0
        # the joint value: the cell terms of P + {x}, and where asked for those with the class summed out
        _add_terms(terms, starts, shapes, table, total, n_cells * n_base, indicators, x_to, binary, value)
        if terms.marginal_start >= 0:
            merge_bases(n_cells, n_base, t_to, table, merged_table)
            merge_bases(n_cells, n_base, 1, total, merged_total)
            for x in range(x_to):
                starts[x] = terms.marginal_start
            _add_terms(terms, starts, shapes, merged_table, merged_total, n_cells, indicators, x_to, binary, value)
        rank_s = rank_without(row, n_row, -1, -1, 1, binom)
        for x in range(x_to):
            joint[rank_s - first + x] = value[x]
        if is_top:
            continue
        # the parents' part of its supersets, and the bound on their scores
        to = rank_s - first
        if n_parts == 0:
            for x in range(x_to):
                parent_value[0, to + x] = -value[x]
        for kind in range(n_parts):
            for x in range(x_to):
                starts[x] = terms.parent_start[kind]
                value[x] = 0
            _add_terms(terms, starts, shapes, table, total, n_cells * n_base, indicators, x_to, binary, value)
            for x in range(x_to):
                parent_value[kind, to + x] = value[x]
        for kind in range(n_bounds):
            for x in range(x_to):
                starts[x] = terms.bound_start[kind]
                value[x] = 0
            _add_terms(terms, starts, shapes, table, total, n_cells * n_base, indicators, x_to, binary, value)
            for x in range(x_to):
                bound[kind, to + x] = value[x]
    return Values(first, joint, bound, parent_value, counted, counts, counts_at - level_at)


@kernel
def _add_terms(
    terms: Terms,
    starts: Ints,
    shapes: Ints,
    counts: NDArray[np.int32],
    total: NDArray[np.int32],
    n_cells: int,
    indicators: Ints,
    x_to: int,
    binary: bool,
    value: Ints,
) -> None:
    """Add the terms of every cell of P to `value[x]`: states 1.. of each x, and state 0 by difference.

    The terms of P + {x} begin at `starts[x]` and have the shape `shapes[x]`. The counts are N(P, x) in `counts`, of the
    indicators of all x below `x_to`, and N(P) in `total`, both by cell. `binary`: every x has two states and the same
    start.
    """
    table, t_to = terms.table, indicators[x_to]
    # some count lies past the tables of terms: evaluate it
    largest = 0
    for cell in range(n_cells):
        largest = max(largest, total[cell])
    if terms.cap <= largest:
        for cell in range(n_cells):
            for x in range(x_to):
                rest = total[cell]
                for t in range(indicators[x], indicators[x + 1]):
                    rest -= counts[cell * t_to + t]
                    value[x] += count_term(terms, starts[x], shapes[x], counts[cell * t_to + t])
                value[x] += count_term(terms, starts[x], shapes[x], rest)
    # one indicator a variable: N(P, x = 1) and the rest
    elif binary:
        start = starts[0]
        for cell in range(n_cells):
            all_rows = start + total[cell]
            for x in range(x_to):
                n = counts[cell * t_to + x]
                value[x] += table[start + n] + table[all_rows - n]
    else:
        for cell in range(n_cells):
            for x in range(x_to):
                rest = starts[x] + total[cell]
                added = 0
                for t in range(indicators[x], indicators[x + 1]):
                    n = counts[cell * t_to + t]
                    rest -= n
                    added += table[starts[x] + n]
                value[x] += added + table[rest]
