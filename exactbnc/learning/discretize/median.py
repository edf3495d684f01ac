"""Two bins around the median.

    code(x) = 1 if x > median else 0

The cut is the midpoint between the largest value that does not exceed the median and the next one. If none is larger
than the median, the cut is below it, so that neither bin is empty in a column of two or more distinct values.
"""

from __future__ import annotations

import numpy as np

from exactbnc.learning.discretize._base import Discretizer
from exactbnc.learning.discretize._tally import Ints, Tally


class MedianDiscretizer(Discretizer):
    """One cut at the median; `y` is not used."""

    def _find_cuts(self, tally: Tally) -> Ints:
        if tally.n_values < 2:
            return np.empty(0, dtype=np.int64)
        below = tally.below
        half = int(np.searchsorted(2 * below, below[-1]))  # the first i with W_i >= W / 2
        return np.array([min(half, tally.n_values - 2)])
