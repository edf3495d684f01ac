"""Discretisation by entropy, as far as the minimum description length principle allows: Fayyad and Irani's MDLP.

A set S of N rows with k classes is split into S1 (value <= t) and S2 with k1 and k2 classes. Of all t between distinct
values the one of the largest gain is taken, the smallest t if there are several, and it is accepted iff

    gain = Ent(S) - N1/N Ent(S1) - N2/N Ent(S2)  >  (log2(N - 1) + delta) / N
    delta = log2(3^k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2))

Then S1 and S2 are split in turn. These are the cut points of WEKA's supervised `Discretize`.
Reference: Fayyad, Irani (1993), "Multi-interval discretization of continuous-valued attributes for classification
learning", section 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.utils import Tags, assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from exactbnc.learning.discretize._base import Discretizer, require_whole
from exactbnc.learning.discretize._tally import Floats, Ints, Tally
from exactbnc.learning.discretize.equal_frequency import equal_frequency_places
from scorecache.errors import DataError

TIE = 1e-11
"""Gains closer than this times log2 of the classes are equal: they are sums of logarithms with rounding errors."""


class MDLPDiscretizer(Discretizer):
    """Entropy-based cut points under Fayyad and Irani's stopping rule; the classes come as `y`.

    A column in which no cut point is accepted becomes one interval. A row of weight 2 counts as two rows, and fewer
    than two rows are not split.

    Parameters
    ----------
    columns : "numeric" or list, default "numeric"
        The names or positions of the columns to discretise; by default all columns of numbers (not truth values, not
        pandas categories). The other columns pass through.
    keep_at_most : int, optional
        A column with at most this many distinct numbers passes through as well.

    least_bins : int, default 1
        A column that would get fewer intervals gets this number of equal frequency instead.

    Attributes
    ----------
    cut_points_ : dict
        The cut points of every discretised column, by name or position. A value equal to a cut point is in the lower
        interval. NaN does not count when they are learned, and stays NaN; infinities are ordinary values.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]] * 3
    >>> y = ["a", "a", "a", "b", "b", "b"] * 3
    >>> MDLPDiscretizer().fit(X, y).cut_points_[0].tolist()
    [6.5]
    """

    def __init__(self, *, columns: Any = "numeric", keep_at_most: int | None = None, least_bins: int = 1) -> None:
        super().__init__(columns=columns, keep_at_most=keep_at_most)
        self.least_bins = least_bins

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_whole(self, "least_bins", least=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _encode_classes(self, y: Any, n_rows: int) -> Ints:
        if y is None:
            raise DataError("MDLPDiscretizer requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if len(y) != n_rows:
            raise DataError(f"X and y must have the same number of rows. Got {n_rows} and {len(y)} instead.")
        classes: Ints = np.unique(y, return_inverse=True)[1].astype(np.int64)
        return classes

    def _find_places(self, tally: Tally) -> Ints:
        places = mdlp_places(tally)
        return places if len(places) + 1 >= self.least_bins else equal_frequency_places(tally, self.least_bins)


def mdlp_places(tally: Tally) -> Ints:
    """The places of the accepted cut points, ascending."""
    below = np.vstack([np.zeros(tally.counts.shape[1]), np.cumsum(tally.counts, axis=0)])
    accepted = []
    pending = [(0, tally.n_values)]
    while pending:
        first, end = pending.pop()
        place = _best_place(below[first : end + 1])
        if place is not None:
            accepted.append(first + place)
            pending += [(first, first + place + 1), (first + place + 1, end)]
    return np.array(sorted(accepted), dtype=np.int64)


def _best_place(below: Floats) -> int | None:
    """The best place among values whose class counts add up as in `below`, None if it is not accepted."""
    whole = below[-1] - below[0]
    n = whole.sum()
    if len(below) < 3 or n < 2 or np.count_nonzero(whole) < 2:
        return None
    left = below[1:-1] - below[0]
    right = below[-1] - below[1:-1]
    gains = (_bits(whole) - _bits(left) - _bits(right)) / n
    place = int(np.argmax(gains >= gains.max() - TIE * math.log2(len(whole))))
    gain, s, s1, s2 = gains[place], whole, left[place], right[place]
    delta = math.log2(3 ** _n_classes(s) - 2) - (_cost(s) - _cost(s1) - _cost(s2))
    return place if gain > (math.log2(n - 1) + delta) / n else None


def _bits(counts: Floats) -> Floats:
    """N Ent(S) = N log2 N - sum_c N_c log2 N_c, for class counts on the last axis."""
    bits: Floats = (xlogy(counts.sum(axis=-1), counts.sum(axis=-1)) - xlogy(counts, counts).sum(axis=-1)) / math.log(2)
    return bits


def _cost(counts: Floats) -> float:
    """k Ent(S)"""
    return float(_n_classes(counts) * _bits(counts) / counts.sum())


def _n_classes(counts: Floats) -> int:
    """k"""
    return int(np.count_nonzero(counts))
