"""Positive and negative numbers of any size: a double m and a whole number e stand for m 2^(512 e).

Weights of networks differ by factors of e^10000, beyond the range of a double. The steps of e are so large that
neighbours nearly always share it, so that a sum costs little more than that of two doubles. A number is *normal* if
2^-256 <= |m| < 2^256; zero has the exponent ZERO. Products of two normal numbers and sums of up to 2^250 of them do not
overflow; what a sum leaves out is below 2^-512 of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Floats = NDArray[np.float64]
Exponents = NDArray[np.int32]

ZERO = -(1 << 24)
"""The exponent of zero; products of fifty zeros are still in the range of 32 bits."""

UP, DOWN = 2.0**512, 2.0**-512
LARGE, SMALL = 2.0**256, 2.0**-256

_STEP_HIGH = float(np.floor(512 * np.log(2) * 2**20) / 2**20)
_STEP_LOW = 512 * 0.693147180559945309417232121458 - _STEP_HIGH
STEP = _STEP_HIGH + _STEP_LOW
"""512 ln 2, and its two parts: e times the first one is exact."""


class Wide(NamedTuple):
    """An array of such numbers: m and e of each."""

    m: Floats
    e: Exponents


@kernel(inline="always")
def normal(m: float, e: int) -> tuple[float, int]:
    """The same number, normal again after a product or a sum."""
    size = abs(m)
    if size >= LARGE:
        return m * DOWN, e + 1
    if size < SMALL and size > 0:
        return m * UP, e - 1
    return m, e


@kernel(inline="always")
def plus(m: float, e: int, m2: float, e2: int) -> tuple[float, int]:
    """The sum of two numbers, not made normal."""
    if e == e2:
        return m + m2, e
    if e > e2:
        return (m + m2 * DOWN, e) if e - e2 == 1 else (m, e)
    return (m2 + m * DOWN, e2) if e2 - e == 1 else (m2, e2)


def from_logs(logs: Floats, corrections: Floats | float = 0.0) -> Wide:
    """The numbers whose natural logarithms are logs + corrections, a sum more exact than a double; -inf is zero."""
    finite = np.isfinite(logs)
    steps = np.rint(np.where(finite, logs, 0.0) / STEP)
    rest = (np.where(finite, logs, 0.0) - steps * _STEP_HIGH) - steps * _STEP_LOW + corrections
    return Wide(np.where(finite, np.exp(rest), 0.0), np.where(finite, steps, ZERO).astype(np.int32))


def log_of(m: float, e: int) -> float:
    """The natural logarithm of a number; minus infinity if it is not positive."""
    return float(np.log(m) + e * _STEP_HIGH + e * _STEP_LOW) if m > 0 else -np.inf


def ratio(m: float, e: int, m2: float, e2: int) -> float:
    """A quotient that is known to be at most about one."""
    difference = int(e) - int(e2)
    return float(m / m2 * UP**difference) if abs(difference) <= 1 else 0.0
