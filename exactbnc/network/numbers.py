"""Numbers among the values of a table, and the intervals that cut points make of them.

    interval(x) = the number of cut points below x

A value equal to a cut point is thus in the lower interval, as it is in WEKA.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import Floats


def numbers_of(states: tuple[Hashable, ...]) -> Floats:
    """The numbers that states are or spell, NaN where there is none; remembered, since columns repeat.

    >>> numbers_of((1, "2.5", "one", True)).tolist()
    [1.0, 2.5, nan, nan]
    """
    return _remembered_numbers(states, tuple(map(type, states)))  # (0, 1) equals (False, True)


def bins_of(numbers: Floats, points: Sequence[float]) -> NDArray[np.uint16]:
    """The interval of every number: how many cut points are below it; one past the last interval for NaN."""
    bins = np.searchsorted(np.asarray(points, dtype=np.float64), numbers)
    return np.where(np.isnan(numbers), len(points) + 1, bins).astype(np.uint16)


def number_of(value: Hashable) -> float:
    """The number that a value is or spells, as tables spell numbers; NaN if it is not a number."""
    if isinstance(value, bool):
        return math.nan
    try:
        text = str(value)
        if not text.isascii() or "_" in text:  # numbers to Python alone
            return math.nan
        return float(value if isinstance(value, int) else text)
    except (ValueError, OverflowError):  # of an integer that is too large, too
        return math.nan


@lru_cache(maxsize=256)
def _remembered_numbers(states: tuple[Hashable, ...], types: tuple[type, ...]) -> Floats:
    numbers = np.array([number_of(state) for state in states], dtype=np.float64)
    numbers.flags.writeable = False
    return numbers
