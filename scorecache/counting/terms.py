"""Sums of one-count terms, in fixed point (`scorecache.scoring.terms` makes the tables)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.counting.types import Terms


def sum_terms(terms: Terms, start: int, shape: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fixed-point sums of the terms over the first axis, for the few counts that no kernel handles."""
    values = terms.table[start + np.minimum(counts, terms.cap - 1)]
    large = counts >= terms.cap
    if large.any():
        # the kernels' own function: another log-gamma would differ in the last bits
        values[large] = [count_term(terms, start, shape, int(count)) for count in counts[large]]
    return np.asarray(values.sum(axis=0))


@njit(cache=True, nogil=True)
def count_term(terms: Terms, start: int, shape: int, n: int) -> int:
    """The fixed-point term of one count."""
    if n < terms.cap:
        return terms.table[start + n]
    prior = terms.prior[shape]
    return int(round((math.lgamma(prior + n) - math.lgamma(prior)) / terms.unit))
