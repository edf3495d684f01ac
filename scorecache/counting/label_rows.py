"""Joint sets counted by row labels: any arity; sets that no live family needs are not counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import family_needed, parents_needed
from scorecache.counting.label import Lookup, new_lookup, put_cells, refine
from scorecache.counting.subsets import advance, rank_without, ranks_below, sets_before, unrank
from scorecache.counting.sums import Sums, new_sums, values_of
from scorecache.counting.terms import count_term
from scorecache.counting.types import Ints, Lattice, Rules, Slab, Terms, Values
from scorecache.system.compiled import kernel

CELLS_PER_ROW = 2
"""To number only the configurations that occur, a pass over the rows, takes as long as to sum this many cells a row."""


class Labelled(NamedTuple):
    """Distinct rows: codes by variable, weights, and the labels that rows start from.

    `roots[0]` numbers the base configurations; `roots[1]`, where a marginal is asked for, those without the class.
    """

    codes: NDArray[np.uint16]
    weights: Ints
    roots: NDArray[np.int32]
    n_roots: Ints
    dense_size: int
    hash_size: int


class Room(NamedTuple):
    """What the kernel works with: P and ranks below P + {x}, room for a set of one variable more, labels, counts.

    `labels[root, i]` numbers the configurations of the base and P[i:] that occur, and of P perhaps others; `n_labels`
    counts them.
    """

    row: Ints
    at_below: Ints
    members: Ints
    labels: NDArray[np.int32]
    n_labels: Ints
    refined: NDArray[np.int32]
    lookup: Lookup
    counts: Ints


def label_values(
    row_from: int,
    row_to: int,
    parents_only: bool,
    labelled: Labelled,
    lattice: Lattice,
    terms: Terms,
    rules: Rules,
    known: Slab,
) -> Values:
    """Count the joint sets of these rows that have a live family.

    `known` is the level below. With `parents_only` it is this level, scored already, and what is counted are the sets
    that were passed over but may still be the parents of some child.
    """
    n_row, n_vars, binom = lattice.size - 1, lattice.n_vars, lattice.binom
    first = sets_before(row_from, n_row, 1, n_vars, binom) + lattice.x_from
    here = slice(first, sets_before(row_to, n_row, 1, n_vars, binom))
    n_sets = here.stop - first
    sums = new_sums(n_sets, terms, is_top=lattice.is_top, with_bounds=not parents_only)
    counted = np.zeros(0 if lattice.is_top else n_sets, np.bool_)
    if parents_only:
        counted[:] = known.counted[here]
        sums.values[1 if len(terms.parent_start) else 0 :] = known.parent_value[:, here]
        if not len(terms.parent_start):
            np.negative(sums.values, out=sums.values)
    n_roots, n_rows = labelled.roots.shape
    labels = np.empty((n_roots, n_row + 1, n_rows), np.int32)
    labels[:, n_row] = labelled.roots
    n_labels = np.zeros((n_roots, n_row + 1), np.int64)
    n_labels[:, n_row] = labelled.n_roots
    room = Room(
        unrank(row_from, n_row, binom), np.empty(n_row + 1, np.int64), np.empty(n_row + 2, np.int64), labels, n_labels,
        np.empty(n_rows, np.int32), new_lookup(labelled.dense_size, labelled.hash_size),
        np.empty(max(labelled.dense_size, n_rows), np.int64),
    )  # fmt: skip
    _count_rows(row_from, row_to, parents_only, labelled, lattice, terms, rules, known, sums, counted, room)
    return values_of(first, sums, terms, is_top=lattice.is_top, counted=counted)


@kernel
def _count_rows(
    row_from: int,
    row_to: int,
    parents_only: bool,
    labelled: Labelled,
    lattice: Lattice,
    terms: Terms,
    rules: Rules,
    known: Slab,
    sums: Sums,
    counted: NDArray[np.bool_],
    room: Room,
) -> None:
    """Sum the terms of the joint sets that are needed, and mark them in `counted`, unless this level is the top one."""
    n_row, n_roots = lattice.size - 1, labelled.roots.shape[0]
    row, at_below, labels, n_labels = room.row, room.at_below, room.labels, room.n_labels
    # taken out of their tuples once: each time counts references to them, with locked instructions
    codes, weights, refined, lookup, counts = labelled.codes, labelled.weights, room.refined, room.lookup, room.counts
    starts, cell_start, values, table, cap = sums.start, terms.cell_start, sums.values, terms.table, terms.cap
    step, kinds, arities = lattice.step, lattice.kinds, lattice.arities
    first = rank_without(row, n_row, -1, -1, 1, lattice.binom) + lattice.x_from
    n_rows, dense_size, stale = len(refined), labelled.dense_size, n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        shape_p = 0
        for i in range(n_row):
            shape_p = step[shape_p, kinds[row[i]]]
        at = ranks_below(row, n_row, lattice.binom, at_below) - first
        for x in range(lattice.x_from, row[0] if n_row > 0 else lattice.n_vars):
            if parents_only:
                needed = not counted[at + x] and parents_needed(lattice, row, x, known, room.members)
            else:
                needed = family_needed(lattice, row, x, rules, known, at_below)
            if not needed:
                continue
            # the labels of P, from the largest variable that the last P counted did not share
            for root in range(n_roots):
                for i in range(stale, -1, -1):
                    above, n_above = labels[root, i + 1], n_labels[root, i + 1]
                    column, arity = codes[row[i]], arities[row[i]]
                    if i == 0 and n_above * arity * row[0] <= CELLS_PER_ROW * n_rows:
                        # configurations that do not occur cost a look in the sums of at most row[0] sets
                        put_cells(above, column, arity, labels[root, 0])
                        n_labels[root, 0] = n_above * arity
                    else:
                        n_labels[root, i] = refine(above, n_above, column, arity, labels[root, i], lookup)
            stale = -1
            # the cells of P + {x}, zeros among them while they are few: without the class (root 1) for the joint value
            # alone. Whole arrays are indexed: a slice counts references, as long as it takes to weigh a hundred rows
            shape = step[shape_p, kinds[x]]
            for root in range(n_roots):
                n_counts = n_labels[root, 0] * arities[x]
                if n_counts <= dense_size:
                    of_root, of_x, n_states = np.uint64(root), np.uint64(x), np.int32(arities[x])
                    for i in range(np.uint64(n_rows)):
                        refined[i] = labels[of_root, 0, i] * n_states + np.int32(codes[of_x, i])
                else:
                    n_counts = refine(labels[root, 0], n_labels[root, 0], codes[x], arities[x], refined, lookup)
                for cell in range(np.uint64(n_counts)):
                    counts[cell] = 0
                for i in range(np.uint64(n_rows)):
                    counts[np.uint32(refined[i])] += weights[i]
                for line in range(len(starts) if root == 0 else 1):
                    start = starts[line]
                    if line == 0:
                        start = cell_start[shape] if root == 0 else terms.marginal_start
                    total = 0
                    for cell in range(np.uint64(n_counts)):
                        n = counts[cell]
                        total += table[np.uint64(start + n)] if n < cap else count_term(terms, start, shape, n)
                    values[line, at + x] += total
            if len(counted) > 0:
                counted[at + x] = True
