"""Joint sets of binary variables counted in tiles: the bitmap kernel where every variable has two states.

A tile is all joint sets U + {p, x}, x < p < U, of one suffix U. In colex order they are neighbours, numbered
e = binom(p, 2) + x, so the all-ones counts of U' + {p, x} for every U' in U are runs of memory over e. Moebius
inversion over U alone gives n11(e), the rows with p = x = 1 in each cell of U; with the counts A(.) of U + {p} and
U + {x} and T of U the other three follow:

    n10 = A(x) - n11      n01 = A(p) - n11      n00 = T - A(x) - A(p) + n11
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.moebius import Bits, and_prefix, merge_bases
from scorecache.counting.subsets import advance, rank_without, unrank
from scorecache.counting.terms import sum_terms
from scorecache.counting.tile_terms import Tile, add_terms, new_tile
from scorecache.counting.types import Counts, Ints, Lattice, Terms, Values
from scorecache.system.compiled import kernel, popcount


class Ones(NamedTuple):
    """Of every set below the top level, the rows in which all its variables are 1.

    The sets of size z in base configuration b begin at `level_start[z] + b * level_size[z]`, by rank.
    """

    entries: Counts
    level_start: Ints
    level_size: Ints


@kernel
def binary_values(
    tile_from: int,
    tile_to: int,
    lattice: Lattice,
    bits: Bits,
    ones: Ones,
    terms: Terms,
    is_top: bool,
    n_bounds: int,
) -> Values:
    """Count the joint sets of the tiles `tile_from` to `tile_to` (at least two variables) and sum their terms.

    `lattice` describes the level and `bits` the data, `ones` has the all-ones counts of the levels below, `terms` the
    one-count terms. At the top level (`is_top`) nothing is kept for a next one; `n_bounds` is the number of kinds of
    children whose superset bounds are asked for.
    """
    # the first suffix U, and room for the sums over the cells of its sets U + {p, x}
    m, n_vars = lattice.size, lattice.n_vars
    n_u = m - 2
    binom = lattice.binom
    n_base, n_words = len(bits.base_size), bits.words.shape[1]
    n_cells = 1 << n_u
    suffix = np.zeros(n_u, np.int64)
    if n_u > 0:
        unrank(tile_from, n_u, n_vars, binom, suffix)
    first = rank_without(suffix, n_u, -1, -1, 2, binom)
    n_values = _sets_before_tile(lattice, tile_to) - first
    joint = np.empty(n_values, np.int64)
    bound = np.empty((n_bounds, n_values), np.int64)
    most_pairs = binom[n_vars, 2]
    n_parts = len(terms.parent_start)
    n_stored = 0 if is_top else n_values
    parent_value = np.empty((max(1, n_parts), n_stored), np.int64)
    counted = np.ones(n_stored, np.bool_)
    counts = np.empty((n_base, n_stored), np.int32)
    # stack[i]: the AND of suffix[i:]; of the empty suffix, all bits set
    stack = np.empty((n_u + 1, n_words), np.uint64)
    for w in range(n_words):
        stack[n_u, w] = ~np.uint64(0)
    stack_start = np.empty(n_u + 1, np.int64)
    n_configs = np.empty(n_u + 1, np.int64)
    for i in range(n_u + 1):
        stack_start[i], n_configs[i] = i, 1
    anded = np.empty(n_words, np.uint64)
    tile = new_tile(n_cells * n_base, n_vars, most_pairs)
    pairs, singles, totals = tile.pairs, tile.singles, tile.totals
    merged = new_tile(n_cells, n_vars, most_pairs)
    value = np.empty(most_pairs, np.int64)
    shape = 0
    for _ in range(m):
        shape = lattice.step[shape, 0]

    changed = n_u - 1
    for number in range(tile_from, tile_to):
        if number > tile_from:
            changed = max(changed, advance(suffix, n_u))
        below = suffix[0] if n_u > 0 else n_vars
        if below < 2:
            continue
        n_pairs = binom[below, 2]
        # the all-ones counts of U + {p, x}, which the levels above read too
        and_prefix(bits, suffix, changed, stack, stack_start, n_configs)
        changed = 0
        _count_pairs(bits, stack[0], anded, below, pairs, (n_cells - 1) * n_base * n_pairs)
        rank_s = rank_without(suffix, n_u, -1, -1, 2, binom)
        if not is_top:
            for base in range(n_base):
                for e in range(n_pairs):
                    counts[base, rank_s - first + e] = pairs[((n_cells - 1) * n_base + base) * n_pairs + e]
        # those of the subsets of U, and by inversion over U the n11, A(.) and T of each of its cells
        _gather(lattice, ones, bits, suffix, below, tile)
        _invert(n_u, n_base * n_pairs, pairs)
        _invert(n_u, n_base * below, singles)
        _invert(n_u, n_base, totals)

        # the joint value: the cell terms of U + {p, x}, and where asked for those with the class summed out
        for e in range(n_pairs):
            value[e] = 0
        add_terms(terms, terms.cell_start[shape], shape, n_cells * n_base, below, tile, value)
        if terms.marginal_start >= 0:
            merge_bases(n_cells, n_base, n_pairs, pairs, merged.pairs)
            merge_bases(n_cells, n_base, below, singles, merged.singles)
            merge_bases(n_cells, n_base, 1, totals, merged.totals)
            add_terms(terms, terms.marginal_start, shape, n_cells, below, merged, value)
        for e in range(n_pairs):
            joint[rank_s - first + e] = value[e]
        if is_top:
            continue
        # the parents' part of its supersets, and the bound on their scores
        if n_parts == 0:
            for e in range(n_pairs):
                parent_value[0, rank_s - first + e] = -value[e]
        for part in range(n_parts + n_bounds):
            start = terms.parent_start[part] if part < n_parts else terms.bound_start[part - n_parts]
            for e in range(n_pairs):
                value[e] = 0
            add_terms(terms, start, shape, n_cells * n_base, below, tile, value)
            for e in range(n_pairs):
                if part < n_parts:
                    parent_value[part, rank_s - first + e] = value[e]
                else:
                    bound[part - n_parts, rank_s - first + e] = value[e]
    return Values(first, joint, bound, parent_value, counted, counts, first)


def single_values(lattice: Lattice, bits: Bits, terms: Terms, is_top: bool) -> Values:
    """Level 1: the variables by themselves."""
    shape, n = int(lattice.step[0, 0]), lattice.n_vars
    counts = np.zeros((len(bits.base_size), n), np.int64)
    _count_singles(bits.words, bits.segment_start, bits.segment_base, bits.segment_shift, counts)
    cells = np.vstack([counts, bits.base_size[:, None] - counts])
    joint = sum_terms(terms, int(terms.cell_start[shape]), shape, cells)
    if terms.marginal_start >= 0:
        n_x = counts.sum(axis=0)
        joint += sum_terms(terms, terms.marginal_start, shape, np.vstack([n_x, bits.base_size.sum() - n_x]))
    if is_top:
        return Values(
            0, joint, np.empty((0, n), np.int64), np.empty((1, 0), np.int64), np.empty(0, np.bool_),
            np.empty((1, 0), np.int32), 0,
        )  # fmt: skip
    parts = [sum_terms(terms, int(start), shape, cells) for start in terms.parent_start] or [-joint]
    bound = [sum_terms(terms, int(start), shape, cells) for start in terms.bound_start]
    return Values(
        0, joint, np.array(bound, np.int64).reshape(len(bound), n), np.array(parts), np.ones(n, np.bool_),
        counts.astype(np.int32), 0,
    )  # fmt: skip


@kernel
def _sets_before_tile(lattice: Lattice, tile_to: int) -> int:
    """The number of joint sets in all tiles before `tile_to`."""
    n_u = lattice.size - 2
    if n_u == 0 or tile_to == lattice.binom[lattice.n_vars, n_u]:
        return lattice.binom[lattice.n_vars, lattice.size]
    suffix = np.zeros(n_u, np.int64)
    unrank(tile_to, n_u, lattice.n_vars, lattice.binom, suffix)
    return rank_without(suffix, n_u, -1, -1, 2, lattice.binom)


@kernel
def _count_pairs(
    bits: Bits,
    prefix: NDArray[np.uint64],
    anded: NDArray[np.uint64],
    below: int,
    pairs: Counts,
    first: int,
) -> None:
    """Write the all-ones counts of a tile to `pairs`, from `first` on: population counts of suffix AND p AND x.

    `prefix` is the AND of the suffix, `anded` room for that with p, and p and x are smaller than `below`.
    """
    n_base, n_pairs = len(bits.base_size), below * (below - 1) // 2
    words, starts, bases, shifts = bits.words, bits.segment_start, bits.segment_base, bits.segment_shift
    n_words, n_segments = np.uint64(words.shape[1]), np.uint64(len(bases))
    one, two = np.uint64(1), np.uint64(2)
    for e in range(first, first + n_base * n_pairs):
        pairs[e] = 0
    to = np.uint64(first)
    for p in range(np.uint64(below)):
        for w in range(n_words):
            anded[w] = prefix[w] & words[p, w]
        for segment in range(n_segments):
            begin, end = np.uint64(starts[segment]), np.uint64(starts[segment + one])
            shift, row = np.uint64(shifts[segment]), to + np.uint64(bases[segment] * n_pairs)
            for x in range(p):
                n, at = np.uint64(0), begin
                while at + one < end:  # two words a step: a plain loop is vectorised, which few words do not repay
                    n += popcount(anded[at] & words[x, at])
                    n += popcount(anded[at + one] & words[x, at + one])
                    at += two
                if at < end:
                    n += popcount(anded[at] & words[x, at])
                pairs[row + x] += np.int32(n << shift)
        to += p


@kernel
def _gather(lattice: Lattice, ones: Ones, bits: Bits, suffix: Ints, below: int, tile: Tile) -> None:
    """The all-ones counts of U' + {p, x}, U' + {x} and U' for every subset U' of the suffix.

    Those of the suffix itself with {p, x} are in the tile already.
    """
    binom, n_u = lattice.binom, len(suffix)
    n_base, n_pairs = len(bits.base_size), below * (below - 1) // 2
    entries, level_start, level_size = ones.entries, ones.level_start, ones.level_size
    for cell in range(1 << n_u):
        # U' is the bits of the cell; its rank with 0, 1 and 2 smaller elements in front
        size, rank_0, rank_1, rank_2 = 0, 0, 0, 0
        for i in range(n_u):
            if cell >> i & 1:
                size += 1
                rank_0 += binom[suffix[i], size]
                rank_1 += binom[suffix[i], size + 1]
                rank_2 += binom[suffix[i], size + 2]
        for base in range(n_base):
            to = cell * n_base + base
            if size < n_u:
                at = level_start[size + 2] + base * level_size[size + 2] + rank_2
                _copy_run(entries, at, n_pairs, tile.pairs, to * n_pairs)
            at = level_start[size + 1] + base * level_size[size + 1] + rank_1
            _copy_run(entries, at, below, tile.singles, to * below)
            if size == 0:
                tile.totals[to] = bits.base_size[base]
            else:
                tile.totals[to] = entries[level_start[size] + base * level_size[size] + rank_0]


@kernel
def _copy_run(source: Counts, start: int, n: int, target: Counts, to: int) -> None:
    """Copy a run of counts; unsigned indices spare numba's test for negative ones, and the loop is vectorised."""
    at_source, at_target = np.uint64(start), np.uint64(to)
    for e in range(np.uint64(n)):
        target[at_target + e] = source[at_source + e]


@kernel
def _invert(n_u: int, width: int, table: Counts) -> None:
    """Moebius inversion over the suffix; each cell is a run of `width` entries."""
    for i in range(n_u):
        for cell in range(1 << n_u):
            if not cell >> i & 1:
                zero = np.uint64(cell * width)
                one = np.uint64((cell | 1 << i) * width)
                for e in range(np.uint64(width)):
                    table[zero + e] -= table[one + e]


@kernel
def _count_singles(words: NDArray[np.uint64], starts: Ints, bases: Ints, shifts: Ints, counts: Ints) -> None:
    """Add the all-ones counts of the single variables, by base configuration."""
    for segment in range(len(bases)):
        for x in range(words.shape[0]):
            n = np.uint64(0)
            for w in range(starts[segment], starts[segment + 1]):
                n += popcount(words[x, w])
            counts[bases[segment], x] += np.int64(n << np.uint64(shifts[segment]))
