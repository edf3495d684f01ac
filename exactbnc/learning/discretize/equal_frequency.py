"""Bins of equal frequency, as nearly as values that occur more than once allow.

Cut point j = 1..b-1 should have j W / b of the weight W of all rows at or below it. It goes between the two distinct
values where that is most nearly so, the lower place if two are equally near:

    i_j = argmin_i | W_i - j W / b |,        W_i the weight of the rows up to and with the distinct value v_i

Cut points at the same place are one, so that heavily repeated values leave fewer than b bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exactbnc.learning.discretize._base import Discretizer, require_whole
from exactbnc.learning.discretize._tally import Ints, Tally


class EqualFrequencyDiscretizer(Discretizer):
    """At most `n_bins` intervals with about the same number of rows each; `y` is not used.

    Parameters
    ----------
    n_bins : int, default 5
    columns : "numeric" or list, default "numeric"
        The names or positions of the columns to discretise; by default all columns of numbers (not truth values, not
        pandas categories). The other columns pass through.
    keep_at_most : int, optional
        A column with at most this many distinct numbers passes through as well.

    Attributes
    ----------
    cut_points_ : dict
        The cut points of every discretised column, by name or position. A value equal to a cut point is in the lower
        interval. NaN does not count when they are learned, and stays NaN; infinities are ordinary values.

    Examples
    --------
    >>> EqualFrequencyDiscretizer(3).fit_transform([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]).ravel().tolist()
    [0, 0, 1, 1, 2, 2]
    """

    def __init__(self, n_bins: int = 5, *, columns: Any = "numeric", keep_at_most: int | None = None) -> None:
        super().__init__(columns=columns, keep_at_most=keep_at_most)
        self.n_bins = n_bins

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_whole(self, "n_bins", least=1)

    def _find_places(self, tally: Tally) -> Ints:
        return equal_frequency_places(tally, self.n_bins)


def equal_frequency_places(tally: Tally, n_bins: int) -> Ints:
    """The places of the cut points for at most `n_bins` intervals, ascending."""
    if tally.n_values < 2:
        return np.empty(0, dtype=np.int64)
    below = tally.below
    # Place i beats i + 1 for a goal g iff W_i + W_(i+1) >= 2 g; times b, whole numbers stay whole.
    halfway = n_bins * (below[:-2] + below[1:-1])
    goals = 2 * below[-1] * np.arange(1, n_bins)
    return np.unique(np.searchsorted(halfway, goals)).astype(np.int64)
