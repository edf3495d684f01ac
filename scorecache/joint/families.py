"""Families of one row of joint sets: scores by difference, dominance, bounds.

A row is all joint sets S = P + {x}, x below P. Its families have the child x with parents P, or a child p in P with
parents P - p + x. Everything they need of smaller sets lies in runs over x, so each step is a loop over x.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.joint.types import Floats, Ints, Lattice, Rules, State, Terms
from scorecache.counting.subsets import rank_without

DEAD = np.inf
"""The best score of a family that is out of the domain or closed by a bound: nothing above it is looked at."""

BOUND_TOL = 1e-9
"""Relative safety of a bound: floating violations of up to 5e-13 were seen in tests of the proofs."""


@njit(cache=True, nogil=True)
def count_term(terms: Terms, start: int, shape: int, n: int) -> int:
    """The fixed-point term of one count."""
    if n < terms.cap:
        return terms.table[start + n]
    prior = terms.prior[shape]
    return int(round((math.lgamma(prior + n) - math.lgamma(prior)) / terms.unit))


@njit(cache=True, nogil=True)
def row_of_families(
    lattice: Lattice,
    row: Ints,
    x_from: int,
    x_to: int,
    joint_value: Ints,
    bound_value: Ints,
    unit: float,
    rules: Rules,
    below: State,
    here: State,
    is_top: bool,
    scratch: Floats,
    out_child: Ints,
    out_score: Floats,
    out_parents: NDArray[np.int32],
    n_out: int,
) -> int:
    """Score the families of a row, keep the best of each, and append the survivors; the new number of survivors."""
    m = lattice.size
    n_parents = m - 1
    two_part = below.parent_value.shape[0] > 1
    score = scratch[0]
    best = scratch[1]
    shape_p = 0
    for i in range(n_parents):
        shape_p = lattice.step[shape_p, lattice.kinds[row[i]]]

    for role in range(-1, n_parents):
        # role -1: the child is x and its parents are P; role i: the child is p_i, its parents P - p_i + x
        if role < 0:
            rank_w = rank_without(row, n_parents, -1, -1, 0, lattice.binom)
            for x in range(x_from, x_to):
                kind = lattice.kinds[x]
                value = below.parent_value[kind if two_part else 0, rank_w]
                score[x] = (joint_value[x] + value) * unit - rules.penalty[kind, shape_p] - rules.constant[x]
                best[x] = -np.inf if n_parents <= rules.limits[x] else DEAD
            for i in range(n_parents):
                subset = rank_without(row, n_parents, i, -1, 0, lattice.binom)
                parent = row[i]
                for x in range(x_from, x_to):
                    best[x] = max(best[x], below.best_by_set[subset, x])
                    if not rules.is_allowed[parent, x]:
                        best[x] = DEAD
        else:
            child = row[role]
            kind = lattice.kinds[child]
            shape_rest = 0
            dead = n_parents > rules.limits[child]
            for i in range(n_parents):
                if i != role:
                    shape_rest = lattice.step[shape_rest, lattice.kinds[row[i]]]
                    dead = dead or not rules.is_allowed[row[i], child]
            first_w = rank_without(row, n_parents, role, -1, 1, lattice.binom)
            values = below.parent_value[kind if two_part else 0]
            for x in range(x_from, x_to):
                shape_w = lattice.step[shape_rest, lattice.kinds[x]]
                score[x] = (
                    (joint_value[x] + values[first_w + x]) * unit - rules.penalty[kind, shape_w] - rules.constant[child]
                )
            floor = below.best_by_child[child, rank_without(row, n_parents, role, -1, 0, lattice.binom)]
            if dead:
                floor = DEAD
            for x in range(x_from, x_to):
                best[x] = floor if rules.is_allowed[x, child] else DEAD
            if floor < DEAD:
                bests = below.best_by_child[child]
                for i in range(n_parents):
                    if i != role:
                        subset = rank_without(row, n_parents, role, i, 1, lattice.binom)
                        for x in range(x_from, x_to):
                            best[x] = max(best[x], bests[subset + x])

        for x in range(x_from, x_to):
            if best[x] < DEAD and (not rules.prune or score[x] + rules.gap > best[x]):
                out_child[n_out] = x if role < 0 else row[role]
                out_score[n_out] = score[x]
                filled = 0
                if role >= 0:
                    out_parents[n_out, 0] = x
                    filled = 1
                for i in range(n_parents):
                    if i != role:
                        out_parents[n_out, filled] = row[i]
                        filled += 1
                n_out += 1
        if is_top:
            continue
        for x in range(x_from, x_to):
            value = max(best[x], score[x])
            if role < 0:
                child = x
                rank_w = rank_without(row, n_parents, -1, -1, 0, lattice.binom)
                shape_w = shape_p
            else:
                child = row[role]
                rank_w = first_w + x
                shape_w = lattice.step[shape_rest, lattice.kinds[x]]
            if rules.prune and value < DEAD:
                kind = lattice.kinds[child]
                bound = rules.bound_top[child] - rules.bound_penalty[kind, shape_w]
                if bound_value.shape[0] > 0:
                    bound = min(bound, bound_value[kind, x] * unit)
                if value >= bound + rules.gap + BOUND_TOL * max(1.0, abs(bound)):
                    value = DEAD
            here.best_by_child[child, rank_w] = value
            here.best_by_set[rank_w, child] = value
    return n_out


@njit(cache=True, nogil=True)
def grow(
    needed: int, out_child: Ints, out_score: Floats, out_parents: NDArray[np.int32]
) -> tuple[Ints, Floats, NDArray[np.int32]]:
    """Room for `needed` survivors, doubling."""
    size = len(out_child)
    while size < needed:
        size *= 2
    new_child = np.empty(size, np.int64)
    new_score = np.empty(size, np.float64)
    new_parents = np.empty((size, out_parents.shape[1]), np.int32)
    new_child[: len(out_child)] = out_child
    new_score[: len(out_score)] = out_score
    new_parents[: len(out_parents)] = out_parents
    return new_child, new_score, new_parents
