"""What the discretisers share: which columns they discretise, the fitted cut points, and the codes of the intervals.

    code(x) = the number of cut points below x

A value equal to a cut point is thus in the lower bin, as it is in WEKA.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from exactbnc.learning.discretize._columns import replace, validated
from exactbnc.learning.discretize._tally import Floats, Ints, Tally
from scorecache.data.frames import as_floats, columns_of, holds_numbers
from scorecache.errors import ParameterError
from scorecache.wording import listing


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Replaces numbers by the codes 0, 1, ... of their bins; a subclass chooses the cut points.

    `columns` is "numeric" for all columns of numbers (not truth values, not pandas categories), or a list of names or
    positions; the other columns pass through. A column of numbers with at most `keep_at_most` distinct values passes
    through as well. NaN does not count when cut points are learned, and stays NaN; infinities are ordinary values.
    """

    cut_points_: dict[Hashable, Floats]
    """The cut points of every discretised column, by its name where X had names, else by its position."""

    n_features_in_: int

    def __init__(self, *, columns: Any = "numeric", keep_at_most: int | None = None) -> None:
        self.columns = columns
        self.keep_at_most = keep_at_most

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the cut points of every chosen column."""
        self._check_parameters()
        table = validated(self, X, reset=True)
        classes = self._encode_classes(y, len(table))
        weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
        columns = columns_of(table)
        self.cut_points_ = {}
        for position, label in self._chosen(columns):
            tally = Tally.of(as_floats(columns[position], label), classes, weights)
            if self.keep_at_most is None or tally.n_values > self.keep_at_most:
                self.cut_points_[label] = tally.cut_points(self._find_places(tally))
        return self

    def transform(self, X: Any) -> Any:
        """The codes in place of the numbers: whole numbers, but floats where a NaN must stay."""
        check_is_fitted(self)
        table = validated(self, X, reset=False)
        coded = {
            position: encode(as_floats(column, label), self.cut_points_[label])
            for position, (column, label) in enumerate(zip(columns_of(table), self._labels, strict=True))
            if label in self.cut_points_
        }
        return replace(table, coded)

    def intervals(self, column: Hashable) -> list[str]:
        """The bins of a column in words, by code: "(-inf, 2.45]", "(2.45, 4.75]", "(4.75, inf)"."""
        check_is_fitted(self)
        if column not in self.cut_points_:
            raise ParameterError(
                f"{column!r} is not a discretised column; these are {listing(map(repr, self.cut_points_))}"
            )
        return interval_labels(self.cut_points_[column])

    @property
    def one_bin_columns_(self) -> tuple[Hashable, ...]:
        """The discretised columns without a cut point: constant, or nothing to be gained by a cut."""
        check_is_fitted(self)
        return tuple(label for label, cut_points in self.cut_points_.items() if len(cut_points) == 0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @abstractmethod
    def _find_places(self, tally: Tally) -> Ints:
        """The neighbouring values between which the cut points are, ascending."""

    def _encode_classes(self, y: Any, n_rows: int) -> Ints:
        """The class of every row; for a method that does not use classes all are the same."""
        return np.zeros(n_rows, dtype=np.int64)

    def _check_parameters(self) -> None:
        if self.keep_at_most is not None:
            require_whole(self, "keep_at_most", least=0)
        if isinstance(self.columns, str) and self.columns != "numeric":
            raise ParameterError(
                f"The 'columns' parameter of {type(self).__name__} must be 'numeric' or a list of names or positions. "
                f"Got {self.columns!r} instead."
            )

    def _chosen(self, columns: list[Any]) -> list[tuple[int, Hashable]]:
        """Position and label of the columns to discretise."""
        every = list(enumerate(self._labels))
        if isinstance(self.columns, str):
            return [(position, label) for position, label in every if holds_numbers(columns[position])]
        wanted = set(self.columns)
        unknown = wanted.difference(*every)
        if unknown:
            raise ParameterError(
                f"The 'columns' parameter of {type(self).__name__} must list columns of X, which are "
                f"{listing(repr(label) for _, label in every)}. Got {listing(sorted(map(repr, unknown)))} instead."
            )
        return [pair for pair in every if not wanted.isdisjoint(pair)]

    @property
    def _labels(self) -> list[Hashable]:
        names = getattr(self, "feature_names_in_", None)
        return list(range(self.n_features_in_)) if names is None else list(names)


def encode(values: Floats, cut_points: Floats) -> NDArray[Any]:
    """The code of every value, whole numbers if none is NaN."""
    codes = np.searchsorted(cut_points, values)
    is_nan = np.isnan(values)
    return np.where(is_nan, np.nan, codes) if is_nan.any() else codes.astype(np.int64)


def interval_labels(cut_points: Floats) -> list[str]:
    """The bins between cut points in words.

    >>> interval_labels(np.array([2.45, 4.75]))
    ['(-inf, 2.45]', '(2.45, 4.75]', '(4.75, inf)']
    """
    rounded = [f"{point:.10g}" for point in cut_points]
    ends = rounded if len(set(rounded)) == len(rounded) else [repr(float(point)) for point in cut_points]
    return [f"({lower}, {upper}]" for lower, upper in zip(["-inf", *ends], ends, strict=False)] + [
        f"({ends[-1] if ends else '-inf'}, inf)"
    ]


def require_whole(owner: Discretizer, name: str, *, least: int) -> None:
    """Refuse a parameter that is not a whole number or too small."""
    value = getattr(owner, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(
            f"The {name!r} parameter of {type(owner).__name__} must be a whole number of at least {least}. "
            f"Got {value!r} instead."
        )
