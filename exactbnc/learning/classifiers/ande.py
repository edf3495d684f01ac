"""`A1DEClassifier` and `A2DEClassifier`: the average of all models in which one or two features are parents of all.

Reference: Webb, Boughton, Wang (2005); Webb, Boughton, Zheng, Ting, Salem (2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from exactbnc.learning.classifiers._base import Floats, TableClassifier
from exactbnc.learning.discriminative.leave_one_out import left_out_weights
from exactbnc.learning.discriminative.temperature import apply_temperature, fit_temperature
from exactbnc.learning.ensemble.ande import AnDE
from exactbnc.network.codes import Codes
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError

MOST_ROWS = 50_000
"""The temperature is found on at most so many rows, evenly spaced."""


class A1DEClassifier(TableClassifier):
    """Averaged one-dependence estimators: every feature in turn is a parent of all others, beside the class.

    Parameters
    ----------
    calibrate : bool, default True
        Whether the probabilities get a temperature, by leave-one-out.
    discretize, missing, states, allow_identifiers
        As in `ExactBNClassifier`.

    Attributes
    ----------
    average_ : AnDE
        The counts.
    slope_, shift_ : float, array
        The temperature.
    classes_, class_name_, n_features_in_, feature_names_in_, discretizer_, left_out_
        As in `ExactBNClassifier`.

    Examples
    --------
    >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
    >>> A1DEClassifier().fit(X, ["out", "out", "in", "in"] * 5).predict([["rain", "hot"]]).tolist()
    ['in']
    """

    _order: ClassVar[int] = 1
    average_: AnDE

    def __init__(
        self,
        *,
        calibrate: bool = True,
        discretize: str | None = "auto",
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
        allow_identifiers: bool = False,
    ) -> None:
        self.calibrate = calibrate
        self.discretize = discretize
        self.missing = missing
        self.states = states
        self.allow_identifiers = allow_identifiers

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows alone; `sample_weight` as in `ExactBNClassifier`."""
        if hasattr(self, "average_"):
            del self.average_
        return self._learn(self._training_data(X, y, sample_weight))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count further rows; the first call names all classes.

        The counts are those of one `fit` on all the rows, with the cut points and the columns of the first call; values
        that were not there before become states. The temperature is found on the rows of the last call.
        """
        if not hasattr(self, "average_"):
            if classes is None:
                raise DataError("classes must be passed on the first call to partial_fit: all classes that may occur")
            return self._learn(self._training_data(X, y, sample_weight, classes=classes))
        if classes is not None and np.unique(classes).tolist() != self.classes_.tolist():
            raise DataError(
                f"classes must be those of the first call, {self.classes_.tolist()}. Got {list(classes)} instead."
            )
        known = self._features
        try:
            return self._learn(self._training_data(X, y, sample_weight, is_update=True))
        except Exception:
            self._features = known  # what was learned before stays as it was
            raise

    def _learn(self, dataset: Dataset) -> Self:
        """Count the rows of a data set whose last column is the class."""
        codes, actual = dataset.codes[:-1], dataset.codes[-1].astype(np.int64)
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        arities, n_classes = dataset.arities[:-1], len(self.classes_)
        if hasattr(self, "average_"):
            before = self.average_.grown(arities)
        else:
            before = AnDE.empty(arities, n_classes, order=self._order)
        self.average_ = before.updated(codes, actual, weights)
        self.slope_, self.shift_ = 1.0, np.zeros(n_classes)
        if self.calibrate:
            chosen = np.unique(np.linspace(0, dataset.n_rows - 1, min(dataset.n_rows, MOST_ROWS)).astype(np.int64))
            rows = np.ascontiguousarray(codes[:, chosen])
            log_p = self.average_.leave_one_out(rows, actual[chosen], left_out_weights(dataset)[chosen])
            self.slope_, self.shift_ = fit_temperature(log_p, actual[chosen], weights[chosen])
        return self

    def _log_posterior(self, codes: Codes) -> Floats:
        return apply_temperature(self.average_.log_posterior(codes), self.slope_, self.shift_)


class A2DEClassifier(A1DEClassifier):
    """Averaged two-dependence estimators: every pair of features in turn is a parent of all others.

    It needs a table per triple of features; a MemoryLimitError reports tables that are too large.

    Parameters
    ----------
    calibrate, discretize, missing, states, allow_identifiers
        As in `A1DEClassifier`.

    Examples
    --------
    >>> X = [[a, b, a ^ b] for a in (0, 1) for b in (0, 1)] * 10
    >>> y = [0, 1, 1, 0] * 10
    >>> A2DEClassifier().fit(X, y).score(X, y)
    1.0
    """

    _order = 2
