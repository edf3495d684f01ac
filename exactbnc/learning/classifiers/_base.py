"""What all classifiers share: reading X and y, and turning log-posteriors into predictions.

Training data become a `Dataset` whose last variable is the class. At prediction, a missing value and a value never seen
in training are unknown and summed out. A table in which not one value is known is refused: it was not prepared as the
training data were.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from exactbnc.learning.classifiers._class_weight import class_factors
from exactbnc.learning.classifiers._feature_terms import IMPORTANCE_ROWS, FeatureTerms, evenly_spaced
from exactbnc.learning.classifiers._features import Features, discretised, free_name
from exactbnc.learning.classifiers._left_out import MISSING_EVERYWHERE, left_out_warning, useless_columns
from exactbnc.learning.classifiers._numeric import as_numbers
from exactbnc.learning.discretize.mdlp import MDLPDiscretizer
from exactbnc.learning.discretize.registry import DISCRETIZERS
from exactbnc.learning.discretize.tables import AUTO, KEPT_VALUES, LEAST_BINS
from exactbnc.learning.preparation import EM, observed_states
from exactbnc.network.codes import UNKNOWN, Codes
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import is_missing, whole_weights
from scorecache.data.frames import check_names, columns_of, holds_numbers, is_frame, missing_mask
from scorecache.errors import DataError, ParameterError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class TableClassifier(FeatureTerms, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The scikit-learn interface; a subclass implements `_log_posterior(codes)`, rows x classes."""

    discretize: str | None
    missing: str
    allow_identifiers: bool = True  # an estimator that offers the choice leaves useless columns out by default
    states: Mapping[str, Any] | None
    class_weight: str | Mapping[Any, float] | None = None  # of an estimator that does not offer it
    verbose: int = 0
    _columns: Any

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(class | row), exactly, with unknown values summed out.

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        array of float
            Rows x classes, the classes in the order of `classes_`.
        """
        return self._log_posterior(self._encoded(X))

    def predict_proba(self, X: Any) -> Floats:
        """P(class | row).

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        array of float
            Rows x classes, the classes in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row.

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        array
            Of ties, the first in `classes_`.
        """
        best = self.predict_log_proba(X).argmax(axis=1)
        winners: NDArray[Any] = self.classes_[best]
        return winners

    def decision_function(self, X: Any) -> Floats:
        """How strongly each row belongs to the classes.

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        array of float
            Of two classes the log-odds of the second against the first, one number a row; of more their log-posteriors.
        """
        log_p = self.predict_log_proba(X)
        if log_p.shape[1] > 2:
            return log_p
        with np.errstate(invalid="ignore"):
            odds: Floats = log_p[:, 1] - log_p[:, 0]
        return odds

    def _class_factors(self, totals: Floats) -> Floats:
        """What the weights of each class are multiplied by; `totals` are its weights in the data."""
        return class_factors(self.class_weight, self.classes_.tolist(), totals, type(self).__name__)

    def _report(self, line: str) -> None:
        """A line of progress, if that is asked for."""
        if self.verbose:
            print(f"{type(self).__name__}: {line}", file=sys.stderr)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, is_update: bool = False
    ) -> Dataset:
        """The table as a data set, and the attributes that scikit-learn expects of a fitted estimator.

        `classes` are those that may occur, if not only those in y; with `is_update` the states known so far come first.
        """
        _check_choice(self, "discretize", (None, AUTO, *DISCRETIZERS))
        _check_choice(self, "missing", ("error", "category", EM))
        table = self._checked(X, reset=not is_update)
        labels = self._labels(y, table)
        weights = None
        if sample_weight is not None:
            weights = row_weights(_check_sample_weight(sample_weight, table), len(labels))
        if weights is not None and not weights.all():  # a row of weight 0 is as if it were not there
            counts = np.flatnonzero(weights)
            table = _safe_indexing(table, counts)
            labels, weights = labels[counts], weights[counts]
        names = self._column_names()
        self._columns = X.columns if hasattr(X, "iloc") and hasattr(X, "columns") else None
        if not is_update:
            self.class_name_ = free_name(_name_of(y), names)
            self.classes_ = np.unique(labels if classes is None else classes)
            self._leave_out(table, names)
            self.discretizer_ = self._learned_discretizer(self._kept_columns(table), labels, weights)
        if len(self.classes_) < 2:
            (only,) = self.classes_.tolist()
            raise DataError(f"a classifier needs at least two classes. Got one class instead: {only!r}.")
        table = self._kept_columns(table)
        names = tuple(name for name in names if name not in self.left_out_)
        cuts = self._cut_points(len(names))
        numbers = self._kept_as_numbers(table, names, cuts, labels, weights)
        columns = [discretised(*column) for column in zip(columns_of(table), cuts, names, strict=True)]
        n_missing = [int(missing_mask(column).sum()) for column in columns]
        if any(n_missing) and self.missing == "error":
            raise DataError(_missing_values(dict(zip(names, n_missing, strict=True))))
        has_missing = [count > 0 for count in n_missing]
        states = self._further_states(names, columns) if is_update else dict(self.states or {})
        dataset = Dataset.from_columns(
            [*columns, self._class_codes(labels)],
            names=[*names, self.class_name_],
            states={**states, self.class_name_: range(len(self.classes_))},
            missing="error" if self.missing == "error" else "category",
        )
        if is_update:
            has_missing = [old or new for old, new in zip(self._features.has_missing_state, has_missing, strict=True)]
        has_state = [flag and self.missing == "category" for flag in has_missing]
        self._features = Features.of(dataset, names, has_state, cuts)
        if self.missing == EM:
            self._features = replace(self._features, states=observed_states(self._features.states))
        own_states = (*dataset.states[:-1], tuple(self.classes_.tolist()))
        found = Dataset(dataset.names, own_states, dataset.codes, weights)
        found = as_numbers(found, numbers) if numbers else found
        self._sample = found.rows(evenly_spaced(found.n_rows, IMPORTANCE_ROWS))
        return found

    def _class_codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        is_unknown = self.classes_[codes] != labels
        if is_unknown.any():
            unknown = labels[is_unknown].tolist()[0]
            raise DataError(f"y contains the class {unknown!r}; the classes are {self.classes_.tolist()}")
        return codes

    def _further_states(self, names: tuple[str, ...], columns: list[Any]) -> dict[str, tuple[Any, ...]]:
        """The states known so far, with the new values of the columns after them."""
        batch = Dataset.from_columns(columns, names=names, missing=self.missing)
        return {
            name: (*known, *(state for state in listed if state not in known))
            for name, known, listed in zip(names, self._features.states, batch.states, strict=True)
        }

    def _learned_discretizer(self, table: Any, labels: NDArray[Any], weights: Any) -> Any:
        if self.discretize is None:
            return None
        if self.discretize != AUTO:
            return DISCRETIZERS[self.discretize]().fit(table, labels, sample_weight=weights)
        names = [name for name in self._column_names() if name not in self.left_out_]
        quantities = [
            v
            for v, (name, column) in enumerate(zip(names, columns_of(table), strict=True))
            if name not in (self.states or {}) and holds_numbers(column)
        ]
        if not quantities:
            return None
        cutter = MDLPDiscretizer(columns=quantities, keep_at_most=KEPT_VALUES, least_bins=LEAST_BINS)
        return cutter.fit(table, labels, sample_weight=weights)

    def _kept_as_numbers(
        self, table: Any, names: tuple[str, ...], cuts: list[Floats | None], labels: NDArray[Any], weights: Any
    ) -> dict[str, Floats]:
        """The columns that stay numbers, whose cut points become `NO_CUTS`; none, unless an estimator has them."""
        return {}

    def _column_names(self) -> tuple[str, ...]:
        """The names of the columns of X, x0, x1, ... where it has none."""
        return tuple(map(str, getattr(self, "feature_names_in_", [f"x{v}" for v in range(self.n_features_in_)])))

    def _cut_points(self, n_columns: int) -> list[Floats | None]:
        """The cut points of the columns that are kept."""
        if self.discretizer_ is None:
            return [None] * n_columns
        return [self.discretizer_.cut_points_.get(label) for label in self.discretizer_._labels]

    def _leave_out(self, table: Any, names: tuple[str, ...]) -> None:
        """Note the columns that nothing can be learned from, with a warning."""
        self.left_out_: dict[str, str] = {}
        self._kept = None
        if self.allow_identifiers:
            return
        columns = columns_of(table)
        found = useless_columns(columns, names, self.states or {}, discretizes=self.discretize is not None)
        if self.missing == "error":  # what is missing is refused
            found = {name: why for name, why in found.items() if why != MISSING_EVERYWHERE}
        self.left_out_ = found
        if self.left_out_:
            warnings.warn(left_out_warning(self.left_out_), UserWarning, stacklevel=4)
            self._kept = np.array([v for v, name in enumerate(names) if name not in self.left_out_], dtype=np.int64)

    def _kept_columns(self, table: Any) -> Any:
        return table if self._kept is None else _safe_indexing(table, self._kept, axis=1)

    def _encoded(self, X: Any) -> Codes:
        """Codes of the features, columns x rows."""
        values = self._values_of_row(X)
        codes = None if values is None else self._features.encode_row(values)
        return self._codes_of(self._table(X)) if codes is None else codes

    def _values_of_row(self, X: Any) -> list[Any] | None:
        """The values of a pandas frame of one row with the columns of training, which need no more than a look-up."""
        known = getattr(self, "_columns", None)
        if known is None or not hasattr(X, "iloc") or len(X) != 1 or not X.columns.equals(known):
            return None
        values = X.iloc[0].tolist()
        return values if self._kept is None else [values[v] for v in self._kept]

    def _table(self, X: Any) -> Any:
        """X as it was fitted, without the columns that are left out."""
        check_is_fitted(self)
        return self._kept_columns(self._checked(X, reset=False))

    def _codes_of(self, table: Any) -> Codes:
        codes = self._features.encode(table)
        self._check_known(codes, table)
        return codes

    def _check_known(self, codes: Codes, table: Any) -> None:
        """Refuse a table of several rows without one value that is known."""
        if codes.shape[1] > 1 and (codes == UNKNOWN).all() and _has_value(table):
            raise DataError(
                "not one value of X was seen in training. Single values that were not, NaN among them, are summed out, "
                "but a whole table of them was not prepared as the training data were: discretise it in the same way "
                "(a Pipeline, or discretize= on the estimator)"
            )

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """X as a two-dimensional array, or as the data frame it is, with its names and width checked or noted."""
        if is_frame(X):
            check_names(X)
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not len(X) or not X.shape[1]:
                raise DataError(f"at least one row and one column are needed. Got a table of shape {X.shape} instead.")
            return X
        return validate_data(self, _own_values(X), reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def _labels(self, y: Any, table: Any) -> NDArray[Any]:
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; y is the class of every row"
            )
        labels = column_or_1d(y, warn=True)
        check_consistent_length(table, labels)
        if any(map(is_missing, labels.tolist())):
            raise DataError("the class of a row is missing (NaN or None in y); leave such rows out of training")
        if len({isinstance(label, str) for label in labels.tolist()}) > 1:
            raise DataError("the classes in y must be all texts or all numbers. Got both instead.")
        check_classification_targets(labels)
        return np.asarray(labels)


def row_weights(weights: NDArray[Any], n_rows: int) -> Ints | Floats:
    """Whole numbers are counts of rows; other weights are relative, and scaled to a mean of one over those above 0."""
    if bool((np.isfinite(weights) & (weights >= 0) & (np.floor(weights) != weights)).any()):
        numbers = np.asarray(weights, dtype=np.float64)
        if numbers.min() >= 0 and np.isfinite(numbers).all():
            scaled: Floats = numbers * (np.count_nonzero(numbers) / numbers.sum())
            return scaled
    return whole_weights(weights, n_rows)


def _name_of(y: Any) -> str:
    """What the class is called: as its column is, if it has a name."""
    name = getattr(y, "name", None) if getattr(y, "ndim", 1) == 1 else None
    return "class" if name is None else str(name) or "class"


def _own_values(X: Any) -> Any:
    """X, with the rows of a list kept as they are where numpy would write numbers and NaN as texts beside texts."""
    if not isinstance(X, list | tuple):
        return X
    try:
        is_text = np.asarray(X).dtype.kind == "U"
    except ValueError:  # rows of different lengths, which scikit-learn reports
        return X
    return np.array(X, dtype=object) if is_text else X


def _check_choice(estimator: TableClassifier, name: str, choices: tuple[str | None, ...]) -> None:
    value = getattr(estimator, name)
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ParameterError(
            f"The {name!r} parameter of {type(estimator).__name__} must be one of {listed}. Got {value!r} instead."
        )


def _missing_values(n_missing: Mapping[str, int]) -> str:
    """The message for missing values in training data, with the remedies."""
    counts = ", ".join(f"{count} in {name!r}" for name, count in n_missing.items() if count)
    return (
        f"missing values (NaN or None) in the training data: {counts}; make them a state of their own "
        "(missing='category'), or drop their rows or impute them before fitting. At prediction they are summed out."
    )


def _has_value(table: Any) -> bool:
    """Whether a value is not missing."""
    return not all(missing_mask(column).all() for column in columns_of(table))


def threads_of(n_jobs: int | None) -> int | None:
    """The number of threads; as in scikit-learn -1 are all cores, -2 all but one."""
    return n_jobs if n_jobs is None or n_jobs >= 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def seed_of(random_state: Any) -> int:
    """The seed of the search; 0 if none is given, so that results repeat."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
