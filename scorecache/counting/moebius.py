"""Counting by population counts and Moebius inversion: small arities, any number of rows.

For a joint set S, write G_S(k) for the number of rows with X_i = k_i for all i with k_i >= 1, the other variables left
free. G over the all-positive k of S costs one AND and population count per configuration; every other entry of G_S is
an all-positive entry of a subset. The counts follow dimension by dimension:

    N(.., 0, ..) = G(.., 0, ..) - sum_{k >= 1} N(.., k, ..)

The all-positive entries of a row P + {x} are one block laid out [configuration of P][base configuration][indicator of
x], the indicators of all x below P side by side, so that every step is a loop over a run of memory. The loops index
whole arrays: a slice costs numba two atomic reference counts, more than the run itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.types import Counts, Ints, Lattice
from scorecache.system.compiled import kernel, popcount

ALL_BITS = np.uint64(2**64 - 1)


class Blocks(NamedTuple):
    """All-positive entries of every row of the levels below: row P of level z + 1 begins at start[z][rank(P)].

    `level_start[z]` is where the row offsets of level z + 1 begin in `row_start`.
    """

    entries: Counts
    row_start: Ints
    level_start: Ints


class Bits(NamedTuple):
    """The indicator bitmaps and their segments (see `scorecache.counting.bitmap`), and the size of each base part."""

    words: NDArray[np.uint64]
    first: Ints
    segment_start: Ints
    segment_base: Ints
    segment_shift: Ints
    base_size: Ints


@kernel
def and_prefix(
    bits: Bits, row: Ints, changed: int, stack: NDArray[np.uint64], stack_start: Ints, n_configs: Ints
) -> None:
    """Refresh the ANDs of the row's suffixes from position `changed` down; configurations with the smallest fastest.

    The suffix that begins at position i has `n_configs[i]` all-positive configurations from `stack_start[i]` on; the
    empty suffix is one configuration with all bits set.
    """
    words, first = bits.words, bits.first
    n_words = words.shape[1]
    for i in range(changed, -1, -1):
        v = row[i]
        r1 = first[v + 1] - first[v]
        n_configs[i] = n_configs[i + 1] * r1
        for b in range(n_configs[i + 1]):
            for k in range(r1):
                target = stack_start[i] + b * r1 + k
                source = stack_start[i + 1] + b
                for w in range(n_words):
                    stack[target, w] = stack[source, w] & words[first[v] + k, w]


@kernel
def count_block(
    bits: Bits,
    prefix: NDArray[np.uint64],
    prefix_from: int,
    n_configs: int,
    t_to: int,
    block: Counts,
    at: int,
) -> None:
    """Write the all-positive entries of a row to `block`, from `at` on: population counts, segment by segment.

    `prefix` holds the ANDs of the row's `n_configs` configurations from `prefix_from` on; they are ANDed with the first
    `t_to` indicators.
    """
    words, segment_start, segment_base = bits.words, bits.segment_start, bits.segment_base
    segment_shift, n_base = bits.segment_shift, len(bits.base_size)
    block[at : at + n_configs * n_base * t_to] = 0
    for b in range(n_configs):
        for segment in range(len(segment_base)):
            to = at + (b * n_base + segment_base[segment]) * t_to
            shift = np.uint64(segment_shift[segment])
            begin, end = segment_start[segment], segment_start[segment + 1]
            for t in range(t_to):
                count = np.uint64(0)
                for w in range(begin, end):
                    count += popcount(prefix[prefix_from + b, w] & words[t, w])
                block[to + t] += np.int32(count << shift)


@kernel
def suffix_table(
    lattice: Lattice,
    blocks: Blocks,
    bits: Bits,
    suffix: Ints,
    n_cells: int,
    t_to: int,
    table: Counts,
    alone: Counts,
) -> None:
    """The counts of suffix + {x}, x below it, as [cell of the suffix][base][indicator of x], and of suffix alone."""
    binom, arities = lattice.binom, lattice.arities
    n_suffix, n_base = len(suffix), len(bits.base_size)
    n_bitmap = len(bits.first) - 1
    for cell in range(n_cells):
        # the positive variables V+ of the cell: rank and configuration of V+, and of V+ without its smallest variable
        rest, size, rank, config, scale = cell, 0, 0, 0, 1
        rank_above, config_above, scale_above = 0, 0, 1
        lowest, low_state, second = -1, 0, -1
        for i in range(n_suffix):
            v = suffix[i]
            r = arities[v]
            state = rest % r
            rest //= r
            if state == 0:
                continue
            size += 1
            rank += binom[v, size]
            config += (state - 1) * scale
            scale *= r - 1
            if lowest < 0:
                lowest, low_state = v, state
            else:
                if second < 0:
                    second = v
                rank_above += binom[v, size - 1]
                config_above += (state - 1) * scale_above
                scale_above *= r - 1
        # G_(V+ + {x}) for the indicators of all x below V+: a run of the block of row V+
        stride = bits.first[lowest] if lowest >= 0 else bits.first[n_bitmap]
        at = blocks.row_start[blocks.level_start[size] + rank] + config * n_base * stride
        to = cell * n_base * t_to
        for base in range(n_base):
            for t in range(t_to):
                table[to + base * t_to + t] = blocks.entries[at + base * stride + t]
        # G_V+: one entry of the block of the row without the smallest variable, or all rows where V+ is empty
        if lowest < 0:
            for base in range(n_base):
                alone[cell * n_base + base] = bits.base_size[base]
        else:
            stride = bits.first[second] if second >= 0 else bits.first[n_bitmap]
            at = blocks.row_start[blocks.level_start[size - 1] + rank_above] + config_above * n_base * stride
            at += bits.first[lowest] + low_state - 1
            for base in range(n_base):
                alone[cell * n_base + base] = blocks.entries[at + base * stride]
    # N from G, over the suffix
    invert(arities, suffix, n_cells, n_base * t_to, table, 0)
    invert(arities, suffix, n_cells, n_base, alone, 0)


@kernel
def suffix_sources(lattice: Lattice, suffix: Ints, n_cells: int, sizes: Ints, ranks: Ints, configs: Ints) -> None:
    """Where the all-positive entries of each cell of a suffix stand once a smaller variable joins them.

    Per cell: the number of its positive variables, their rank above one smaller element, their configuration's number.
    """
    binom, arities = lattice.binom, lattice.arities
    for cell in range(n_cells):
        rest, size, rank, config, scale = cell, 0, 0, 0, 1
        for i in range(len(suffix)):
            v = suffix[i]
            r = arities[v]
            state = rest % r
            rest //= r
            if state > 0:
                size += 1
                rank += binom[v, size + 1]
                config += (state - 1) * scale
                scale *= r - 1
        sizes[cell], ranks[cell], configs[cell] = size, rank, config


@kernel
def invert(arities: Ints, variables: Ints, n_cells: int, width: int, table: Counts, at: int) -> None:
    """Moebius inversion over some variables, the first one fastest; each cell is a run of `width` entries."""
    stride = 1
    for i in range(len(variables)):
        r = arities[variables[i]]
        for block in range(n_cells // (stride * r)):
            for inner in range(block * stride * r, block * stride * r + stride):
                zero = at + inner * width
                for k in range(1, r):
                    other = at + (inner + k * stride) * width
                    for e in range(width):
                        table[zero + e] -= table[other + e]
        stride *= r


@kernel
def merge_bases(n_cells: int, n_base: int, width: int, table: Counts, merged: Counts) -> None:
    """Sum the base configurations (the classes) out of every cell; each is a run of `width` entries."""
    for cell in range(n_cells):
        for e in range(width):
            merged[cell * width + e] = table[cell * n_base * width + e]
        for base in range(1, n_base):
            at = (cell * n_base + base) * width
            for e in range(width):
                merged[cell * width + e] += table[at + e]
