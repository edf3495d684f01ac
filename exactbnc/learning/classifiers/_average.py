"""Classifiers that average over networks: `fit`, and `partial_fit` where what is learned can be updated."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from exactbnc.learning.classifiers._base import TableClassifier
from exactbnc.learning.preparation import EM
from exactbnc.learning.recipe import Recipe
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError

BATCHES_OF_EM = "rows are completed all together with missing='em': use fit, or missing='category'"


class AverageClassifier(TableClassifier):
    """Learns `average_` from rows; a subclass implements `_learn`."""

    average_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows alone.

        Parameters
        ----------
        X : table, rows x features
            Or a DataFrame, whose columns keep their names.
        y : array
            The classes.
        sample_weight : array of numbers, optional
            As in `ExactBNClassifier`.

        Returns
        -------
        estimator
            Itself, fitted.

        Raises
        ------
        DataError, ParameterError
            If the rows cannot be learned from, or a setting is not one of its values.

        Examples
        --------
        >>> from exactbnc import TBMATANClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> TBMATANClassifier().fit(X, y).predict([["rain", "hot"]]).tolist()
        ['in']
        """
        if hasattr(self, "average_"):
            del self.average_
        dataset = self._training_data(X, y, sample_weight)
        if self.missing == EM:
            from exactbnc.learning.em import learn_completed

            learned, completed = learn_completed(dataset, self.class_name_, self._completion())
            if learned.warning is not None:
                warnings.warn(learned.warning, UserWarning, stacklevel=2)
            self._learn_completed(dataset, completed)
        else:
            self._learn(dataset)
        return self

    def _learn_completed(self, dataset: Dataset, completed: Dataset) -> None:
        """Learn from rows as a network completes them; `dataset` are the rows themselves."""
        self._learn(completed)

    def _completion(self) -> Recipe:
        """What the network is learned by that completes the rows, where an estimator offers missing="em"."""
        raise NotImplementedError

    def _learn(self, dataset: Dataset) -> None:
        """Set `average_` from a data set whose last column is the class, or update the one that is there."""
        raise NotImplementedError


class BatchClassifier(AverageClassifier):
    """Learns in batches; `_learn` updates an `average_` that is there, or fails without changing it."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows; the first call names all classes.

        What is learned is what one `fit` on all the rows would learn, with the cut points and the columns of the first
        call; values that were not there before become states. A temperature is found on the rows of the last call.

        Parameters
        ----------
        X : table, rows x features
        y : array
            The classes.
        classes : array, optional
            All classes; the first call needs them, later ones may repeat them.
        sample_weight : array of numbers, optional
            As in `ExactBNClassifier`.

        Returns
        -------
        estimator
            Itself, with these rows learned too.

        Raises
        ------
        DataError, ParameterError
            If the rows cannot be learned from, or `classes` is absent at first or another one later; what was learned
            before stays as it was.

        Examples
        --------
        >>> from exactbnc import TBMATANClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> model = TBMATANClassifier().partial_fit(X[:10], y[:10], classes=["in", "out"])
        >>> model.partial_fit(X[10:], y[10:]).predict([["rain", "hot"]]).tolist()
        ['in']
        """
        if self.missing == EM:
            raise ParameterError(BATCHES_OF_EM)
        is_update = hasattr(self, "average_")
        check_batch(self, classes, is_update=is_update)
        known = self._features if is_update else None
        try:
            self._learn(self._training_data(X, y, sample_weight, classes=classes, is_update=is_update))
        except Exception:
            if known is not None:
                self._features = known  # what was learned before stays as it was
            raise
        return self


def check_batch(model: TableClassifier, classes: Any, *, is_update: bool) -> None:
    """Refuse a call to `partial_fit` whose classes are not those it should name."""
    if not is_update and classes is None:
        raise DataError("classes must be passed on the first call to partial_fit: all classes that may occur")
    if is_update and classes is not None and np.unique(classes).tolist() != model.classes_.tolist():
        raise DataError(
            f"classes must be those of the first call, {model.classes_.tolist()}. Got {list(classes)} instead."
        )
