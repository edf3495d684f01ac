"""The subset lattice in blocks: best orders of all sets that share their high variables, from the blocks below.

A set S of n variables is the pair (h, l): h its high variables, the number of the block, and l its low ones, the place
in the block. With b[v, S] the best score of v over families inside S, and S a set that does not hold v,

    best[S] = max over v in S of  best[S - v] + b[v, S - v]

- v high: block h - v is finished; its whole row and b[v, (h - v, .)] are added in one run over l.
- v low: bit v of l separates runs of length 2^v, and a run with the bit follows the finished run without it.

b[v, (h, .)] is made on the spot and never kept: families of v whose high part lies in h are entered at their low part,
and a subset maximum over the low bits alone completes it. So only `best` is stored, 2^n numbers, and all else happens
in a few 2^n_low numbers that stay in the cache of a core.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MIN_LOW = 3
"""Low variables at least: sets are treated in groups of 2^3 neighbours."""


class LatticeFamilies(NamedTuple):
    """Families of variable v: rows `child_start[v]:child_start[v + 1]`.

    `high_mask` are the high parents; `low_mask` the low parents, with bit v squeezed out if v itself is low.
    """

    child_start: Ints
    high_mask: Ints
    low_mask: Ints
    scores: Floats


@kernel
def fill_blocks(blocks: Ints, n_low: int, families: LatticeFamilies, best: Floats) -> None:
    """Fill these rows of `best` (2^n_high by 2^n_low); the rows of all proper subsets must be finished."""
    n_vars = len(families.child_start) - 1
    inside = np.empty(1 << n_low)
    low_inside = np.empty((n_low, 1 << (n_low - 1)))
    for block in blocks:
        row = best[block]
        row[:] = -np.inf
        if block == 0:
            row[0] = 0.0
        for v in range(n_low, n_vars):
            bit = 1 << (v - n_low)
            if block & bit:
                best_inside(v, block ^ bit, families, inside)
                _add_sink(best[block ^ bit], inside, row)
        for v in range(n_low):
            best_inside(v, block, families, low_inside[v])
        _place_low_sinks(low_inside, row)


@kernel
def best_inside(v: int, block: int, families: LatticeFamilies, scores: Floats) -> None:
    """scores[l] = the best score of v over its families inside the set (block, l); minus infinity if there is none."""
    scores[:] = -np.inf
    outside = ~block
    for f in range(families.child_start[v], families.child_start[v + 1]):
        if families.high_mask[f] & outside == 0:
            place = families.low_mask[f]
            scores[place] = _larger(scores[place], families.scores[f])
    subset_max(scores)


@kernel
def subset_max(values: Floats) -> None:
    """values[S] becomes the maximum of values[W] over all W inside S."""
    size = len(values)
    width = 1
    if size >= 8:
        _subset_max_of_8(values.reshape(size // 8, 8))
        width = 8
    while 4 * width <= size:
        _subset_max_of_4_runs(values.reshape(size // (4 * width), 4, width))
        width *= 4
    while 2 * width <= size:
        runs = values.reshape(size // (2 * width), 2, width)
        for k in range(runs.shape[0]):
            for i in range(runs.shape[2]):
                runs[k, 1, i] = _larger(runs[k, 1, i], runs[k, 0, i])
        width *= 2


@kernel(inline="always")
def _larger(x: float, y: float) -> float:
    """One machine instruction, unlike `max`, which treats NaN."""
    return x if x > y else y


@kernel
def _subset_max_of_8(groups: Floats) -> None:
    """Bits 0, 1 and 2."""
    for g in range(groups.shape[0]):
        x0, x1, x2, x3 = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        x4, x5, x6, x7 = groups[g, 4], groups[g, 5], groups[g, 6], groups[g, 7]
        x1, x3, x5, x7 = _larger(x1, x0), _larger(x3, x2), _larger(x5, x4), _larger(x7, x6)
        x2, x3, x6, x7 = _larger(x2, x0), _larger(x3, x1), _larger(x6, x4), _larger(x7, x5)
        groups[g, 1], groups[g, 2], groups[g, 3] = x1, x2, x3
        groups[g, 4], groups[g, 5] = _larger(x4, x0), _larger(x5, x1)
        groups[g, 6], groups[g, 7] = _larger(x6, x2), _larger(x7, x3)


@kernel
def _subset_max_of_4_runs(runs: Floats) -> None:
    """Two bits in one pass: `runs` has the shape (outer, 4, width)."""
    for k in range(runs.shape[0]):
        for i in range(runs.shape[2]):
            x0, x1, x2, x3 = runs[k, 0, i], runs[k, 1, i], runs[k, 2, i], runs[k, 3, i]
            x1, x3 = _larger(x1, x0), _larger(x3, x2)
            runs[k, 1, i], runs[k, 2, i], runs[k, 3, i] = x1, _larger(x2, x0), _larger(x3, x1)


@kernel
def _add_sink(best_before: Floats, inside: Floats, best: Floats) -> None:
    for i in range(len(best)):
        best[i] = _larger(best[i], best_before[i] + inside[i])


@kernel
def _place_low_sinks(inside: Floats, best: Floats) -> None:
    """Let every low variable be the last, in a row that holds the best with a high one last.

    At a multiple m of 8, with 2^v the largest power of 2 in m, the run of 2^v sets before m is finished, and the run
    from m on has the same sets with v. The three lowest variables are placed within each group of 8.
    """
    t0, t1, t2 = inside[0], inside[1], inside[2]
    for g in range(len(best) >> 3):
        m = g << 3
        if g > 0:
            v = 3
            while not m >> v & 1:
                v += 1
            width = 1 << v
            squeezed = m >> (v + 1) << v
            _add_sink(best[m - width : m], inside[v, squeezed : squeezed + width], best[m : m + width])
        group = best[m : m + 8]
        a, b, c = t0[m >> 1 : (m >> 1) + 4], t1[m >> 1 : (m >> 1) + 4], t2[m >> 1 : (m >> 1) + 4]
        group[1] = _larger(group[1], group[0] + a[0])
        group[2] = _larger(group[2], group[0] + b[0])
        group[3] = _larger(group[3], _larger(group[1] + b[1], group[2] + a[1]))
        group[4] = _larger(group[4], group[0] + c[0])
        group[5] = _larger(group[5], _larger(group[1] + c[1], group[4] + a[2]))
        group[6] = _larger(group[6], _larger(group[2] + c[2], group[4] + b[2]))
        last = _larger(group[3] + c[3], _larger(group[5] + b[3], group[6] + a[3]))
        group[7] = _larger(group[7], last)
