"""What a feature says of a row: how the class's log-posterior changes when the feature becomes unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from exactbnc.learning.classifiers._features import Features
from exactbnc.learning.preparation import EM, observed_codes
from exactbnc.network.codes import UNKNOWN
from scorecache.data.dataset import Dataset

if TYPE_CHECKING:
    from exactbnc.network.contributions import Contributions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

IMPORTANCE_ROWS = 1000
"""Training rows that are kept for `feature_importances_`."""
REST = "(features together)"


class FeatureTerms:
    """`feature_importances_` and `explain` of a classifier that answers rows with unknown values.

    Rows are what `_encoded(X)` gives: codes, features x rows, unless `_without` and `_training_rows` say otherwise.
    """

    classes_: NDArray[Any]
    class_name_: str
    n_features_in_: int
    missing: str
    _features: Features
    _kept: Ints | None
    _sample: Dataset

    @property
    def feature_importances_(self) -> Floats:
        """How much log P(class | row) falls on average when a column is summed out, by column of X.

        The rows are at most 1,000 of those of the last call to `fit` or `partial_fit`, evenly spaced, with their
        weights; columns that the model does not use have 0. Computed when it is asked for.
        """
        check_is_fitted(self)
        rows, actual, weights = self._training_rows()

        def mean_loss(log_p: Floats) -> float:
            with np.errstate(invalid="ignore"):
                return float(-np.average(log_p[np.arange(len(actual)), actual], weights=weights))

        whole = mean_loss(self._log_posterior_in_part(rows))
        found = np.zeros(self.n_features_in_)
        kept = np.arange(self.n_features_in_) if self._kept is None else self._kept
        for v, position in enumerate(kept):
            found[position] = mean_loss(self._log_posterior_in_part(self._without(rows, v))) - whole
        return found

    def explain(self, X: Any) -> Contributions:
        """What each feature adds to the log-posterior of every class, row by row.

        A feature's term is what the log-posterior changes when the feature becomes unknown; what the features say only
        together is one term, "(features together)", with the prior.

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        Contributions
        """
        from exactbnc.network.contributions import Contributions

        rows = self._encoded(X)
        log_p = self._log_posterior(rows)
        names, values = self._terms(rows, log_p)
        classes = tuple(self.classes_.tolist())
        return Contributions(self.class_name_, classes, tuple(names), np.stack(values, axis=1), log_p)

    def _terms(self, rows: Any, log_p: Floats) -> tuple[list[str], list[Floats]]:
        """The names and values of the terms that add up to `log_p`."""
        terms = [log_p - self._log_posterior(self._without(rows, v)) for v in range(len(self._features.names))]
        return [REST, *self._features.names], [log_p - sum(terms), *terms]

    def _without(self, rows: Any, v: int) -> Any:
        """The rows with one feature unknown."""
        found = rows.copy()
        found[v] = UNKNOWN
        return found

    def _training_rows(self) -> tuple[Any, Ints, Any]:
        """Rows, classes and weights for `feature_importances_`; what training summed out is unknown."""
        sample = self._sample
        rows = observed_codes(sample.states, sample.codes[:-1]) if self.missing == EM else sample.codes[:-1]
        return rows, sample.codes[-1].astype(np.int64), sample.weights

    def _log_posterior_in_part(self, rows: Any) -> Floats:
        """What the rows' log-posteriors with one value unknown are compared with."""
        return self._log_posterior(rows)

    def _encoded(self, X: Any) -> Any:
        raise NotImplementedError

    def _log_posterior(self, rows: Any) -> Floats:
        raise NotImplementedError


def evenly_spaced(n_rows: int, most: int) -> Ints:
    """The numbers of at most this many rows."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64))
