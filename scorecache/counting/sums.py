"""The sums over the cells of joint sets, which the counting kernels fill in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.types import Counts, Ints, Terms, Values

NO_COUNTS: Counts = np.empty((1, 0), dtype=np.int32)


class Sums(NamedTuple):
    """One line for every kind of term, with a value for each joint set.

    Line 0 is the joint value, whose terms depend on the shape of the set. The terms of the other lines begin at
    `start[line]`: first the parents' parts, then the bounds.
    """

    start: Ints
    values: Ints


def new_sums(n_sets: int, terms: Terms, *, is_top: bool, with_bounds: bool = True) -> Sums:
    """Room for the sums of this many sets, all 0; those of the top level are no parents and need no bound."""
    start = np.concatenate([[-1], terms.parent_start, terms.bound_start if with_bounds else []]).astype(np.int64)
    start = start[:1] if is_top else start
    return Sums(start, np.zeros((len(start), n_sets), np.int64))


def values_of(
    first: int,
    sums: Sums,
    terms: Terms,
    *,
    is_top: bool,
    counted: NDArray[np.bool_] | None = None,
    counts: Counts = NO_COUNTS,
    counts_at: int = 0,
) -> Values:
    """What the families of the sets from rank `first` on are scored from; None: every set was counted."""
    values, n_parts = sums.values, len(terms.parent_start)
    if is_top:
        parent_value = np.empty((max(1, n_parts), 0), np.int64)
    else:
        parent_value = values[1 : n_parts + 1] if n_parts else -values[:1]
    if counted is None:
        counted = np.ones(parent_value.shape[1], np.bool_)
    return Values(first, values[0], values[1 + n_parts :], parent_value, counted, counts, counts_at)
