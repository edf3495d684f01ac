"""A numeric column as all that cut points depend on: its distinct values, and how often each occurs in each class.

A cut point lies between two neighbouring distinct values v_i < v_(i+1), and its place is i; rows with equal values can
never be separated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tally:
    """`values` ascend and differ from each other; `counts` has a row per value and a column per class."""

    values: Floats
    counts: Floats

    @classmethod
    def of(cls, column: Floats, classes: Ints, weights: Floats) -> Tally:
        """Count a column; NaN and rows of weight 0 are ignored."""
        is_counted = ~np.isnan(column) & (weights > 0)
        values, positions = np.unique(column[is_counted], return_inverse=True)
        n_classes = int(classes.max(initial=0)) + 1
        cells = positions * n_classes + classes[is_counted]
        counts = np.bincount(cells, weights[is_counted], minlength=len(values) * n_classes)
        return cls(values, counts.astype(np.float64).reshape(len(values), n_classes))

    @property
    def n_values(self) -> int:
        return len(self.values)

    @property
    def below(self) -> Floats:
        """W_i: the weight of the rows up to and with v_i."""
        return np.cumsum(self.counts.sum(axis=1))

    def cut_points(self, places: Ints) -> Floats:
        """The cut points between v_i and v_(i+1), for every place i."""
        return cut_points_between(self.values[places], self.values[places + 1])


def cut_points_between(lower: Floats, upper: Floats) -> Floats:
    """The midpoints of lower < upper, or the nearest substitute with lower <= cut point < upper.

    Between neighbouring floats, and below +inf, it is the lower value; above -inf the largest float below the upper
    one; between -inf and +inf it is 0.
    """
    with np.errstate(invalid="ignore"):  # inf - inf
        points = np.clip(lower / 2 + upper / 2, lower, None)  # no overflow; halves of the tiniest floats are lost
    points = np.where(np.isneginf(lower), np.nextafter(upper, -np.inf), points)
    points = np.where((points >= upper) | np.isposinf(upper), lower, points)
    return np.where(np.isneginf(lower) & np.isposinf(upper), 0.0, points)
