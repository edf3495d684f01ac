"""The arrays of an ascent (`exactbnc.solvers.bounds.ascent._kernels`): a cost table with multipliers on cuts, arranged
with families by reduced cost and their cuts as bits, and the room that one thread needs.

Sets are rows of words, signed ones, so that they share arrays with numbers: fewer arrays make cheaper calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.solvers.bounds.cuts.facets import coefficient_table, rho_table
from exactbnc.solvers.bounds.cuts.pool import Cuts, cut_value, misses, reduced_costs
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, Words
from scorecache.system.compiled import kernel, trailing_zeros

Bytes = NDArray[np.uint8]

INFINITE = np.int64(1 << 62)

REDUCED, COST, MASK = 0, 1, 2
"""Columns of a row of families or entries: (reduced cost or r, cost, words of the mask ...)."""
RAISED, MEMBERS = 0, 1
"""Columns of a raise: by how much, words of the cluster ..."""
(START, END, N_BYTES, BYTE_START, SUMS_START, COLUMN_START, COLUMN_END, FULL_START, FULL_END, MU) = range(10)
"""Columns of a child that stay."""
(N_ENTRIES, N_ZEROS, NEXT, PAID, INSIDE_ROW, INSIDE_COST, N_LOG) = range(10, 17)
"""Columns of a child at a state: entries, those with r = 0 among them, the next family to look at, what the child has
paid, the cheapest family inside S (-1: none that is alive and below the cap), its cost or else the cap, how often the
child was raised."""
N_COLUMNS = 17
EMPTY, PLACED, STUCK, CLUSTER = 0, 1, 2, 3
"""Rows of the scratch sets."""
RAISES_PER_VARIABLE = 20
"""Steps of dual ascent at one state, per variable; a cap on memory that is rarely met."""


class Sorted(NamedTuple):
    """Families that the root left, per child by ascending reduced cost, and all families by ascending cost.

    Family a of child v pays, beyond its reduced cost, the multiplier of each free cut marked in its N_BYTES bytes from
    BYTE_START + (a - START) * N_BYTES of `bits`; bit j stands for cut `column_cut[COLUMN_START + j]`. `full` are all
    families, by cost; in place of the reduced cost they hold their row in `rows`, -1 if the root removed them. `trials`
    is the order in which variables are tried as the next one: by the reduced cost of their smallest family, falling.
    """

    rows: Ints
    full: Ints
    bits: Bytes
    column_cut: Ints
    cuts: Ints
    rho: Ints
    children: Ints
    trials: Ints


class Workspace(NamedTuple):
    """What one thread needs to look at one state.

    `entries[START:START + N_ENTRIES]` are the families of a child looked at, those with r = 0 first. Kernels end
    early once `stop[0]` is not 0.
    """

    children: Ints
    entries: Ints
    free: Ints
    sums: Ints
    raises: Ints
    log: Ints
    sets: Ints
    outside: Ints
    waiting: Ints
    stuck: Ints
    rest: Ints
    order: Ints
    hits: Ints
    inside: Ints
    without: Ints
    caps: Ints
    stop: Ints


def make_workspace(table: Sorted, stop: Ints | None = None) -> Workspace:
    """Room for one thread; several may share a stop flag."""
    n, n_words = len(table.children), table.rows.shape[1] - MASK
    n_bytes = int(table.children[:, N_BYTES].sum())
    most_raises = RAISES_PER_VARIABLE * n
    return Workspace(
        children=table.children.copy(),
        entries=np.zeros(table.rows.shape, dtype=np.int64),
        free=np.zeros(len(table.cuts), dtype=np.int64),
        sums=np.zeros((n_bytes, 256), dtype=np.int64),
        raises=np.zeros((most_raises, MEMBERS + n_words), dtype=np.int64),
        log=np.zeros((n, most_raises), dtype=np.int32),
        sets=np.zeros((4, n_words), dtype=np.int64),
        outside=np.zeros(n + 1, dtype=np.int64),
        waiting=np.zeros(n, dtype=np.int64),
        stuck=np.zeros(n, dtype=np.int64),
        rest=np.zeros(n, dtype=np.int64),
        order=np.zeros(2 * n, dtype=np.int64),
        hits=np.zeros(n, dtype=np.int64),
        inside=np.zeros(n, dtype=np.int64),
        without=np.zeros(n, dtype=np.int64),
        caps=np.zeros(n, dtype=np.int64),
        stop=np.zeros(1, dtype=np.int64) if stop is None else stop,
    )


@kernel(inline="always")
def holds(words: Ints, row: int, v: int) -> bool:
    """Is variable v in the set of that row?"""
    return bool((words[row, v >> 6] >> (v & 63)) & 1)


@kernel(inline="always")
def put(words: Ints, row: int, v: int) -> None:
    """Add variable v to the set of that row."""
    words[row, v >> 6] |= np.int64(1) << np.int64(v & 63)


def arrange(table: CostTable, is_alive: NDArray[np.bool_], cuts: Cuts, multipliers: Ints) -> Sorted:
    """The table for ascents; families that are not alive still count where they are the cheapest inside a prefix."""
    used = multipliers > 0
    cuts, multipliers = cuts.chosen(used), multipliers[used]
    alive = table.without(~is_alive)
    reduced = reduced_costs(alive, cuts, multipliers)
    order = np.lexsort((alive.cost, reduced.cost, alive.child))
    rows = np.flatnonzero(is_alive)[order]
    place = np.full(table.n_families, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    masks = np.ascontiguousarray(alive.masks[order])
    column_start, column_cut, level = _columns(table.n_vars, cuts, coefficient_table())
    n_bytes = -(-np.diff(column_start) // 8)
    sizes = n_bytes * np.diff(alive.child_start)
    byte_start = np.cumsum(sizes) - sizes
    bits = _bits(alive.child_start, masks, cuts, coefficient_table(), column_start, column_cut, level, byte_start)
    children = np.zeros((table.n_vars, N_COLUMNS), dtype=np.int64)
    children[:, START], children[:, END] = alive.child_start[:-1], alive.child_start[1:]
    children[:, N_BYTES], children[:, BYTE_START] = n_bytes, byte_start
    children[:, SUMS_START] = np.cumsum(n_bytes) - n_bytes
    children[:, COLUMN_START], children[:, COLUMN_END] = column_start[:-1], column_start[1:]
    children[:, FULL_START], children[:, FULL_END] = table.child_start[:-1], table.child_start[1:]
    children[:, MU] = reduced.mu
    return Sorted(
        rows=np.column_stack([reduced.cost[order], alive.cost[order], masks.view(np.int64)]),
        full=np.column_stack([place, table.cost, table.masks.view(np.int64)]),
        bits=bits,
        column_cut=column_cut,
        cuts=np.column_stack([multipliers, cuts.k, cuts.facet, cuts.corners, cuts.masks.view(np.int64)]),
        rho=rho_table().astype(np.int64),
        children=children,
        trials=_trials(table, is_alive, reduced.cost),
    )


def _trials(table: CostTable, is_alive: NDArray[np.bool_], reduced: Ints) -> Ints:
    """The variables by the reduced cost of their smallest family, which is infinite where the root removed it."""
    reduced_of = np.full(table.n_families, INFINITE)
    reduced_of[is_alive] = reduced
    sizes = np.bitwise_count(table.masks).sum(axis=1)
    firsts, lasts = table.child_start[:-1].tolist(), table.child_start[1:].tolist()
    smallest = [first + int(np.argmin(sizes[first:last])) for first, last in zip(firsts, lasts, strict=True)]
    return np.argsort(-reduced_of[smallest], kind="stable").astype(np.int64)


@kernel
def _columns(n_vars: int, cuts: Cuts, facets: NDArray[np.int8]) -> tuple[Ints, Ints, Ints]:
    """Per child the cuts that it is in, each as often as the largest a(v, W); start, cut, 1 for the first time, ..."""
    levels = np.zeros((len(cuts.k), n_vars), dtype=np.int8)
    for q in range(len(cuts.k)):
        for w in range(cuts.masks.shape[1]):
            members = cuts.masks[q, w]
            while members:
                levels[q, 64 * w + trailing_zeros(members)] = 1
                members &= members - np.uint64(1)
        if cuts.facet[q] >= 0:
            for c in range(4):
                levels[q, cuts.corners[q, c]] = facets[cuts.facet[q], c].max()
    start = np.zeros(n_vars + 1, dtype=np.int64)
    for v in range(n_vars):
        start[v + 1] = start[v] + levels[:, v].sum()
    cut = np.empty(start[n_vars], dtype=np.int64)
    level = np.empty(start[n_vars], dtype=np.int64)
    at = 0
    for v in range(n_vars):
        for q in range(len(levels)):
            for height in range(levels[q, v]):
                cut[at], level[at] = q, height + 1
                at += 1
    return start, cut, level


@kernel
def _bits(
    start: Ints,
    masks: Words,
    cuts: Cuts,
    facets: NDArray[np.int8],
    column_start: Ints,
    column_cut: Ints,
    level: Ints,
    byte_start: Ints,
) -> NDArray[np.uint8]:
    """For every family, one bit per column: does a(v, W) reach the level?"""
    cut_masks, cut_k, cut_facet = cuts.masks, cuts.k, cuts.facet
    n_vars = len(start) - 1
    n_bytes = (np.diff(column_start) + 7) // 8
    bits = np.zeros(byte_start[-1] + n_bytes[-1] * (start[n_vars] - start[n_vars - 1]), dtype=np.uint8)
    for v in range(n_vars):
        for column in range(column_start[v], column_start[v + 1]):
            # column j of child v stands for cut q; its bit lies at the same place in the bytes of every family
            j, q = column - column_start[v], column_cut[column]
            bit = np.uint8(1 << (j & 7))
            at = byte_start[v] + (j >> 3)
            for f in range(start[v], start[v + 1]):
                # a(v, W) >= level: for a cluster |W n C| < k, for a facet by its table
                if cut_facet[q] < 0:
                    reaches = misses(masks, f, cut_masks, cut_k, q) > 0
                else:
                    reaches = cut_value(masks, f, v, cuts, q, facets) >= level[column]
                if reaches:
                    bits[at] |= bit
                at += n_bytes[v]
    return bits
