"""Two bins around the median.

    code(x) = 1 if x > median else 0

The cut point is the midpoint between the largest value that does not exceed the median and the next one. If none is
larger than the median, the cut point is below it, so that neither bin is empty in a column of two or more distinct
values.
"""

from __future__ import annotations

import numpy as np

from exactbnc.learning.discretize._base import Discretizer
from exactbnc.learning.discretize._tally import Ints, Tally


class MedianDiscretizer(Discretizer):
    """One cut point at the median; `y` is not used.

    Parameters
    ----------
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
    >>> MedianDiscretizer().fit_transform([[1.0], [2.0], [3.0], [10.0]]).ravel().tolist()
    [0, 0, 1, 1]
    """

    def _find_places(self, tally: Tally) -> Ints:
        if tally.n_values < 2:
            return np.empty(0, dtype=np.int64)
        below = tally.below
        half = int(np.searchsorted(2 * below, below[-1]))  # the first i with W_i >= W / 2
        return np.array([min(half, tally.n_values - 2)])
