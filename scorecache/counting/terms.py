"""Sums of one-count terms, in fixed point (`scorecache.scoring.terms` makes the tables)."""

from __future__ import annotations

import ctypes
import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.types import Terms
from scorecache.system.compiled import kernel


def sum_terms(terms: Terms, start: int, shape: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fixed-point sums of the terms over the first axis, for the few counts that no kernel handles."""
    if counts.max(initial=0) < terms.cap:
        return np.asarray(terms.table[start + counts].sum(axis=0))
    values = terms.table[start + np.minimum(counts, terms.cap - 1)]
    large = counts >= terms.cap
    values[large] = [large_term(terms, shape, int(count)) for count in counts[large]]
    return np.asarray(values.sum(axis=0))


def large_term(terms: Terms, shape: int, n: int) -> int:
    """The fixed-point term of a count that the tables do not hold."""
    prior = float(terms.prior[shape])
    return round((log_gamma(prior + n) - log_gamma(prior)) / terms.unit)


def log_gamma(x: float) -> float:
    """The log-gamma function of the C library, which kernels use; Python's own differs in the last bits."""
    return float(_c_log_gamma()(x))


@cache
def _c_log_gamma() -> Any:
    try:
        library = ctypes.CDLL(None)
    except TypeError:  # Windows
        library = ctypes.CDLL("ucrtbase")
    function = library.lgamma
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


@kernel
def count_term(terms: Terms, start: int, shape: int, n: int | np.int64) -> int:
    """The fixed-point term of one count."""
    if n < terms.cap:
        return terms.table[np.uint64(start + n)]  # unsigned indices spare numba's test for negative ones
    prior = terms.prior[shape]
    return int(round((math.lgamma(prior + n) - math.lgamma(prior)) / terms.unit))
