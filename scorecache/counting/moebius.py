"""Counting by population counts and Moebius inversion: small arities, any number of rows.

For a joint set S, write G_S(k) for the number of rows with X_i = k_i for all i with k_i >= 1, the other variables left
free. G over the all-positive k of S costs one AND and population count per configuration; every other entry of G_S is
an all-positive entry of a subset. The counts follow dimension by dimension:

    N(.., 0, ..) = G(.., 0, ..) - sum_{k >= 1} N(.., k, ..)

The all-positive entries of a row P + {x} are one block laid out [configuration of P][base configuration][indicator of
x], the indicators of all x below P side by side, so that every step is a loop over a run of memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.bitmap import popcount

Ints = NDArray[np.int64]


class Blocks(NamedTuple):
    """All-positive entries of every row of the levels below: row P of level z + 1 begins at start[z][rank(P)].

    `level_start[z]` is where the row offsets of level z + 1 begin in `row_start`.
    """

    entries: NDArray[np.int32]
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


@njit(cache=True, nogil=True)
def and_prefix(
    bits: Bits, row: Ints, n_row: int, changed: int, stack: NDArray[np.uint64], depth_start: Ints, n_configs: Ints
) -> None:
    """Refresh the ANDs of the row's suffixes from position `changed` down; configurations with the smallest fastest."""
    n_words = bits.words.shape[1]
    for i in range(changed, -1, -1):
        v = row[i]
        r1 = bits.first[v + 1] - bits.first[v]
        if i == n_row - 1:
            n_configs[i] = r1
            for k in range(r1):
                stack[depth_start[i] + k, :] = bits.words[bits.first[v] + k]
        else:
            above = n_configs[i + 1]
            n_configs[i] = above * r1
            for b in range(above):
                for k in range(r1):
                    target = depth_start[i] + b * r1 + k
                    source = depth_start[i + 1] + b
                    for w in range(n_words):
                        stack[target, w] = stack[source, w] & bits.words[bits.first[v] + k, w]


@njit(cache=True, nogil=True)
def count_block(
    bits: Bits,
    prefix: NDArray[np.uint64],
    prefix_from: int,
    n_configs: int,
    t_to: int,
    n_base: int,
    block: NDArray[np.int32],
    at: int,
) -> None:
    """The all-positive entries of a row: population counts of prefix AND indicator, segment by segment."""
    n_segments = len(bits.segment_base)
    has_prefix = prefix_from >= 0
    block[at : at + n_configs * n_base * t_to] = 0
    for b in range(n_configs):
        for t in range(t_to):
            indicator = bits.words[t]
            for segment in range(n_segments):
                count = np.uint64(0)
                if has_prefix:
                    anded = prefix[prefix_from + b]
                    for w in range(bits.segment_start[segment], bits.segment_start[segment + 1]):
                        count += popcount(anded[w] & indicator[w])
                else:
                    for w in range(bits.segment_start[segment], bits.segment_start[segment + 1]):
                        count += popcount(indicator[w])
                block[at + (b * n_base + bits.segment_base[segment]) * t_to + t] += np.int32(
                    count << np.uint64(bits.segment_shift[segment])
                )


@njit(cache=True, nogil=True)
def gather(
    binom: Ints,
    arities: Ints,
    blocks: Blocks,
    bits: Bits,
    row: Ints,
    n_row: int,
    n_cells: int,
    own: NDArray[np.int32],
    own_at: int,
    t_to: int,
    n_base: int,
    table: NDArray[np.int32],
    row_table: NDArray[np.int32],
) -> None:
    """Fill G of P + {x} (`table`: [cell of P][base][indicator]) and G of P alone from the blocks of the subsets."""
    n_bitmap = len(bits.first) - 1
    for cell in range(n_cells):
        rest = cell
        rank = 0
        position = 0
        config = 0
        scale = 1
        lowest = -1
        low_state = 0
        rank_above = 0
        config_above = 0
        scale_above = 1
        second = -1
        for i in range(n_row):
            v = row[i]
            r = arities[v]
            state = rest % r
            rest //= r
            if state > 0:
                position += 1
                rank += binom[v, position]
                config += (state - 1) * scale
                scale *= r - 1
                if lowest < 0:
                    lowest = v
                    low_state = state
                else:
                    if second < 0:
                        second = v
                    rank_above += binom[v, position - 1]
                    config_above += (state - 1) * scale_above
                    scale_above *= r - 1
        if position == n_row:
            source = own
            at = own_at + config * n_base * t_to
            stride = t_to
        else:
            source = blocks.entries
            stride = bits.first[lowest] if lowest >= 0 else bits.first[n_bitmap]
            at = blocks.row_start[blocks.level_start[position] + rank] + config * n_base * stride
        to = cell * n_base * t_to
        for base in range(n_base):
            for t in range(t_to):
                table[to + base * t_to + t] = source[at + base * stride + t]
        if lowest < 0:
            for base in range(n_base):
                row_table[cell * n_base + base] = bits.base_size[base]
        else:
            stride = bits.first[second] if second >= 0 else bits.first[n_bitmap]
            at = blocks.row_start[blocks.level_start[position - 1] + rank_above] + config_above * n_base * stride
            at += bits.first[lowest] + low_state - 1
            for base in range(n_base):
                row_table[cell * n_base + base] = blocks.entries[at + base * stride]


@njit(cache=True, nogil=True)
def invert(arities: Ints, row: Ints, n_row: int, n_cells: int, width: int, table: NDArray[np.int32]) -> None:
    """Moebius inversion over the variables of P; each cell is a run of `width` entries."""
    stride = 1
    for i in range(n_row):
        r = arities[row[i]]
        for outer in range(0, n_cells, stride * r):
            for inner in range(outer, outer + stride):
                zero = inner * width
                for k in range(1, r):
                    other = (inner + k * stride) * width
                    for e in range(width):
                        table[zero + e] -= table[other + e]
        stride *= r
