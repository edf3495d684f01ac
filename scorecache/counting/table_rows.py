"""The parent sets of one child, counted by row labels and scored from their family tables.

Where a class-wise score may or may not take the class as a parent, one table serves both: the set W without the class,
from the table with the class summed out, and W + class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import BOUND_TOL, DEAD, ROOM
from scorecache.counting.label import Lookup, new_lookup, refine
from scorecache.counting.subsets import advance, rank_without, sets_before, unrank
from scorecache.counting.table_bounds import superset_bound
from scorecache.counting.table_types import Bounds, Floats, Ints, Model, Search, Table
from scorecache.counting.tables import class_score, plain_score
from scorecache.system.compiled import kernel

TABLE_CELLS = 1 << 20
"""Family tables with more cells are scored a batch of parent configurations at a time."""


class Room(NamedTuple):
    """What the kernel works with: P, labels of the rows line by line, a family table, and the survivors.

    `labels[i]` numbers the configurations of the required parents and P[i:], the last line those of W; `n_labels`
    counts them, and `priors[i]` has the prior network's p(j) of each.
    """

    row: Ints
    labels: NDArray[np.int32]
    n_labels: Ints
    priors: Floats
    lookup: Lookup
    table: Table
    out_class: Ints
    out_score: Floats
    out_parents: NDArray[np.int32]


def parent_sets(
    row_from: int,
    row_to: int,
    size: int,
    search: Search,
    model: Model,
    bounds: Bounds,
    below: Floats,
    is_top: bool,
) -> tuple[Ints, Floats, NDArray[np.int32], int, Floats]:
    """Score the sets W = P + {x} of `size` candidates in the rows `row_from` to `row_to`.

    `search` has the data and the candidates, `model` the child and its score, `bounds` how families are pruned. Nothing
    is kept for a next level if the level `is_top`.

    The survivors (holds the class?, score, W), the first rank of the level and, from there on, the best score among
    each set and its subsets, without and with the class (+inf: closed); `below` has these of the level below.
    """
    n_row, n_vars, binom = max(size - 1, 0), len(search.codes), search.binom
    first = sets_before(row_from, n_row, 1, n_vars, binom)
    n_sets = 1 if size == 0 else sets_before(row_to, n_row, 1, n_vars, binom) - first
    best = np.full((2, 0 if is_top else n_sets), DEAD)
    room = new_room(unrank(row_from, n_row, binom), size, search, model)
    found = []
    while row_from < row_to:
        row_from, n_out = score_parent_sets(row_from, row_to, size, first, search, model, bounds, below, best, room)
        found.append([own[:n_out].copy() for own in room[-3:]])
    holds_class, score, parents = (np.concatenate(own) for own in zip(*found, strict=True))
    return holds_class, score, parents, first, best


def new_room(row: Ints, size: int, search: Search, model: Model) -> Room:
    """Room for sets of a size, the labels of the required parents filled in."""
    (n_vars, n_rows), n_row = search.codes.shape, len(row)
    labels = np.empty((n_row + 2, n_rows), np.int32)
    labels[n_row] = search.root
    priors = np.empty((n_row + 2, n_rows + 1))
    priors[n_row, : search.n_root] = search.root_prior[: search.n_root]
    n_labels = np.zeros(n_row + 2, np.int64)
    n_labels[n_row] = search.n_root
    n_configs = max(1, min(n_rows, TABLE_CELLS // (model.r * model.s)))
    table = Table(
        np.empty((n_configs, model.r, model.s), np.int64), np.empty(model.r, np.int64), np.empty(model.s, np.int64)
    )
    n_out = ROOM + 2 * max(n_vars, 1)
    return Room(
        row, labels, n_labels, priors, new_lookup(search.dense_size, search.hash_size), table,
        np.empty(n_out, np.int64), np.empty(n_out), np.empty((n_out, size), np.int32),
    )  # fmt: skip


@kernel
def score_parent_sets(
    row_from: int,
    row_to: int,
    size: int,
    first: int,
    search: Search,
    model: Model,
    bounds: Bounds,
    below: Floats,
    best: Floats,
    room: Room,
) -> tuple[int, int]:
    """Score these rows until the room for survivors is used up; the row to continue with, and their number.

    `best` is that of the level, from rank `first` on, and empty at the top level.
    """
    n_row, n_vars, n_lines = max(size - 1, 0), search.codes.shape[0], max(size, 1)
    row, n_labels, n_out = room.row, room.n_labels, 0
    stale = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        shape_p = 0
        for i in range(n_row):
            shape_p = search.step[shape_p, search.kinds[row[i]]]
        # the empty set is scored once, as if it were the one x of its row
        x_to = 1 if size == 0 else (row[0] if n_row > 0 else n_vars)
        if n_out + 2 * x_to > len(room.out_class):
            return rank, n_out
        for x in range(x_to):
            rank_w = 0 if size == 0 else x + rank_without(row, n_row, -1, -1, 1, search.binom)
            best_plain, best_class = _best_below(size, row, n_row, x, search, below)
            if best_plain == DEAD and best_class == DEAD:
                continue
            # the labels of P, from the largest variable that the last P scored did not share
            for i in range(stale, -1, -1):
                n_labels[i] = _refine_with_prior(i + 1, i, row[i], search, room)
            stale = -1
            # the family tables of W = P + {x}: one line beyond those of P
            shape, line = shape_p, 0
            if size > 0:
                shape, line = search.step[shape_p, search.kinds[x]], n_lines
                n_labels[line] = _refine_with_prior(0, line, x, search, room)
            plain, with_class, bound = _score_labels(
                room.labels[line], n_labels[line], room.priors[line], shape, search, model, bounds, room.table
            )
            # without and with the class: does the score exceed that of every subset, may a superset's?
            for holds_class in range(2):
                score = with_class if holds_class else plain
                floor = best_class if holds_class else best_plain
                if holds_class and best_plain < DEAD:
                    floor = max(floor, best_plain, plain)
                if floor < DEAD and size <= (search.class_limit if holds_class else search.plain_limit):
                    if not bounds.prune or score + bounds.gap > floor:
                        room.out_class[n_out] = holds_class
                        room.out_score[n_out] = score
                        if size > 0:
                            room.out_parents[n_out, 0] = x
                            for i in range(n_row):
                                room.out_parents[n_out, i + 1] = row[i]
                        n_out += 1
                    floor = max(floor, score)
                    if bounds.prune and floor >= bound + bounds.gap + BOUND_TOL * max(1.0, abs(bound)):
                        floor = DEAD
                else:
                    floor = DEAD
                if best.shape[1] > 0:
                    best[holds_class, rank_w - first] = floor
    return row_to, n_out


@kernel
def _best_below(size: int, row: Ints, n_row: int, x: int, search: Search, below: Floats) -> tuple[float, float]:
    """The best scores among the sets with one candidate less, without and with the class."""
    best_plain = -np.inf if size <= search.plain_limit else DEAD
    best_class = -np.inf if size <= search.class_limit else DEAD
    if size > 0:
        subset = rank_without(row, n_row, -1, -1, 0, search.binom)
        best_plain = max(best_plain, below[0, subset])
        best_class = max(best_class, below[1, subset])
        for i in range(n_row):
            subset = x + rank_without(row, n_row, i, -1, 1, search.binom)
            best_plain = max(best_plain, below[0, subset])
            best_class = max(best_class, below[1, subset])
    return best_plain, best_class


@kernel
def _refine_with_prior(source: int, target: int, variable: int, search: Search, room: Room) -> int:
    """Split the labels of one line by a candidate's states into another; each new label's prior is a product."""
    column = search.codes[variable]
    known, refined = room.labels[source], room.labels[target]
    n_refined = refine(known, room.n_labels[source], column, search.arities[variable], refined, room.lookup)
    if len(search.marginals) > 0:
        start = search.marginal_start[variable]
        for i in range(len(refined)):
            p = search.marginals[start + column[i]]
            room.priors[target, refined[i]] = room.priors[source, known[i]] * p
    return n_refined


@kernel
def _score_labels(
    labels: NDArray[np.int32],
    n_labels: int,
    prior: Floats,
    shape: int,
    search: Search,
    model: Model,
    bounds: Bounds,
    table: Table,
) -> tuple[float, float, float]:
    """Scores without and with the class and the superset bound, from the tables of all configurations."""
    counts, per_batch = table.counts, len(table.counts)
    flat = counts.reshape(counts.size)
    n_outcomes = model.r * model.s
    with_plain = search.plain_limit >= 0
    with_class = search.class_limit >= 0
    plain, classed = 0.0, 0.0
    bound = -np.inf if bounds.on else np.inf
    for first in range(0, n_labels, per_batch):
        n_here = min(per_batch, n_labels - first)
        for cell in range(n_here * n_outcomes):
            flat[cell] = 0
        for i in range(len(labels)):
            j = labels[i] - first
            if 0 <= j < n_here:
                flat[j * n_outcomes + search.outcome[i]] += search.weights[i]
        if with_plain:
            plain += plain_score(model, table, n_here, prior[first:], search.q[shape], n_labels)
        if with_class:
            classed += class_score(model, table, n_here)
        if bounds.on:
            # one batch is the rule; with several, the parts beyond the first only have to stay an upper bound
            part = superset_bound(model, bounds, table, n_here, shape, with_class)
            bound = part if first == 0 else np.inf
    charge = search.penalty[shape] + model.constant
    return plain - charge, classed - charge, bound
