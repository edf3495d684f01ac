"""Joint sets counted by row labels: any arity; sets that no live family needs are not counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.label import count_cells, refine
from scorecache.counting.subsets import advance, rank_without, unrank
from scorecache.scoring.joint.families import DEAD, pair_closed, sets_before
from scorecache.scoring.joint.terms import count_term
from scorecache.scoring.joint.types import Ints, Lattice, Rules, State, Terms, Values


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


@njit(cache=True, nogil=True)
def label_values(
    row_from: int,
    row_to: int,
    x_from: int,
    parents_only: bool,
    lattice: Lattice,
    labelled: Labelled,
    terms: Terms,
    rules: Rules,
    below: State,
    here: State,
    is_top: bool,
) -> Values:
    """Count the joint sets of these rows that have a live family.

    With `parents_only` the level has been scored already, and what is counted are the sets that were passed over but
    may still be the parents of some child.
    """
    n_row, n_vars = lattice.size - 1, lattice.n_vars
    n_rows = labelled.codes.shape[1]
    n_roots = labelled.roots.shape[0]
    row = np.zeros(max(n_row, 1), np.int64)
    if n_row > 0:
        unrank(row_from, n_row, n_vars, lattice.binom, row)
    first = rank_without(row, n_row, -1, -1, 1, lattice.binom)
    n_values = sets_before(lattice, row_to) - first
    n_bounds = len(terms.bound_start) if rules.prune and not is_top and not parents_only else 0
    joint = np.zeros(n_values, np.int64)
    bound = np.zeros((n_bounds, n_values), np.int64)
    labels = np.empty((n_roots, n_row + 1, n_rows), np.int32)
    n_labels = np.zeros((n_roots, n_row + 1), np.int64)
    for root in range(n_roots):
        labels[root, n_row] = labelled.roots[root]
        n_labels[root, n_row] = labelled.n_roots[root]
    numbers = np.full(labelled.dense_size, -1, np.int32)
    keys = np.full(labelled.hash_size, -1, np.int64)
    slots = np.empty(labelled.hash_size, np.int32)
    refined = np.empty(n_rows, np.int32)
    counts = np.empty(max(labelled.dense_size, n_rows), np.int64)

    stale = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        shape_p = 0
        for i in range(n_row):
            shape_p = lattice.step[shape_p, lattice.kinds[row[i]]]
        rank_s = rank_without(row, n_row, -1, -1, 1, lattice.binom)
        for x in range(x_from, row[0] if n_row > 0 else n_vars):
            if parents_only:
                needed = not here.counted[rank_s + x] and parents_needed(lattice, row, x, here)
            else:
                needed = family_needed(lattice, row, x, rules, below)
            if not needed:
                continue
            if stale >= 0:
                for root in range(n_roots):
                    for i in range(stale, -1, -1):
                        n_labels[root, i] = refine(
                            labels[root, i + 1], n_labels[root, i + 1], labelled.codes[row[i]], lattice.arities[row[i]],
                            labels[root, i], numbers, keys, slots,
                        )  # fmt: skip
                stale = -1
            shape = lattice.step[shape_p, lattice.kinds[x]]
            value = 0
            n_counts = 0
            for root in range(n_roots - 1, -1, -1):
                n_counts = count_cells(
                    labels[root, 0], n_labels[root, 0], labelled.codes[x], lattice.arities[x], labelled.weights,
                    counts, refined, numbers, keys, slots,
                )  # fmt: skip
                start = terms.marginal_start if root == 1 else terms.cell_start[shape]
                value += _sum_terms(terms, start, shape, counts, n_counts)
            joint[rank_s + x - first] = value
            if is_top:
                continue
            here.counted[rank_s + x] = True
            if len(terms.parent_start) == 0:
                here.parent_value[0, rank_s + x] = -value
            for kind in range(len(terms.parent_start)):
                here.parent_value[kind, rank_s + x] = _sum_terms(
                    terms, terms.parent_start[kind], shape, counts, n_counts
                )
            for kind in range(n_bounds):
                bound[kind, rank_s + x - first] = _sum_terms(terms, terms.bound_start[kind], shape, counts, n_counts)
    return Values(first, joint, bound)


@njit(cache=True, nogil=True)
def family_needed(lattice: Lattice, row: Ints, x: int, rules: Rules, below: State) -> bool:
    """Is any family of the joint set row + {x} still open?"""
    n_row = lattice.size - 1
    if n_row == 0:
        return True
    alive = n_row <= rules.limits[x]
    for i in range(n_row):
        if not alive:
            break
        subset = rank_without(row, n_row, i, -1, 0, lattice.binom)
        alive = rules.is_allowed[row[i], x] and below.best_by_set[subset, x] < DEAD
    if alive and not (rules.pair_price > 0.0 and pair_closed(lattice, row, x, -1, rules, below)):
        return True
    for role in range(n_row):
        child = row[role]
        alive = n_row <= rules.limits[child] and rules.is_allowed[x, child]
        alive = alive and below.best_by_child[child, rank_without(row, n_row, role, -1, 0, lattice.binom)] < DEAD
        for i in range(n_row):
            if not alive:
                break
            if i != role:
                subset = rank_without(row, n_row, role, i, 1, lattice.binom)
                alive = rules.is_allowed[row[i], child] and below.best_by_child[child, subset + x] < DEAD
        if alive and not (rules.pair_price > 0.0 and pair_closed(lattice, row, x, role, rules, below)):
            return True
    return False


@njit(cache=True, nogil=True)
def parents_needed(lattice: Lattice, row: Ints, x: int, here: State) -> bool:
    """May the joint set row + {x} still be the parents of some child?"""
    n_row = lattice.size - 1
    for child in range(lattice.n_vars):
        alive = child != x
        for i in range(n_row):
            alive = alive and child != row[i]
        if not alive:
            continue
        alive = here.best_by_set[rank_without(row, n_row, -1, -1, 0, lattice.binom), child] < DEAD
        for i in range(n_row):
            if not alive:
                break
            alive = here.best_by_set[rank_without(row, n_row, i, -1, 1, lattice.binom) + x, child] < DEAD
        if alive:
            return True
    return False


@njit(cache=True, nogil=True)
def _sum_terms(terms: Terms, start: int, shape: int, counts: Ints, n_counts: int) -> int:
    table, cap, total = terms.table, terms.cap, 0
    for i in range(n_counts):
        total += table[start + counts[i]] if counts[i] < cap else count_term(terms, start, shape, counts[i])
    return total
