"""The families of counted joint sets: scores by difference, dominance, bounds.

A row is all joint sets S = P + {x}, x below P. Its families have the child x with parents P, or a child p in P with
parents P - p + x. Everything they need of smaller sets lies in runs over x, so each step is a loop over x.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.subsets import advance, rank_without, unrank
from scorecache.scoring.joint.types import Floats, Ints, Lattice, Rules, State, Values

DEAD = np.inf
"""The best score of a family that is out of the domain or closed by a bound: nothing above it is looked at."""

FIRST_ROOM = 4096
"""Survivors that a piece of work has room for at first."""

BOUND_TOL = 1e-9
"""Relative safety of a bound: floating violations of up to 5e-13 were seen in tests of the proofs."""


@njit(cache=True, nogil=True)
def families_of_rows(
    row_from: int,
    row_to: int,
    x_from: int,
    lattice: Lattice,
    values: Values,
    unit: float,
    rules: Rules,
    below: State,
    here: State,
    is_top: bool,
) -> tuple[Ints, Floats, NDArray[np.int32]]:
    """Score the families of these rows, note the best of each, and return the survivors (child, score, parents)."""
    m, n_vars = lattice.size, lattice.n_vars
    n_row = m - 1
    binom, step, kinds, order = lattice.binom, lattice.step, lattice.kinds, lattice.order
    penalty, constant, limits, is_allowed = rules.penalty, rules.constant, rules.limits, rules.is_allowed
    parent_value, best_by_child, best_by_set = below.parent_value, below.best_by_child, below.best_by_set
    here_by_child, here_by_set = here.best_by_child, here.best_by_set
    prune, gap = rules.prune, rules.gap
    joint, values_from = values.joint, values.first
    pairs_on = rules.pair_price > 0.0
    two_part = parent_value.shape[0] > 1
    has_charge = rules.has_charge
    restricted = rules.restricted
    row = np.zeros(max(n_row, 1), np.int64)
    if n_row > 0:
        unrank(row_from, n_row, n_vars, binom, row)
    score = np.empty(n_vars, np.float64)
    best = np.empty(n_vars, np.float64)
    shape_w = np.empty(n_vars, np.int64)
    out_child = np.empty(FIRST_ROOM, np.int64)
    out_score = np.empty(FIRST_ROOM, np.float64)
    out_parents = np.empty((FIRST_ROOM, max(n_row, 1)), np.int32)
    n_out = 0

    for rank in range(row_from, row_to):
        if rank > row_from:
            advance(row, n_row)
        x_to = row[0] if n_row > 0 else n_vars
        if x_to <= x_from:
            continue
        first = rank_without(row, n_row, -1, -1, 1, binom) - values_from
        if n_out + m * x_to > len(out_child):
            room = 2 * (n_out + m * x_to)
            out_child, out_score, out_parents = resized(out_child, out_score, out_parents, n_out, room)
        for role in range(-1, n_row):
            shape = 0
            for i in range(n_row):
                if i != role:
                    shape = step[shape, kinds[row[i]]]
            # the smallest element of W: x itself, or W = P, the same for every x
            if role < 0:
                rank_w = rank_without(row, n_row, -1, -1, 0, binom)
                if two_part:
                    for x in range(x_from, x_to):
                        score[x] = (joint[first + x] + parent_value[kinds[x], rank_w]) * unit
                else:
                    _add_part(joint, first, parent_value[0, rank_w], unit, x_from, x_to, score)
                if has_charge:
                    for x in range(x_from, x_to):
                        score[x] -= penalty[kinds[x], shape] + constant[x]
                if n_row == 0:
                    for x in range(x_from, x_to):
                        best[x] = -np.inf
                for i in range(n_row):
                    subset = rank_without(row, n_row, i, -1, 0, binom)
                    if i == 0:
                        _start_from(best_by_set, subset, 0, -np.inf, x_from, x_to, best)
                    else:
                        _raise_to(best_by_set, subset, 0, x_from, x_to, best)
                if restricted:
                    for x in range(x_from, x_to):
                        if n_row > limits[x]:
                            best[x] = DEAD
                        for i in range(n_row):
                            if not is_allowed[row[i], x]:
                                best[x] = DEAD
            else:
                child = row[role]
                kind = kinds[child]
                rank_w = rank_without(row, n_row, role, -1, 1, binom)
                part = kind if two_part else 0
                _add_parts(joint, first, parent_value, part, rank_w, unit, x_from, x_to, score)
                if has_charge or not is_top:
                    for x in range(x_from, x_to):
                        shape_w[x] = step[shape, kinds[x]]
                        score[x] -= penalty[kind, shape_w[x]] + constant[child]
                floor = best_by_child[child, rank_without(row, n_row, role, -1, 0, binom)]
                if restricted:
                    if n_row > limits[child]:
                        floor = DEAD
                    for i in range(n_row):
                        if i != role and not is_allowed[row[i], child]:
                            floor = DEAD
                if n_row == 1:
                    for x in range(x_from, x_to):
                        best[x] = floor
                started = False
                for i in range(n_row):
                    if i != role:
                        subset = rank_without(row, n_row, role, i, 1, binom)
                        if started:
                            _raise_to(best_by_child, child, subset, x_from, x_to, best)
                        else:
                            _start_from(best_by_child, child, subset, floor, x_from, x_to, best)
                            started = True
                if restricted:
                    for x in range(x_from, x_to):
                        if not is_allowed[x, child]:
                            best[x] = DEAD

            if pairs_on:
                for x in range(x_from, x_to):
                    if best[x] < DEAD and pair_closed(lattice, row, x, role, rules, below):
                        best[x] = DEAD
            for x in range(x_from, x_to):
                if score[x] + gap > best[x] or (not prune and best[x] < DEAD):
                    out_child[n_out] = order[x if role < 0 else row[role]]
                    out_score[n_out] = score[x]
                    filled = 0
                    if role >= 0:
                        out_parents[n_out, 0] = order[x]
                        filled = 1
                    for i in range(n_row):
                        if i != role:
                            out_parents[n_out, filled] = order[row[i]]
                            filled += 1
                    n_out += 1
            if is_top:
                continue

            if pairs_on:
                for x in range(x_from, x_to):
                    child = x if role < 0 else row[role]
                    likelihood = score[x] + penalty[kinds[child], shape if role < 0 else shape_w[x]]
                    known = here.counted[first + values_from + x]
                    here.entropy[child, rank_w + (0 if role < 0 else x)] = -likelihood if known else np.inf
            for x in range(x_from, x_to):
                best[x] = max(best[x], score[x])
            if prune:
                for x in range(x_from, x_to):
                    child = x if role < 0 else row[role]
                    kind = kinds[child]
                    bound = rules.bound_top[child] - rules.bound_penalty[kind, shape if role < 0 else shape_w[x]]
                    if values.bound.shape[0] > 0:
                        bound = min(bound, values.bound[kind, first + x] * unit)
                    if best[x] >= bound + gap + BOUND_TOL * max(1.0, abs(bound)):
                        best[x] = DEAD
            if role < 0:
                for x in range(x_from, x_to):
                    here_by_child[x, rank_w] = best[x]
                    here_by_set[rank_w, x] = best[x]
            else:
                for x in range(x_from, x_to):
                    here_by_child[row[role], rank_w + x] = best[x]
                    here_by_set[rank_w + x, row[role]] = best[x]
    return resized(out_child, out_score, out_parents, n_out, n_out)


@njit(cache=True, nogil=True)
def _start_from(floors: Floats, line: int, start: int, least: float, x_from: int, x_to: int, best: Floats) -> None:
    """best[x] = max(least, floors[line, start + x]); unsigned indices spare numba's test for negative ones."""
    i, at = np.uint64(line), np.uint64(start)
    for x in range(np.uint64(x_from), np.uint64(x_to)):
        best[x] = max(least, floors[i, at + x])


@njit(cache=True, nogil=True)
def _raise_to(floors: Floats, line: int, start: int, x_from: int, x_to: int, best: Floats) -> None:
    """best[x] = max(best[x], floors[line, start + x])."""
    i, at = np.uint64(line), np.uint64(start)
    for x in range(np.uint64(x_from), np.uint64(x_to)):
        best[x] = max(best[x], floors[i, at + x])


@njit(cache=True, nogil=True)
def _add_part(joint: Ints, first: int, part: int, unit: float, x_from: int, x_to: int, score: Floats) -> None:
    """score[x] = (joint[first + x] + part) * unit."""
    at_joint = np.uint64(first)
    for x in range(np.uint64(x_from), np.uint64(x_to)):
        score[x] = (joint[at_joint + x] + part) * unit


@njit(cache=True, nogil=True)
def _add_parts(
    joint: Ints, first: int, parts: Ints, line: int, start: int, unit: float, x_from: int, x_to: int, score: Floats
) -> None:
    """score[x] = (joint[first + x] + parts[line, start + x]) * unit."""
    at_joint, i, at = np.uint64(first), np.uint64(line), np.uint64(start)
    for x in range(np.uint64(x_from), np.uint64(x_to)):
        score[x] = (joint[at_joint + x] + parts[i, at + x]) * unit


@njit(cache=True, nogil=True)
def pair_closed(lattice: Lattice, row: Ints, x: int, role: int, rules: Rules, below: State) -> bool:
    """Does the pair rule (`scorecache.scoring.pruning`) close this family and all above it?

    The child is x with parents P for role -1, otherwise p_role with parents P - p_role + x.
    """
    n_row = lattice.size - 1
    child = x if role < 0 else row[role]
    for i in range(n_row if role < 0 else n_row + 1):
        # the parent to be added last: p_i, or x where i has run past the row
        if i == role:
            continue
        added = row[i] if i < n_row else x
        shape = 0
        for other in range(n_row):
            if other != i and other != role:
                shape = lattice.step[shape, lattice.kinds[row[other]]]
        if role >= 0 and i < n_row:
            shape = lattice.step[shape, lattice.kinds[x]]
            rank = x + rank_without(row, n_row, role, i, 1, lattice.binom)
        else:
            rank = rank_without(row, n_row, role, i, 0, lattice.binom)
        price = rules.pair_price * rules.q[shape]
        price *= (lattice.arities[added] - 1) * (lattice.arities[child] - 1)
        gain = min(below.entropy[child, rank], below.entropy[added, rank])
        if price >= gain + rules.gap + BOUND_TOL * max(1.0, gain):
            return True
    return False


@njit(cache=True, nogil=True)
def resized(
    out_child: Ints, out_score: Floats, out_parents: NDArray[np.int32], n_out: int, size: int
) -> tuple[Ints, Floats, NDArray[np.int32]]:
    """The first `n_out` survivors in arrays of another size."""
    n_columns = out_parents.shape[1]
    new_child = np.empty(size, np.int64)
    new_score = np.empty(size, np.float64)
    new_parents = np.empty((size, n_columns), np.int32)
    for f in range(n_out):
        new_child[f] = out_child[f]
        new_score[f] = out_score[f]
        for i in range(n_columns):
            new_parents[f, i] = out_parents[f, i]
    return new_child, new_score, new_parents


@njit(cache=True, nogil=True)
def sets_before(lattice: Lattice, row_to: int) -> int:
    """The number of joint sets in all rows before `row_to`."""
    n_row = lattice.size - 1
    if n_row == 0:
        return lattice.n_vars
    if row_to == lattice.binom[lattice.n_vars, n_row]:
        return lattice.binom[lattice.n_vars, n_row + 1]
    row = np.zeros(n_row, np.int64)
    unrank(row_to, n_row, lattice.n_vars, lattice.binom, row)
    return rank_without(row, n_row, -1, -1, 1, lattice.binom)
