"""Kernels of the block-coordinate ascent: which families a cluster misses, and exact steps on one multiplier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import Words
from scorecache.system.compiled import kernel, popcount

Floats = NDArray[np.float64]
Flags = NDArray[np.uint8]

LARGEST_STEP = 20.0
"""No step multiplies weights by more: steps on other clusters should have their say in between."""
SMALLEST_STEP = 1e-20
LARGEST_WEIGHT = 1e100
N_NEWTON = 30
NEWTON_TOL = 1e-6
SMALL_STEP = 1e-3
"""Sweeps end when no weight changed by more than this share."""


@kernel
def missing_flags(
    child_start: Ints, families: Words, clusters: Words, k: Ints, pair_start: Ints, members: Ints
) -> tuple[Ints, Flags]:
    """Per cluster and member v one flag for every family of v: does it have fewer than k members inside?"""
    flag_start = np.zeros(len(members) + 1, dtype=np.int64)
    for p in range(len(members)):
        flag_start[p + 1] = flag_start[p] + child_start[members[p] + 1] - child_start[members[p]]
    misses = np.zeros(flag_start[-1], dtype=np.uint8)
    for q in range(len(k)):
        for p in range(pair_start[q], pair_start[q + 1]):
            at = flag_start[p]
            for f in range(child_start[members[p]], child_start[members[p] + 1]):
                n_inside = np.int64(0)
                for w in range(families.shape[1]):
                    n_inside += np.int64(popcount(families[f, w] & clusters[q, w]))
                misses[at] = n_inside < k[q]
                at += 1
    return flag_start, misses


@kernel
def sweep(
    child_start: Ints,
    k: Ints,
    pair_start: Ints,
    members: Ints,
    flag_start: Ints,
    misses: Flags,
    temperature: float,
    n_sweeps: int,
    multipliers: Floats,
    weight: Floats,
) -> None:
    """Sweeps over the clusters: set each multiplier to the best given the others, and change the weights with it."""
    hitting = np.empty(len(child_start))
    missing = np.empty(len(child_start))
    for _ in range(n_sweeps):
        largest = 0.0
        for q in range(len(k)):
            first, n_members = pair_start[q], pair_start[q + 1] - pair_start[q]
            for i in range(n_members):
                v = members[first + i]
                total, missed = 0.0, 0.0
                at = flag_start[first + i]
                for f in range(child_start[v], child_start[v + 1]):
                    if misses[at]:
                        missed += weight[f]
                    else:
                        total += weight[f]
                    at += 1
                hitting[i], missing[i] = total, missed
            lowest = max(np.exp(-multipliers[q] / temperature), SMALLEST_STEP)
            z = min(max(best_factor(hitting, missing, n_members, float(k[q])), lowest), LARGEST_STEP)
            if z == 1.0:
                continue
            multipliers[q] = max(0.0, multipliers[q] + temperature * np.log(z))
            largest = max(largest, abs(z - 1.0))
            for i in range(n_members):
                v = members[first + i]
                after = hitting[i] + z * missing[i]
                # only ratios within a child matter
                scale = 1.0 if 1.0 / LARGEST_WEIGHT < after < LARGEST_WEIGHT else 1.0 / after
                at = flag_start[first + i]
                for f in range(child_start[v], child_start[v + 1]):
                    weight[f] *= scale * (z if misses[at] else 1.0)
                    at += 1
        if largest < SMALL_STEP:
            break


@kernel
def best_factor(hitting: Floats, missing: Floats, n_members: int, k: float) -> float:
    """z with  sum_v B_v z / (A_v + B_v z) = k  for A hitting and B missing; 0 or LARGEST_STEP where there is none.

    The sum is concave in z and Newton's method starts where it is below k, so it rises to the solution.
    """
    z, n_able = np.inf, 0
    for i in range(n_members):
        if missing[i] > 0.0:
            if hitting[i] > 0.0:
                n_able += 1
                z = min(z, hitting[i] / missing[i])
            else:
                k -= 1.0  # misses the cluster whatever z is
    if k <= 0.0:
        return 0.0
    if n_able <= k:
        return LARGEST_STEP
    z *= k / n_members
    for _ in range(N_NEWTON):
        value, slope = -k, 0.0
        for i in range(n_members):
            if missing[i] > 0.0 and hitting[i] > 0.0:
                total = hitting[i] + missing[i] * z
                value += missing[i] * z / total
                slope += missing[i] / total * (hitting[i] / total)
        if slope <= 0.0 or z > LARGEST_STEP:
            break
        step = -value / slope
        z += step
        if step <= NEWTON_TOL * z:
            break
    return z
