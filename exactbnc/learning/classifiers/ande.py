"""`A1DEClassifier` and `A2DEClassifier`: the average of all models in which one or two features are parents of all.

Reference: Webb, Boughton, Wang (2005); Webb, Boughton, Zheng, Ting, Salem (2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from exactbnc.learning.classifiers._average import BatchClassifier
from exactbnc.learning.classifiers._base import Floats
from exactbnc.learning.classifiers._feature_terms import evenly_spaced
from exactbnc.learning.discriminative.leave_one_out import left_out_weights
from exactbnc.learning.discriminative.temperature import apply_temperature, fit_with_factors
from exactbnc.learning.ensemble.ande import AnDE
from exactbnc.learning.preparation import observed_codes
from exactbnc.learning.recipe import Recipe
from exactbnc.network.codes import Codes
from scorecache.data.dataset import Dataset

MOST_ROWS = 50_000
"""The temperature is found on at most this many rows, evenly spaced."""


class A1DEClassifier(BatchClassifier):
    """Averaged one-dependence estimators: every feature in turn is a parent of all others, beside the class.

    Parameters
    ----------
    calibrate : bool, default True
        Whether the probabilities get a temperature, by leave-one-out.
    class_weight : {None, "balanced"} or mapping of classes to numbers
        What the probabilities of the classes, and their rows in the calibration, are multiplied by. The counts stay as
        they are, so that "balanced" learns in batches, too.
    discretize, missing, states, allow_identifiers
        As in `ExactBNClassifier`. With "em" the counts are those of the rows as the best TAN of structural EM by BDeu
        completes them, and the temperature is found on the rows as they are: what is known of a row is in all its
        completions, so that it can be left out. `partial_fit`, which has not all rows, refuses "em".

    Attributes
    ----------
    average_ : AnDE
        The counts.
    slope_, shift_ : float, array
        The temperature.
    classes_, class_name_, n_features_in_, feature_names_in_, discretizer_, left_out_, feature_importances_
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
        class_weight: str | Mapping[Any, float] | None = None,
        discretize: str | None = "auto",
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
        allow_identifiers: bool = False,
    ) -> None:
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.discretize = discretize
        self.missing = missing
        self.states = states
        self.allow_identifiers = allow_identifiers

    def _completion(self) -> Recipe:
        return Recipe("tan", "bdeu")

    def _learn(self, dataset: Dataset) -> None:
        self._calibrate(self._counts(dataset), dataset, dataset.codes[:-1])

    def _learn_completed(self, dataset: Dataset, completed: Dataset) -> None:
        self._calibrate(self._counts(completed), dataset, observed_codes(dataset.states, dataset.codes[:-1]))

    def _counts(self, dataset: Dataset) -> AnDE:
        """Those of the rows, and of what was learned before."""
        codes, actual, weights = dataset.codes[:-1], dataset.codes[-1].astype(np.int64), _weights_of(dataset)
        arities, n_classes = dataset.arities[:-1], len(self.classes_)
        if hasattr(self, "average_"):
            before = self.average_.grown(arities)
        else:
            before = AnDE.empty(arities, n_classes, order=self._order)
        return before.updated(codes, actual, weights)

    def _calibrate(self, counts: AnDE, dataset: Dataset, codes: Codes) -> None:
        """The temperature that suits the counts on these rows, each left out; `codes` are those of the features."""
        factors = self._class_factors(counts.of_class)
        self.average_ = counts
        self.slope_, self.shift_ = 1.0, np.log(factors)
        if self.calibrate:
            chosen = evenly_spaced(dataset.n_rows, MOST_ROWS)
            rows, own = np.ascontiguousarray(codes[:, chosen]), dataset.codes[-1, chosen].astype(np.int64)
            log_p = counts.leave_one_out(rows, own, left_out_weights(dataset)[chosen])
            self.slope_, self.shift_ = fit_with_factors(log_p, own, _weights_of(dataset)[chosen], factors)

    def _log_posterior(self, codes: Codes) -> Floats:
        return apply_temperature(self.average_.log_posterior(codes), self.slope_, self.shift_)


def _weights_of(dataset: Dataset) -> Floats:
    return np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)


class A2DEClassifier(A1DEClassifier):
    """Averaged two-dependence estimators: every pair of features in turn is a parent of all others.

    It needs a table per triple of features; a MemoryLimitError reports tables that are too large.

    Parameters
    ----------
    calibrate, class_weight, discretize, missing, states, allow_identifiers
        As in `A1DEClassifier`.

    Examples
    --------
    >>> X = [[a, b, a ^ b] for a in (0, 1) for b in (0, 1)] * 10
    >>> y = [0, 1, 1, 0] * 10
    >>> A2DEClassifier().fit(X, y).score(X, y)
    1.0
    """

    _order = 2
