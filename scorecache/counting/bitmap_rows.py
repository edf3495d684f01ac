"""Joint sets counted by bitmaps and Moebius inversion: small arities, every set of the level.

A row P is taken apart into its smallest element p and the suffix above it. The counts of suffix + {x} are worked out
once for all p below the suffix; those of P + {x} with p in state k >= 1 come from the stored blocks, and with p in
state 0 by difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.moebius import (
    ALL_BITS,
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
from scorecache.counting.sums import NO_COUNTS, Sums, new_sums, values_of
from scorecache.counting.terms import count_term
from scorecache.counting.types import Counts, Ints, Lattice, Terms, Values
from scorecache.system.compiled import kernel


class Room(NamedTuple):
    """What the kernel works with.

    `stack` has the ANDs of every all-positive configuration of P[i:], `own_block` those of P + {x} at the top level.
    `table` and `total` have N(P, x), with x in its states 1.., and N(P); the next pair those of the suffix above the
    smallest variable of P, the last those of P without the class.
    """

    row: Ints
    stack: NDArray[np.uint64]
    stack_start: Ints
    n_configs: Ints
    own_block: Counts
    table: Counts
    total: Counts
    upper_table: Counts
    upper_total: Counts
    merged_table: Counts
    merged_total: Counts
    sizes: Ints
    ranks: Ints
    configs: Ints
    starts: Ints
    shapes: Ints


class Cells(NamedTuple):
    """N(P, x), of the indicators of all x below P, and N(P), both by cell of P."""

    counts: Counts
    total: Counts
    n: int


class Below(NamedTuple):
    """The variables x below P, as many as `n`: the states 1.. of x have the indicators first[x] to first[x + 1].

    The terms of P + {x} begin at `starts[x]` and have the shape `shapes[x]`. `binary`: every x has two states and the
    same start.
    """

    n: int
    first: Ints
    starts: Ints
    shapes: Ints
    binary: bool


def bitmap_values(row_from: int, row_to: int, lattice: Lattice, bits: Bits, blocks: Blocks, terms: Terms) -> Values:
    """Count the joint sets of the rows `row_from` to `row_to` and sum their terms.

    `lattice` describes the level and `bits` the data, `blocks` has the all-positive entries of the levels below,
    `terms` the one-count terms.
    """
    n_row, n_vars, binom = lattice.size - 1, lattice.n_vars, lattice.binom
    first = sets_before(row_from, n_row, 1, n_vars, binom)
    sums = new_sums(sets_before(row_to, n_row, 1, n_vars, binom) - first, terms, is_top=lattice.is_top)
    # where the all-positive entries of these rows stand among those of the level, which are kept for the next one
    counts, counts_at, level_at = NO_COUNTS, 0, 0
    if not lattice.is_top:
        own_rows = int(blocks.level_start[n_row])
        level_at, counts_at = int(blocks.row_start[own_rows]), int(blocks.row_start[own_rows + row_from])
        counts = np.empty((1, int(blocks.row_start[own_rows + row_to]) - counts_at), np.int32)
    # room for the largest table of a row: arities ascend with the index, so it belongs to the last variables
    last = lattice.arities[n_vars - n_row : n_vars]
    n_configs = np.cumprod([1, *(last[::-1] - 1)])
    stack_start = np.ascontiguousarray(np.cumsum([0, *n_configs[:-1]])[::-1])
    stack = np.empty((int(n_configs.sum()), bits.words.shape[1]), np.uint64)
    stack[0] = ALL_BITS
    n_base, n_cells, t_most = len(bits.base_size), int(np.prod(last)), int(bits.first[n_vars])
    room = Room(
        row=unrank(row_from, n_row, binom),
        stack=stack,
        stack_start=stack_start,
        n_configs=np.ones(n_row + 1, np.int64),
        own_block=np.empty(int(n_configs[-1]) * n_base * t_most if lattice.is_top else 0, np.int32),
        table=np.empty(n_cells * n_base * t_most, np.int32),
        total=np.empty(n_cells * n_base, np.int32),
        upper_table=np.empty(n_cells * n_base * t_most, np.int32),
        upper_total=np.empty(n_cells * n_base, np.int32),
        merged_table=np.empty(n_cells * t_most, np.int32),
        merged_total=np.empty(n_cells, np.int32),
        sizes=np.empty(n_cells, np.int64),
        ranks=np.empty(n_cells, np.int64),
        configs=np.empty(n_cells, np.int64),
        starts=np.empty(n_vars, np.int64),
        shapes=np.empty(n_vars, np.int64),
    )
    _count_rows(row_from, row_to, first, counts_at, lattice, bits, blocks, terms, sums, counts, room)
    return values_of(first, sums, terms, is_top=lattice.is_top, counts=counts, counts_at=counts_at - level_at)


@kernel
def _count_rows(
    row_from: int,
    row_to: int,
    first: int,
    counts_at: int,
    lattice: Lattice,
    bits: Bits,
    blocks: Blocks,
    terms: Terms,
    sums: Sums,
    counts: Counts,
    room: Room,
) -> None:
    """Sum the terms of the joint sets of these rows, the first of them of rank `first`.

    `counts` keeps the all-positive entries for the levels above, from `counts_at` on, unless this level is the top one.
    """
    n_row, n_vars = lattice.size - 1, lattice.n_vars
    binom, step, kinds, arities = lattice.binom, lattice.step, lattice.kinds, lattice.arities
    indicators, n_base, t_most = bits.first, len(bits.base_size), bits.first[n_vars]
    entries, row_start, level_start = blocks.entries, blocks.row_start, blocks.level_start
    row, table, total, upper_table, upper_total = room.row, room.table, room.total, room.upper_table, room.upper_total
    sizes, ranks, configs = room.sizes, room.ranks, room.configs
    starts, shapes = room.starts, room.shapes
    changed, has_suffix = n_row - 1, False
    for rank in range(row_from, row_to):
        if rank > row_from:
            changed = max(changed, advance(row, n_row))
        x_to = row[0] if n_row > 0 else n_vars
        if x_to == 0:
            continue
        t_to = indicators[x_to]
        # G_(P + {x}) over the all-positive configurations of P and all x below P
        and_prefix(bits, row, changed, room.stack, room.stack_start, room.n_configs)
        own = room.own_block if lattice.is_top else counts[0]
        own_at = 0 if lattice.is_top else row_start[level_start[n_row] + rank] - counts_at
        count_block(bits, room.stack, room.stack_start[0], room.n_configs[0], t_to, own, own_at)

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
        variables = Below(x_to, indicators, starts, shapes, binary)
        at = rank_without(row, n_row, -1, -1, 1, binom) - first
        # the joint value, the parents' part of the supersets, the bounds on their scores
        for line in range(len(sums.start)):
            for x in range(x_to):
                starts[x] = terms.cell_start[shapes[x]] if line == 0 else sums.start[line]
            _add_terms(terms, variables, Cells(table, total, n_cells * n_base), sums.values[line], at)
        # the part of the joint value with the class summed out, where asked for
        if terms.marginal_start >= 0:
            merge_bases(n_cells, n_base, t_to, table, room.merged_table)
            merge_bases(n_cells, n_base, 1, total, room.merged_total)
            for x in range(x_to):
                starts[x] = terms.marginal_start
            merged = Cells(room.merged_table, room.merged_total, n_cells)
            _add_terms(terms, variables, merged, sums.values[0], at)


@kernel
def _add_terms(terms: Terms, variables: Below, cells: Cells, value: Ints, to: int) -> None:
    """Add the terms of every cell of P to `value[to + x]`: states 1.. of each x, and state 0 by difference."""
    x_to, indicators, starts, shapes = variables.n, variables.first, variables.starts, variables.shapes
    counts, total, n_cells = cells.counts, cells.total, cells.n
    table, t_to = terms.table, indicators[x_to]
    # some count lies past the tables of terms: evaluate it
    largest = 0
    for cell in range(n_cells):
        largest = max(largest, total[cell])
    if terms.cap <= largest:
        for cell in range(n_cells):
            for x in range(x_to):
                rest = np.int64(total[cell])
                for t in range(indicators[x], indicators[x + 1]):
                    n = np.int64(counts[cell * t_to + t])
                    rest -= n
                    value[to + x] += count_term(terms, starts[x], shapes[x], n)
                value[to + x] += count_term(terms, starts[x], shapes[x], rest)
    # one indicator a variable: N(P, x = 1) and the rest
    elif variables.binary:
        start = starts[0]
        for cell in range(n_cells):
            all_rows = start + total[cell]
            for x in range(x_to):
                n = counts[cell * t_to + x]
                value[to + x] += table[start + n] + table[all_rows - n]
    else:
        for cell in range(n_cells):
            if total[cell] == 0:  # as most cells of three variables with four states are
                continue
            at = np.uint64(cell * t_to)  # unsigned indices spare numba's test for negative ones
            for x in range(np.uint64(x_to)):
                first, added = np.uint64(starts[x]), 0
                state_0 = first + np.uint64(total[cell])
                for t in range(np.uint64(indicators[x]), np.uint64(indicators[x + np.uint64(1)])):
                    count = np.uint64(counts[at + t])
                    state_0 -= count
                    added += int(table[first + count])
                value[np.uint64(to) + x] += added + table[state_0]
