"""`TBMATANClassifier` and `SSTBMATANClassifier`: the average of all tree-augmented naive Bayes networks.

Reference: Cerquides, Lopez de Mantaras (2003), "Tractable Bayesian Learning of Tree Augmented Naive Bayes Models".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from exactbnc.learning.averaging import TanAverage
from exactbnc.learning.classifiers._base import Floats, TableClassifier, check_batch
from exactbnc.network.codes import Codes


class TBMATANClassifier(TableClassifier):
    """Bayesian model averaging over all TAN structures and their parameters, in closed form.

    A row whose unknown values can be filled in in more than 4,096 ways is refused: no closed form is known for their
    sum.

    Parameters
    ----------
    weight : float, default 10
        lambda of equation 24, the equivalent sample size of the prior.
    discretize, missing, states
        As in `ExactBNClassifier`.

    Attributes
    ----------
    average_ : TanAverage
        The posterior over the networks, with `edge_probabilities()`.
    classes_, class_name_, n_features_in_, feature_names_in_, discretizer_
        As in `ExactBNClassifier`.

    Examples
    --------
    >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
    >>> TBMATANClassifier().fit(X, ["out", "out", "in", "in"] * 5).predict([["rain", "hot"]]).tolist()
    ['in']
    """

    def __init__(
        self,
        weight: float = 10.0,
        *,
        discretize: str | None = "auto",
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
    ) -> None:
        self.weight = weight
        self.discretize = discretize
        self.missing = missing
        self.states = states

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
        TBMATANClassifier
            Itself, fitted.

        Raises
        ------
        DataError, ParameterError
            If the rows cannot be learned from, or a setting is not one of its values.

        Examples
        --------
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> TBMATANClassifier().fit(X, y).predict([["rain", "hot"]]).tolist()
        ['in']
        """
        dataset = self._training_data(X, y, sample_weight)
        self.average_ = TanAverage.of(dataset, self.class_name_, weight=self.weight, stubborn=self._stubborn())
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows; the first call names all classes.

        What is learned is what one `fit` on all the rows would learn. Values that were not there before become states;
        cut points are those of the first call.

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
        TBMATANClassifier
            Itself, with these rows learned too.

        Raises
        ------
        DataError, ParameterError
            If the rows cannot be learned from, or `classes` is absent at first or another one later; what was learned
            before stays as it was.

        Examples
        --------
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> model = TBMATANClassifier().partial_fit(X[:10], y[:10], classes=["in", "out"])
        >>> model.partial_fit(X[10:], y[10:]).predict([["rain", "hot"]]).tolist()
        ['in']
        """
        is_update = hasattr(self, "average_")
        check_batch(self, classes, is_update=is_update)
        if not is_update:
            dataset = self._training_data(X, y, sample_weight, classes=classes)
            self.average_ = TanAverage.of(dataset, self.class_name_, weight=self.weight, stubborn=self._stubborn())
            return self
        known = self._features
        try:
            self.average_ = self.average_.updated(self._training_data(X, y, sample_weight, is_update=True))
        except Exception:
            self._features = known  # what was learned before stays as it was
            raise
        return self

    def _stubborn(self) -> float | None:
        return None

    def _log_posterior(self, codes: Codes) -> Floats:
        return self.average_.log_posterior(codes)


class SSTBMATANClassifier(TBMATANClassifier):
    """Structure-stubborn averaging: the weights of the edges are drawn into [10^-K, 1] (equations 25-29).

    Parameters
    ----------
    weight : float, default 10
        As in `TBMATANClassifier`.
    stubbornness : float, default 5
        K.
    discretize, missing, states
        As in `ExactBNClassifier`.

    Examples
    --------
    >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
    >>> SSTBMATANClassifier().fit(X, ["out", "out", "in", "in"] * 5).predict([["sun", "hot"]]).tolist()
    ['out']
    """

    def __init__(
        self,
        weight: float = 10.0,
        *,
        stubbornness: float = 5.0,
        discretize: str | None = "auto",
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(weight, discretize=discretize, missing=missing, states=states)
        self.stubbornness = stubbornness

    def _stubborn(self) -> float | None:
        return self.stubbornness
