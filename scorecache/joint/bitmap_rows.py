"""Rows of joint sets counted by bitmaps and Moebius inversion: small arities, every set of the level."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.moebius import Bits, Blocks, and_prefix, count_block, gather, invert
from scorecache.counting.subsets import advance, rank_without, unrank
from scorecache.joint.families import count_term, grow, row_of_families
from scorecache.joint.types import Floats, Ints, Lattice, Rules, State, Terms


@njit(cache=True, nogil=True)
def _add_terms(
    terms: Terms,
    starts: Ints,
    shapes: Ints,
    counts: NDArray[np.int32],
    at: int,
    total: int,
    first: Ints,
    n_binary: int,
    x_to: int,
    value: Ints,
) -> None:
    """Add the terms of one cell of P and one base configuration: states 1.. of every x, and state 0 by difference."""
    full = terms.cap > total
    x = 0
    if full:
        while x < min(n_binary, x_to):
            n = counts[at + x]
            start = starts[x]
            value[x] += terms.table[start + n] + terms.table[start + total - n]
            x += 1
    while x < x_to:
        rest = total
        added = 0
        for t in range(first[x], first[x + 1]):
            n = counts[at + t]
            rest -= n
            added += count_term(terms, starts[x], shapes[x], n)
        value[x] += added + count_term(terms, starts[x], shapes[x], rest)
        x += 1


@njit(cache=True, nogil=True)
def bitmap_rows(
    row_from: int,
    row_to: int,
    lattice: Lattice,
    bits: Bits,
    blocks: Blocks,
    terms: Terms,
    rules: Rules,
    below: State,
    here: State,
    is_top: bool,
) -> tuple[Ints, Floats, NDArray[np.int32]]:
    """Count, score and prune the rows of these ranks; the surviving families (child, score, parents)."""
    m = lattice.size
    n_row = m - 1
    n_bitmap = lattice.n_vars
    n_base = len(bits.base_size)
    row = np.zeros(max(n_row, 1), np.int64)
    if n_row > 0:
        unrank(row_from, n_row, n_bitmap, lattice.binom, row)

    most_cells = 1
    most_configs = np.ones(n_row + 1, np.int64)
    for i in range(n_row):
        # arities ascend with the index, so the last bitmap variables give the largest tables
        most_cells *= lattice.arities[n_bitmap - 1 - i]
        most_configs[n_row - 1 - i] = most_configs[n_row - i] * (lattice.arities[n_bitmap - 1 - i] - 1)
    depth_start = np.zeros(n_row + 1, np.int64)
    for i in range(n_row):
        depth_start[i + 1] = depth_start[i] + most_configs[i]
    t_most = bits.first[n_bitmap]
    stack = np.empty((max(depth_start[n_row], 1), bits.words.shape[1]), np.uint64)
    n_configs = np.ones(n_row + 1, np.int64)
    own_block = np.empty(most_configs[0] * n_base * t_most if is_top else 0, np.int32)
    table = np.empty(most_cells * n_base * t_most, np.int32)
    row_table = np.empty(most_cells * n_base, np.int32)
    marginal = np.empty(t_most, np.int32)
    value = np.empty(n_bitmap, np.int64)
    parent = np.empty(n_bitmap, np.int64)
    n_bounds = len(terms.bound_start) if rules.prune and not is_top else 0
    bound = np.empty((n_bounds, n_bitmap), np.int64)
    shapes = np.empty(n_bitmap, np.int64)
    starts = np.empty(n_bitmap, np.int64)
    plain = np.empty(n_bitmap, np.int64)
    scratch = np.empty((2, n_bitmap), np.float64)
    n_binary = 0
    while n_binary < n_bitmap and lattice.arities[n_binary] == 2 and bits.first[n_binary] == n_binary:
        n_binary += 1
    out_child = np.empty(256, np.int64)
    out_score = np.empty(256, np.float64)
    out_parents = np.empty((256, max(n_row, 1)), np.int32)
    n_out = 0

    changed = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            changed = max(changed, advance(row, n_row))
        x_to = row[0] if n_row > 0 else n_bitmap
        if x_to == 0:
            continue
        t_to = bits.first[x_to]
        if n_row > 0:
            and_prefix(bits, row, n_row, changed, stack, depth_start, n_configs)
        changed = 0
        own = own_block if is_top else blocks.entries
        own_at = 0 if is_top else blocks.row_start[blocks.level_start[n_row] + rank]
        count_block(bits, stack, depth_start[0] if n_row > 0 else -1, n_configs[0], t_to, n_base, own, own_at)

        n_cells = 1
        shape_p = 0
        for i in range(n_row):
            n_cells *= lattice.arities[row[i]]
            shape_p = lattice.step[shape_p, lattice.kinds[row[i]]]
        gather(lattice.binom, lattice.arities, blocks, bits, row, n_row, n_cells, own, own_at, t_to, n_base, table, row_table)
        invert(lattice.arities, row, n_row, n_cells, n_base * t_to, table)
        invert(lattice.arities, row, n_row, n_cells, n_base, row_table)

        for x in range(x_to):
            shapes[x] = lattice.step[shape_p, lattice.kinds[x]]
            starts[x] = terms.cell_start[shapes[x]]
            value[x] = 0
        for cell in range(n_cells):
            for base in range(n_base):
                at = (cell * n_base + base) * t_to
                total = row_table[cell * n_base + base]
                _add_terms(terms, starts, shapes, table, at, total, bits.first, n_binary, x_to, value)
        if terms.marginal_start >= 0:
            plain[:x_to] = terms.marginal_start
            for cell in range(n_cells):
                marginal[:t_to] = 0
                total = 0
                for base in range(n_base):
                    total += row_table[cell * n_base + base]
                    at = (cell * n_base + base) * t_to
                    for t in range(t_to):
                        marginal[t] += table[at + t]
                _add_terms(terms, plain, shapes, marginal, 0, total, bits.first, n_binary, x_to, value)

        first_rank = rank_without(row, n_row, -1, -1, 1, lattice.binom)
        if not is_top:
            if len(terms.parent_start) == 0:
                for x in range(x_to):
                    here.parent_value[0, first_rank + x] = -value[x]
            for kind in range(len(terms.parent_start)):
                plain[:x_to] = terms.parent_start[kind]
                parent[:x_to] = 0
                for cell in range(n_cells * n_base):
                    _add_terms(
                        terms, plain, shapes, table, cell * t_to, row_table[cell], bits.first, n_binary, x_to, parent
                    )
                for x in range(x_to):
                    here.parent_value[kind, first_rank + x] = parent[x]
            for kind in range(n_bounds):
                plain[:x_to] = terms.bound_start[kind]
                bound[kind, :x_to] = 0
                for cell in range(n_cells * n_base):
                    _add_terms(
                        terms, plain, shapes, table, cell * t_to, row_table[cell], bits.first, n_binary, x_to, bound[kind]
                    )
            for x in range(x_to):
                here.counted[first_rank + x] = True
        if n_out + m * x_to > len(out_child):
            out_child, out_score, out_parents = grow(n_out + m * x_to, out_child, out_score, out_parents)
        n_out = row_of_families(
            lattice, row, 0, x_to, value, bound, terms.unit, rules, below, here, is_top, scratch,
            out_child, out_score, out_parents, n_out,
        )  # fmt: skip
    return out_child[:n_out].copy(), out_score[:n_out].copy(), out_parents[:n_out].copy()
