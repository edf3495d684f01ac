"""Cuts of `exactbnc.solvers.bounds.cuts.pool` as rows over columns, in the form with fewer entries.

    sum a(v, W) x(v, W) >= rho    or, with one family per variable and amax(v) = a(v, {}) the largest a(v, W),
    sum (amax(v) - a(v, W)) x(v, W) <= sum over v in C of amax(v) - rho

For a cluster, "at least 1 misses" is "at most |C| - 1 hit".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from exactbnc.solvers.bounds.cuts.facets import coefficient_table
from exactbnc.solvers.bounds.cuts.pool import Cuts, cut_value, misses, right_hand_sides
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import Words
from exactbnc.solvers.ilp.model.model import Columns, Floats, Row
from scorecache.system.compiled import kernel, trailing_zeros


def cut_rows(columns: Columns, cuts: Cuts) -> Iterator[Row]:
    """The rows of the cuts, in their order."""
    for q, rho in enumerate(right_hand_sides(cuts).tolist()):
        listed, a, is_complement, most = _row(columns.child_start, columns.masks, cuts, q, coefficient_table())
        yield Row(listed, a, rhs=float(most - rho)) if is_complement else Row(listed, a, lhs=float(rho))


@kernel
def _row(
    child_start: Ints, masks: Words, cuts: Cuts, q: int, facets: NDArray[np.int8]
) -> tuple[Ints, Floats, bool, int]:
    """Columns and coefficients of cut q, whether they are the complement's, and sum of amax."""
    cut_masks, cut_k, is_cluster = cuts.masks, cuts.k, cuts.facet[q] < 0
    listed = np.empty(len(masks), dtype=np.int64)
    values = np.empty(len(masks))
    complement = np.empty(len(masks))
    n, n_direct, n_complement, most = 0, 0, 0, 0
    for w in range(masks.shape[1]):
        members = cut_masks[q, w]
        while members:
            v = 64 * w + trailing_zeros(members)
            members &= members - np.uint64(1)
            # amax(v): 1 in a cluster, the value of the empty family in a facet
            largest = 1
            for c in range(4):
                if cuts.facet[q] >= 0 and cuts.corners[q, c] == v:
                    largest = int(facets[cuts.facet[q], c, 0])
            most += largest
            # a(v, W) and amax(v) - a(v, W) of every family
            for f in range(child_start[v], child_start[v + 1]):
                a = misses(masks, f, cut_masks, cut_k, q) if is_cluster else cut_value(masks, f, v, cuts, q, facets)
                listed[n], values[n], complement[n] = f, a, largest - a
                n += 1
                n_direct += a > 0
                n_complement += a < largest
    # the form with fewer entries
    is_complement = n_complement < n_direct
    if is_complement:
        values = complement
    used = np.flatnonzero(values[:n])
    return listed[used], values[used], is_complement, most
