"""Selection by Bayes factors as a scikit-learn transformer, its two settings chosen by cross-validation.

As in the paper, the equivalent sample size in {1, 2, 5} and the threshold delta in {3, 20, 150} are the pair of the
highest classification accuracy in a 2-fold cross-validation of the training rows.
Reference: Sugahara, Ueno, "Exact learning augmented naive Bayes classifier", section 5.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, _safe_indexing, assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from exactbnc.learning.discretize._columns import validated
from exactbnc.learning.selection._coded import Coded, Floats, Ints, predict_naive_bayes
from exactbnc.learning.selection.bayes_factor import keep_mask, log_bayes_factor
from scorecache.data.encoding import whole_weights
from scorecache.data.frames import is_frame
from scorecache.errors import DataError, ParameterError
from scorecache.scores._base import require_positive

Mask = NDArray[np.bool_]


class BayesFactorSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps the features whose Bayes factor for independence of the class does not exceed the threshold.

    Values are categories: whole numbers, texts, pandas categories with their declared states. A missing value is
    ignored in the test of its feature. If every feature's factor exceeds the threshold, the one with the smallest
    factor is kept. A row of weight w counts as w rows; in the folds its copies stay together.

    Parameters
    ----------
    threshold, ess : float or "cv", default "cv"
        With "cv" they are chosen from `thresholds` and `equivalent_sample_sizes`: every pair, ESS by ESS and within it
        threshold by threshold, is judged by the number of rows that are classified correctly; the first of the best
        is taken.
    thresholds, equivalent_sample_sizes : tuple of float
    estimator : classifier, optional
        Judges the pairs, trained on the kept features of the other folds. By default naive Bayes with EAP parameters
        (the paper takes the classifier for which it selects).
    cv : int or splitter, default 2
        A number of folds (stratified, in the order of the rows) or a splitter.

    Attributes
    ----------
    threshold_, ess_ : float
    log_bayes_factors_ : array
    support_ : array of bool

    Examples
    --------
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1]] * 8
    >>> BayesFactorSelector().fit(X, ["a", "b", "a", "b"] * 8).get_support().tolist()
    [True, False]
    """

    threshold_: float
    ess_: float
    log_bayes_factors_: Floats
    """BDeu(X | {}) - BDeu(X | C), one for every feature; large for features that do not depend on the class."""

    support_: Mask
    n_features_in_: int

    def __init__(
        self,
        threshold: float | str = "cv",
        ess: float | str = "cv",
        *,
        thresholds: tuple[float, ...] = (3, 20, 150),
        equivalent_sample_sizes: tuple[float, ...] = (1, 2, 5),
        estimator: Any = None,
        cv: Any = 2,
    ) -> None:
        self.threshold = threshold
        self.ess = ess
        self.thresholds = thresholds
        self.equivalent_sample_sizes = equivalent_sample_sizes
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the settings where they are "cv", then test every feature on all rows.

        Parameters
        ----------
        X : table, rows x features
        y : array
            The classes.
        sample_weight : array of whole numbers, optional
            How many rows each row stands for.

        Returns
        -------
        BayesFactorSelector
            Itself, fitted.

        Raises
        ------
        DataError, ParameterError
            If every row has weight 0, the rows cannot be used, or a setting is not one of its values.

        Examples
        --------
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> BayesFactorSelector(ess=1.0, threshold=1.0).fit(X, ["out", "out", "in", "in"] * 5).support_.tolist()
        [True, False]
        """
        sizes = self._candidates("ess", "equivalent_sample_sizes")
        pairs = list(product(sizes, self._candidates("threshold", "thresholds")))
        table = validated(self, X, reset=True)
        classes = _check_classes(y, len(table))
        weights = None
        if sample_weight is not None:
            weights = whole_weights(_check_sample_weight(sample_weight, table), len(classes))
            if not weights.any():
                raise DataError("every row has weight 0; at least one must count")
        coded = Coded.of(table, self._names(), classes, weights)
        self.ess_, self.threshold_ = pairs[0] if len(pairs) == 1 else self._best_pair(pairs, table, classes, coded)
        self.log_bayes_factors_ = _log_factors(coded, self.ess_)
        self.support_ = keep_mask(self.log_bayes_factors_, self.threshold_)
        return self

    def transform(self, X: Any) -> Any:
        """The kept columns.

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        table
            A DataFrame stays one, its columns with their dtypes.

        Examples
        --------
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> selector = BayesFactorSelector(ess=1.0, threshold=1.0).fit(X, ["out", "out", "in", "in"] * 5)
        >>> selector.transform([["rain", "hot"]]).tolist()
        [['rain']]
        """
        check_is_fitted(self)
        if not is_frame(X):
            return super().transform(X)
        return _safe_indexing(validated(self, X, reset=False), np.flatnonzero(self.support_), axis=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_

    def _candidates(self, setting: str, choices: str) -> tuple[float, ...]:
        """The values that a setting may take: its own, or those to choose from."""
        value, owner = getattr(self, setting), type(self).__name__
        if isinstance(value, str) and value != "cv":
            raise ParameterError(
                f"The {setting!r} parameter of {owner} must be 'cv' or a number above 0. Got {value!r} instead."
            )
        candidates = tuple(getattr(self, choices)) if isinstance(value, str) else (value,)
        if not candidates:
            raise ParameterError(f"The {choices!r} parameter of {owner} must list at least one number")
        for candidate in candidates:
            require_positive(owner, choices if isinstance(value, str) else setting, candidate)
        return candidates

    def _names(self) -> list[str]:
        return list(map(str, getattr(self, "feature_names_in_", range(self.n_features_in_))))

    def _best_pair(
        self, pairs: list[tuple[float, float]], table: Any, classes: NDArray[Any], coded: Coded
    ) -> tuple[float, float]:
        """The first of the pairs with which the most rows are classified correctly."""
        n_correct = np.zeros(len(pairs), dtype=np.int64)
        for train, test in check_cv(self.cv, classes, classifier=True).split(table, classes):
            factors = {ess: _log_factors(coded.rows(train), ess) for ess, _ in pairs}
            judged: dict[bytes, int] = {}  # many pairs keep the same features
            for i, (ess, threshold) in enumerate(pairs):
                support = keep_mask(factors[ess], threshold)
                key = support.tobytes()
                if key not in judged:
                    judged[key] = self._count_correct(support, table, classes, coded, train, test)
                n_correct[i] += judged[key]
        return pairs[int(np.argmax(n_correct))]

    def _count_correct(
        self, support: Mask, table: Any, classes: NDArray[Any], coded: Coded, train: Ints, test: Ints
    ) -> int:
        """How many test rows, each as often as it counts, are classified correctly from these features."""
        weights = coded.weights
        if self.estimator is None:
            kept = coded.keep(support)
            is_correct = predict_naive_bayes(kept.rows(train), kept.rows(test)) == coded.classes[test]
        else:
            columns = _safe_indexing(table, np.flatnonzero(support), axis=1)
            weighting = {} if weights is None else {"sample_weight": weights[train]}
            model = clone(self.estimator).fit(_safe_indexing(columns, train), classes[train], **weighting)
            is_correct = model.predict(_safe_indexing(columns, test)) == classes[test]
        return int(is_correct.sum() if weights is None else weights[test][is_correct].sum())


def _check_classes(y: Any, n_rows: int) -> NDArray[Any]:
    if y is None:
        raise DataError("BayesFactorSelector requires y to be passed, but the target y is None")
    classes: NDArray[Any] = column_or_1d(y, warn=True)
    assert_all_finite(classes, input_name="y")
    check_classification_targets(classes)
    if len(classes) != n_rows:
        raise DataError(f"X and y must have the same number of rows. Got {n_rows} and {len(classes)} instead.")
    return classes


def _log_factors(coded: Coded, ess: float) -> Floats:
    return np.array([log_bayes_factor(counts, ess) for counts in coded.tables()])
