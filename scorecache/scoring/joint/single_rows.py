"""The parent sets of one child of a group, counted without the other children, in the group's own fixed-point terms.

The table of a parent set W holds counts[(configuration of W, base configuration, state of the child)]. The joint set
W + child is the whole table, W itself the table with the child summed out, so one count gives the family:

    score(child | W) = [value(W + child) - value(W)] unit - penalty - constant

The terms are the group's, rounded to whole multiples of the same unit, so the scores have the same bits as those of
the joint build. Small arities are counted by population counts over all configurations of P in W = P + {x}, others by
row labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.bitmap import popcount
from scorecache.counting.label import refine
from scorecache.counting.subsets import advance, rank_without, unrank
from scorecache.scoring.joint.families import BOUND_TOL, DEAD, resized
from scorecache.scoring.joint.terms import count_term
from scorecache.scoring.joint.types import Floats, Ints, Terms

Words = NDArray[np.uint64]

FIRST_ROOM = 256
TABLE_CELLS = 1 << 20
"""Tables with more cells are summed a batch of configurations at a time."""


class Candidates(NamedTuple):
    """The possible parents beside the base, by rising arity: shapes as the group numbers them, data numbers."""

    binom: Ints
    step: Ints
    kinds: Ints
    arities: Ints
    order: Ints


class Child(NamedTuple):
    """The child: its rows of the group's rules. `n_base` base configurations, `r` states, `kind` its kind of arity."""

    n_base: int
    r: int
    kind: int
    penalty: Floats
    constant: float
    bound_top: float
    bound_penalty: Floats
    prune: bool
    gap: float


class Planes(NamedTuple):
    """Indicator bitmaps (`scorecache.counting.bitmap`) whose segments are the cells (base configuration, child state).

    `valid` marks the bits that are rows.
    """

    words: Words
    first: Ints
    segment_start: Ints
    segment_cell: Ints
    segment_shift: Ints
    valid: Words


class Coded(NamedTuple):
    """Rows for the label kernel; `cell[i]` is the cell (base configuration, child state) of row i."""

    codes: NDArray[np.uint16]
    weights: Ints
    cell: NDArray[np.int32]
    dense_size: int
    hash_size: int


Survivors = tuple[Ints, Floats, NDArray[np.int32]]


@njit(cache=True, nogil=True)
def label_sets(
    row_from: int,
    row_to: int,
    size: int,
    candidates: Candidates,
    child: Child,
    coded: Coded,
    terms: Terms,
    below: Floats,
    here: Floats,
    is_top: bool,
) -> Survivors:
    """Score the sets W = P + {x} of `size` candidates in these rows; the survivors: child (0), score, W."""
    n_row = max(size - 1, 0)
    n_vars, n_rows = coded.codes.shape
    n_cells = child.n_base * child.r
    labels = np.zeros((n_row + 1, n_rows), np.int32)
    n_labels = np.ones(n_row + 1, np.int64)
    leaf = np.zeros(n_rows, np.int32)
    numbers = np.full(coded.dense_size, -1, np.int32)
    keys = np.full(coded.hash_size, -1, np.int64)
    slots = np.empty(coded.hash_size, np.int32)
    counts = np.empty(max(coded.dense_size, TABLE_CELLS, n_cells), np.int64)
    row = np.zeros(max(n_row, 1), np.int64)
    if n_row > 0:
        unrank(row_from, n_row, n_vars, candidates.binom, row)
    out_child, out_score, out_parents = _room(max(size, 1))
    n_out = 0

    stale = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        x_to = 1 if size == 0 else (row[0] if n_row > 0 else n_vars)
        if n_out + x_to > len(out_score):
            room = 2 * (n_out + x_to)
            out_child, out_score, out_parents = resized(out_child, out_score, out_parents, n_out, room)
        for x in range(x_to):
            rank_w, best = _best_below(size, row, n_row, x, candidates.binom, below)
            if best == DEAD:
                if not is_top:
                    here[rank_w] = DEAD
                continue
            for i in range(stale, -1, -1):
                n_labels[i] = refine(
                    labels[i + 1], n_labels[i + 1], coded.codes[row[i]], candidates.arities[row[i]],
                    labels[i], numbers, keys, slots,
                )  # fmt: skip
            stale = -1
            shape = _shape(candidates, row, n_row, x, size)
            r_x = candidates.arities[x] if size > 0 else 1
            value, bound = 0, 0
            if n_labels[0] * r_x * n_cells <= coded.dense_size:
                n_configs = n_labels[0] * r_x
                counts[: n_configs * n_cells] = 0
                if size > 0:
                    column = coded.codes[x]
                    for i in range(n_rows):
                        config = np.int64(labels[0, i]) * r_x + column[i]
                        counts[config * n_cells + coded.cell[i]] += coded.weights[i]
                else:
                    for i in range(n_rows):
                        counts[coded.cell[i]] += coded.weights[i]
                value, bound = _table_value(counts, n_configs, shape, candidates, child, terms, not is_top)
            else:
                n_leaf, leaf_labels = n_labels[0], labels[0]
                if size > 0:
                    n_leaf = refine(labels[0], n_labels[0], coded.codes[x], r_x, leaf, numbers, keys, slots)
                    leaf_labels = leaf
                per_batch = max(1, TABLE_CELLS // n_cells)
                for first in range(0, n_leaf, per_batch):
                    n_here = min(per_batch, n_leaf - first)
                    counts[: n_here * n_cells] = 0
                    for i in range(n_rows):
                        j = leaf_labels[i] - first
                        if 0 <= j < n_here:
                            counts[j * n_cells + coded.cell[i]] += coded.weights[i]
                    parts = _table_value(counts, n_here, shape, candidates, child, terms, not is_top)
                    value, bound = value + parts[0], bound + parts[1]
            score, floor = _settle(value, bound, shape, best, child, terms, is_top)
            if not is_top:
                here[rank_w] = floor
            if score + child.gap > best or not child.prune:
                out_score[n_out] = score
                if size > 0:
                    out_parents[n_out, 0] = candidates.order[x]
                    for i in range(n_row):
                        out_parents[n_out, i + 1] = candidates.order[row[i]]
                n_out += 1
    return out_child[:n_out].copy(), out_score[:n_out].copy(), out_parents[:n_out].copy()


@njit(cache=True, nogil=True)
def bitmap_sets(
    row_from: int,
    row_to: int,
    size: int,
    n_vars: int,
    candidates: Candidates,
    child: Child,
    planes: Planes,
    terms: Terms,
    below: Floats,
    here: Floats,
    is_top: bool,
) -> Survivors:
    """The same for sets of at least two of the first `n_vars` candidates."""
    n_row = size - 1
    n_cells = child.n_base * child.r
    arities = candidates.arities
    n_words = planes.words.shape[1]
    row = np.zeros(n_row, np.int64)
    unrank(row_from, n_row, n_vars, candidates.binom, row)
    # arities ascend, so the last candidates have the most configurations
    start = np.zeros(n_row + 1, np.int64)
    n_configs = np.ones(n_row + 1, np.int64)
    most, at = 1, 1
    for i in range(n_row - 1, -1, -1):
        most *= arities[n_vars - n_row + i]
        start[i] = at
        at += most
    stack = np.empty((at, n_words), np.uint64)
    stack[0] = planes.valid
    totals = np.empty(most * n_cells, np.int64)
    counts = np.empty(most * arities[n_vars - 1] * n_cells, np.int64)
    out_child, out_score, out_parents = _room(size)
    n_out = 0

    stale = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        if n_out + row[0] > len(out_score):
            room = 2 * (n_out + row[0])
            out_child, out_score, out_parents = resized(out_child, out_score, out_parents, n_out, room)
        for x in range(row[0]):
            rank_w, best = _best_below(size, row, n_row, x, candidates.binom, below)
            if best == DEAD:
                if not is_top:
                    here[rank_w] = DEAD
                continue
            if stale >= 0:
                for i in range(stale, -1, -1):
                    _split_configurations(planes, row[i], arities[row[i]], stack, start, n_configs, i)
                totals[: n_configs[0] * n_cells] = 0
                for config in range(n_configs[0]):
                    _add_counts(planes, stack, start[0] + config, -1, totals, config * n_cells)
                stale = -1
            r_x = arities[x]
            for config in range(n_configs[0]):
                to = config * r_x * n_cells
                for cell in range(n_cells):  # slices would cost more than these loops
                    counts[to + cell] = totals[config * n_cells + cell]
                for cell in range(n_cells, r_x * n_cells):
                    counts[to + cell] = 0
                for state in range(1, r_x):
                    own = to + state * n_cells
                    _add_counts(planes, stack, start[0] + config, planes.first[x] + state - 1, counts, own)
                    for cell in range(n_cells):
                        counts[to + cell] -= counts[own + cell]
            shape = _shape(candidates, row, n_row, x, size)
            value, bound = _table_value(counts, n_configs[0] * r_x, shape, candidates, child, terms, not is_top)
            score, floor = _settle(value, bound, shape, best, child, terms, is_top)
            if not is_top:
                here[rank_w] = floor
            if score + child.gap > best or not child.prune:
                out_score[n_out] = score
                if size > 0:
                    out_parents[n_out, 0] = candidates.order[x]
                    for i in range(n_row):
                        out_parents[n_out, i + 1] = candidates.order[row[i]]
                n_out += 1
    return out_child[:n_out].copy(), out_score[:n_out].copy(), out_parents[:n_out].copy()


@njit(cache=True, nogil=True)
def _best_below(size: int, row: Ints, n_row: int, x: int, binom: Ints, below: Floats) -> tuple[int, float]:
    """The rank of W = P + {x}, and the best score among its strict subsets."""
    if size == 0:
        return 0, -np.inf
    rank_w = x + rank_without(row, n_row, -1, -1, 1, binom)
    best = below[rank_without(row, n_row, -1, -1, 0, binom)]
    for i in range(n_row):
        best = max(best, below[x + rank_without(row, n_row, i, -1, 1, binom)])
    return rank_w, best


@njit(cache=True, nogil=True)
def _shape(candidates: Candidates, row: Ints, n_row: int, x: int, size: int) -> int:
    """The shape of W = P + {x}."""
    shape = 0
    for i in range(n_row):
        shape = candidates.step[shape, candidates.kinds[row[i]]]
    return candidates.step[shape, candidates.kinds[x]] if size > 0 else shape


@njit(cache=True, nogil=True)
def _split_configurations(
    planes: Planes, variable: int, r: int, stack: Words, start: Ints, n_configs: Ints, position: int
) -> None:
    """The rows of each configuration of the suffix from `position` on: those from the next one on, split by a state."""
    n_words = stack.shape[1]
    n_configs[position] = n_configs[position + 1] * r
    for config in range(n_configs[position + 1]):
        source = start[position + 1] + config
        rest = start[position] + config * r
        stack[rest] = stack[source]
        for state in range(1, r):
            indicator = planes.first[variable] + state - 1
            for w in range(n_words):
                marked = stack[source, w] & planes.words[indicator, w]
                stack[rest + state, w] = marked
                stack[rest, w] ^= marked


@njit(cache=True, nogil=True)
def _add_counts(planes: Planes, stack: Words, config: int, indicator: int, counts: Ints, to: int) -> None:
    """Add the rows of a configuration that an indicator marks (-1: all of them), cell by cell."""
    one = np.uint64(1)
    at_config, at_indicator = np.uint64(config), np.uint64(max(indicator, 0))
    for segment in range(len(planes.segment_cell)):
        word = np.uint64(planes.segment_start[segment])
        end = np.uint64(planes.segment_start[segment + 1])
        n = np.uint64(0)
        if indicator < 0:
            while word < end:
                n += popcount(stack[at_config, word])  # type: ignore[call-arg]
                word += one
        else:
            while word < end:
                n += popcount(stack[at_config, word] & planes.words[at_indicator, word])  # type: ignore[call-arg]
                word += one
        counts[to + planes.segment_cell[segment]] += np.int64(n << np.uint64(planes.segment_shift[segment]))


@njit(cache=True, nogil=True)
def _table_value(
    counts: Ints, n_configs: int, shape: int, candidates: Candidates, child: Child, terms: Terms, with_bound: bool
) -> tuple[int, int]:
    """value(W + child) - value(W), or with the parents' own terms, and the sum of the bound terms."""
    n_base, r = child.n_base, child.r
    shape_joint = candidates.step[shape, child.kind]
    joint, own = terms.cell_start[shape_joint], terms.cell_start[shape]
    has_parts, has_marginal = len(terms.parent_start) > 0, terms.marginal_start >= 0
    parent = terms.parent_start[child.kind] if has_parts else 0
    has_bound = with_bound and len(terms.bound_start) > 0
    bound_start = terms.bound_start[child.kind] if has_bound else 0
    value, bound = 0, 0
    at = 0
    for _ in range(n_configs):
        first = at
        n_config = 0
        for _ in range(n_base):
            n_base_config = 0
            for _ in range(r):
                n = counts[at]
                at += 1
                if n > 0:
                    n_base_config += n
                    value += count_term(terms, joint, shape_joint, n)
                    if has_bound:
                        bound += terms.table[bound_start + n]
            n_config += n_base_config
            if n_base_config > 0:
                if has_parts:
                    value += terms.table[parent + n_base_config]
                else:
                    value -= count_term(terms, own, shape, n_base_config)
        if has_marginal and n_config > 0:
            for k in range(r):
                n = 0
                for base in range(n_base):
                    n += counts[first + base * r + k]
                value += terms.table[terms.marginal_start + n]
            value -= terms.table[terms.marginal_start + n_config]
    return value, bound


@njit(cache=True, nogil=True)
def _settle(
    value: int, bound_value: int, shape: int, best: float, child: Child, terms: Terms, is_top: bool
) -> tuple[float, float]:
    """The score of the family, and the best score for the sets above to beat, or that they are closed."""
    score = value * terms.unit
    score -= child.penalty[shape] + child.constant
    floor = max(best, score)
    if child.prune and not is_top:
        bound = child.bound_top - child.bound_penalty[shape]
        if len(terms.bound_start) > 0:
            bound = min(bound, bound_value * terms.unit)
        if floor >= bound + child.gap + BOUND_TOL * max(1.0, abs(bound)):
            floor = DEAD
    return score, floor


@njit(cache=True, nogil=True)
def _room(n_columns: int) -> Survivors:
    return np.zeros(FIRST_ROOM, np.int64), np.empty(FIRST_ROOM), np.empty((FIRST_ROOM, n_columns), np.int32)
