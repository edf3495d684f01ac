"""Joint sets of binary variables counted in tiles: the bitmap kernel where every variable has two states.

A tile is all joint sets U + {p, x}, x < p < U, of one suffix U. In colex order they are neighbours, numbered
e = binom(p, 2) + x, so the all-ones counts of U' + {p, x} for every U' in U are runs of memory over e. Moebius
inversion over U alone gives n11(e), the rows with p = x = 1 in each cell of U; with the counts A(.) of U + {p} and
U + {x} and T of U the other three follow:

    n10 = A(x) - n11      n01 = A(p) - n11      n00 = T - A(x) - A(p) + n11

The counts of a tile are laid out cell by cell, in each by base configuration, as runs of those of U + {p, x} by e,
those of U + {x} by x, and that of U. Where a score asks for them, the cells with the base summed out come behind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.moebius import ALL_BITS, Bits
from scorecache.counting.subsets import advance, rank_without, sets_before, unrank
from scorecache.counting.sums import Sums, new_sums, values_of
from scorecache.counting.terms import count_term, sum_terms
from scorecache.counting.types import Counts, Ints, Lattice, Terms, Values
from scorecache.system.compiled import kernel, popcount


class Ones(NamedTuple):
    """Of every set below the top level, the rows in which all its variables are 1.

    The sets of size z in base configuration b begin at `level_start[z] + b * level_size[z]`, by rank.
    """

    entries: Counts
    level_start: Ints
    level_size: Ints


class Room(NamedTuple):
    """What the kernel works with: U, `stack[i]` with the AND of U[i:], room for one more AND, the counts of a tile."""

    suffix: Ints
    stack: NDArray[np.uint64]
    anded: NDArray[np.uint64]
    tile: Counts


def binary_values(tile_from: int, tile_to: int, lattice: Lattice, bits: Bits, ones: Ones, terms: Terms) -> Values:
    """Count the joint sets of the tiles `tile_from` to `tile_to` (at least two variables) and sum their terms.

    `lattice` describes the level and `bits` the data, `ones` has the all-ones counts of the levels below, `terms` the
    one-count terms.
    """
    n_u, n_vars, binom = lattice.size - 2, lattice.n_vars, lattice.binom
    first = sets_before(tile_from, n_u, 2, n_vars, binom)
    n_sets = sets_before(tile_to, n_u, 2, n_vars, binom) - first
    n_base, n_words = len(bits.base_size), bits.words.shape[1]
    sums = new_sums(n_sets, terms, is_top=lattice.is_top)
    counts = np.empty((n_base, 0 if lattice.is_top else n_sets), np.int32)
    shape = 0
    for _ in range(lattice.size):
        shape = int(lattice.step[shape, 0])
    sums.start[0] = terms.cell_start[shape]
    n_cells = (n_base + (terms.marginal_start >= 0)) << n_u
    room = Room(
        unrank(tile_from, n_u, binom),
        np.full((n_u + 1, n_words), ALL_BITS, np.uint64),
        np.empty(n_words, np.uint64),
        np.empty(n_cells * int(binom[n_vars, 2] + n_vars + 1), np.int32),
    )
    _count_tiles(tile_from, tile_to, first, shape, lattice, bits, ones, terms, sums, counts, room)
    return values_of(first, sums, terms, is_top=lattice.is_top, counts=counts, counts_at=first)


def single_values(lattice: Lattice, bits: Bits, terms: Terms) -> Values:
    """Level 1: the variables by themselves."""
    shape, n = int(lattice.step[0, 0]), lattice.n_vars
    counts = np.zeros((len(bits.base_size), n), np.int64)
    for segment, (base, shift) in enumerate(zip(bits.segment_base, bits.segment_shift, strict=True)):
        own = bits.words[:, bits.segment_start[segment] : bits.segment_start[segment + 1]]
        counts[base] += np.bitwise_count(own).sum(axis=1, dtype=np.int64) << shift
    cells = np.vstack([counts, bits.base_size[:, None] - counts])
    sums = new_sums(n, terms, is_top=lattice.is_top)
    sums.start[0] = terms.cell_start[shape]
    for start, line in zip(sums.start, sums.values, strict=True):
        line[:] = sum_terms(terms, int(start), shape, cells)
    if terms.marginal_start >= 0:
        n_x = counts.sum(axis=0)
        sums.values[0] += sum_terms(terms, terms.marginal_start, shape, np.vstack([n_x, bits.base_size.sum() - n_x]))
    kept = np.empty((len(counts), 0), np.int32) if lattice.is_top else counts.astype(np.int32)
    return values_of(0, sums, terms, is_top=lattice.is_top, counts=kept)


@kernel
def _count_tiles(
    tile_from: int,
    tile_to: int,
    first: int,
    shape: int,
    lattice: Lattice,
    bits: Bits,
    ones: Ones,
    terms: Terms,
    sums: Sums,
    counts: Counts,
    room: Room,
) -> None:
    """Sum the terms of the joint sets of these tiles, all of one `shape`, the first of them of rank `first`.

    `counts` keeps the all-ones counts for the levels above, unless this level is the top one.
    """
    n_u, n_base, n_words = lattice.size - 2, len(bits.base_size), bits.words.shape[1]
    suffix, stack, tile = room.suffix, room.stack, room.tile
    n_cells = n_base << n_u
    changed = n_u - 1
    for number in range(tile_from, tile_to):
        if number > tile_from:
            changed = max(changed, advance(suffix, n_u))
        below = suffix[0] if n_u > 0 else lattice.n_vars
        if below < 2:
            continue
        n_pairs = below * (below - 1) // 2
        width = n_pairs + below + 1
        at = rank_without(suffix, n_u, -1, -1, 2, lattice.binom) - first
        # the all-ones counts of U + {p, x}, which the levels above read too
        for i in range(changed, -1, -1):
            for w in range(n_words):
                stack[i, w] = stack[i + 1, w] & bits.words[suffix[i], w]
        changed = 0
        own = (n_cells - n_base) * width
        _count_pairs(bits, stack[0], room.anded, below, tile, own, width)
        if counts.shape[1] > 0:
            for base in range(n_base):
                _copy_run(tile, own + base * width, n_pairs, counts[base], at)
        # those of the subsets of U, and by inversion over U the n11, A(.) and T of each of its cells
        _gather(lattice, ones, bits, suffix, n_u, below, tile)
        for i in range(n_u):
            run = (n_base << i) * width  # the cells that differ in elements of U before the i-th are neighbours
            for to in range(0, n_cells * width, 2 * run):
                _add_run(tile, to + run, run, to, -1)
        # the same with the base summed out
        if terms.marginal_start >= 0:
            for cell in range(n_cells):
                to = (n_cells + cell // n_base) * width
                if cell % n_base == 0:
                    _copy_run(tile, cell * width, width, tile, to)
                else:
                    _add_run(tile, cell * width, width, to, 1)
            last = n_cells + (1 << n_u)
            _add_terms(terms, terms.marginal_start, shape, (n_cells, last), below, tile, sums.values[0], at)
        # the joint values, the parents' part of the supersets, the bounds on their scores
        for line in range(len(sums.start)):
            _add_terms(terms, sums.start[line], shape, (0, n_cells), below, tile, sums.values[line], at)


@kernel
def _count_pairs(
    bits: Bits,
    prefix: NDArray[np.uint64],
    anded: NDArray[np.uint64],
    below: int,
    tile: Counts,
    first: int,
    width: int,
) -> None:
    """Write the all-ones counts of a tile from `first` on: population counts of suffix AND p AND x.

    `prefix` is the AND of the suffix, `anded` room for that with p, and p and x are smaller than `below`; base
    configurations are `width` apart.
    """
    n_base, n_pairs = len(bits.base_size), below * (below - 1) // 2
    words, starts, bases, shifts = bits.words, bits.segment_start, bits.segment_base, bits.segment_shift
    n_words, n_segments = np.uint64(words.shape[1]), np.uint64(len(bases))
    one, two = np.uint64(1), np.uint64(2)
    for base in range(n_base):
        for e in range(n_pairs):
            tile[first + base * width + e] = 0
    to = np.uint64(first)
    for p in range(np.uint64(below)):
        for w in range(n_words):
            anded[w] = prefix[w] & words[p, w]
        for segment in range(n_segments):
            begin, end = np.uint64(starts[segment]), np.uint64(starts[segment + one])
            shift, row = np.uint64(shifts[segment]), to + np.uint64(bases[segment] * width)
            for x in range(p):
                n, at = np.uint64(0), begin
                while at + one < end:  # two words a step: a plain loop is vectorised, which few words do not repay
                    n += popcount(anded[at] & words[x, at])
                    n += popcount(anded[at + one] & words[x, at + one])
                    at += two
                if at < end:
                    n += popcount(anded[at] & words[x, at])
                tile[row + x] += np.int32(n << shift)
        to += p


@kernel
def _gather(lattice: Lattice, ones: Ones, bits: Bits, suffix: Ints, n_u: int, below: int, tile: Counts) -> None:
    """The all-ones counts of U' + {p, x}, U' + {x} and U' for every subset U' of the suffix.

    Those of the suffix itself with {p, x} are in the tile already.
    """
    binom = lattice.binom
    n_base, n_pairs = len(bits.base_size), below * (below - 1) // 2
    entries, level_start, level_size = ones.entries, ones.level_start, ones.level_size
    to = 0
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
            if size < n_u:
                at = level_start[size + 2] + base * level_size[size + 2] + rank_2
                _copy_run(entries, at, n_pairs, tile, to)
            at = level_start[size + 1] + base * level_size[size + 1] + rank_1
            _copy_run(entries, at, below, tile, to + n_pairs)
            to += n_pairs + below
            if size == 0:
                tile[to] = bits.base_size[base]
            else:
                tile[to] = entries[level_start[size] + base * level_size[size] + rank_0]
            to += 1


@kernel(inline="always")
def _copy_run(source: Counts, start: int, n: int, target: Counts, to: int) -> None:
    """Copy a run of counts; inlined, since runs are short.

    Unsigned indices spare numba's test for negative ones, and the loop is vectorised.
    """
    at_source, at_target = np.uint64(start), np.uint64(to)
    for e in range(np.uint64(n)):
        target[at_target + e] = source[at_source + e]


@kernel(inline="always")
def _add_run(tile: Counts, start: int, n: int, to: int, sign: int) -> None:
    """Add a run of counts, times 1 or -1, to another one; unsigned indices as above."""
    at_source, at_target = np.uint64(start), np.uint64(to)
    for e in range(np.uint64(n)):
        tile[at_target + e] += sign * tile[at_source + e]


@kernel
def _add_terms(
    terms: Terms, start: int, shape: int, cells: tuple[int, int], below: int, tile: Counts, value: Ints, to: int
) -> None:
    """Add the four terms of these cells to `value`, from `to` on, for all pairs of variables smaller than `below`.

    The cells are those from cells[0] on and before cells[1]. The terms begin at `start`; a count past the tables is
    evaluated for the `shape`.
    """
    cell_from, cell_to = cells
    table, n_pairs = terms.table, below * (below - 1) // 2
    for cell in range(cell_from, cell_to):
        pair = cell * (n_pairs + below + 1)
        single = pair + n_pairs
        total = tile[single + below]
        e = to
        for p in range(1, below):
            with_p = tile[single + p]
            rest = total - with_p
            # the terms of n11, n01, n10 and n00 of p and every x below it
            of_pair, of_x, at = np.uint64(pair), np.uint64(single), np.uint64(e)
            if total < terms.cap:
                for x in range(np.uint64(p)):
                    n = tile[of_pair + x]
                    with_x = tile[of_x + x]
                    value[at + x] += (
                        table[np.uint64(start + n)]
                        + table[np.uint64(start + with_x - n)]
                        + table[np.uint64(start + with_p - n)]
                        + table[np.uint64(start + rest - with_x + n)]
                    )
            else:
                for x in range(np.uint64(p)):
                    n, with_x = np.int64(tile[of_pair + x]), np.int64(tile[of_x + x])
                    for count in (n, with_x - n, with_p - n, rest - with_x + n):
                        value[at + x] += count_term(terms, start, shape, count)
            pair += p
            e += p
