"""The top level of a build with three free parents, the usual limit, where nothing is charged or restricted.

A row P = {a, b, c} and an x below it give four families: x | abc, a | xbc, b | xac, c | xab. Nothing lies above them,
so each is scored, compared with the best of its subsets and written down or forgotten in one pass over x.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.subsets import advance, unrank
from scorecache.scoring.joint.types import Floats, Ints, Lattice, Rules, State, Values

SIZE = 4
"""The variables of a joint set of this level."""


def applies(size: int, rules: Rules) -> bool:
    """Are the families of this top level scored here?"""
    return size == SIZE and rules.prune and not (rules.has_charge or rules.restricted or rules.pair_price > 0)


@njit(cache=True, nogil=True)
def families_of_triples(
    row_from: int, row_to: int, lattice: Lattice, values: Values, unit: float, gap: float, below: State
) -> tuple[Ints, Floats, NDArray[np.int32]]:
    """The survivors of these rows: child, score, parents; unsigned indices spare numba's test for negative ones."""
    binom, order, joint = lattice.binom, lattice.order, values.joint
    by_child, by_set, parts = below.best_by_child, below.best_by_set, below.parent_value
    kinds = lattice.kinds if len(parts) > 1 else np.zeros_like(lattice.kinds)
    room = SIZE * len(joint)
    out_child = np.empty(room, np.int64)
    out_score = np.empty(room, np.float64)
    out_parents = np.empty((room, SIZE - 1), np.int32)
    i0, i1, i2 = np.uint64(0), np.uint64(1), np.uint64(2)
    n = np.uint64(0)
    row = np.zeros(SIZE - 1, np.int64)
    unrank(row_from, SIZE - 1, lattice.n_vars, binom, row)
    for rank in range(row_from, row_to):
        if rank > row_from:
            advance(row, SIZE - 1)
        a, b, c = np.uint64(row[0]), np.uint64(row[1]), np.uint64(row[2])
        name_a, name_b, name_c = order[a], order[b], order[c]
        kind_a, kind_b, kind_c = np.uint64(kinds[a]), np.uint64(kinds[b]), np.uint64(kinds[c])
        # ranks of sets; those that begin with x are ranks for x = 0
        first = np.uint64(binom[a, 2] + binom[b, 3] + binom[c, 4] - values.first)
        abc = np.uint64(row[0] + binom[b, 2] + binom[c, 3])
        ab, ac, bc = np.uint64(row[0] + binom[b, 2]), np.uint64(row[0] + binom[c, 2]), np.uint64(row[1] + binom[c, 2])
        xa, xb, xc = np.uint64(binom[a, 2]), np.uint64(binom[b, 2]), np.uint64(binom[c, 2])
        xab, xac, xbc = xa + np.uint64(binom[b, 3]), xa + np.uint64(binom[c, 3]), xb + np.uint64(binom[c, 3])
        least_a, least_b, least_c = by_child[a, bc], by_child[b, ac], by_child[c, ab]
        for x in range(a):
            whole = joint[first + x]
            score = (whole + parts[np.uint64(kinds[x]), abc]) * unit
            if score + gap > max(by_set[ab, x], by_set[ac, x], by_set[bc, x]):
                out_child[n], out_score[n] = order[x], score
                out_parents[n, i0], out_parents[n, i1], out_parents[n, i2] = name_a, name_b, name_c
                n += i1
            score = (whole + parts[kind_a, xbc + x]) * unit
            if score + gap > max(least_a, by_child[a, xb + x], by_child[a, xc + x]):
                out_child[n], out_score[n] = name_a, score
                out_parents[n, i0], out_parents[n, i1], out_parents[n, i2] = order[x], name_b, name_c
                n += i1
            score = (whole + parts[kind_b, xac + x]) * unit
            if score + gap > max(least_b, by_child[b, xa + x], by_child[b, xc + x]):
                out_child[n], out_score[n] = name_b, score
                out_parents[n, i0], out_parents[n, i1], out_parents[n, i2] = order[x], name_a, name_c
                n += i1
            score = (whole + parts[kind_c, xab + x]) * unit
            if score + gap > max(least_c, by_child[c, xa + x], by_child[c, xb + x]):
                out_child[n], out_score[n] = name_c, score
                out_parents[n, i0], out_parents[n, i1], out_parents[n, i2] = order[x], name_a, name_b
                n += i1
    return out_child[:n].copy(), out_score[:n].copy(), out_parents[:n].copy()
