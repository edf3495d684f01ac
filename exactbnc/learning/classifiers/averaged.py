"""`TBMATANClassifier` and `SSTBMATANClassifier`: the average of all tree-augmented naive Bayes networks.

Reference: Cerquides, Lopez de Mantaras (2003), "Tractable Bayesian Learning of Tree Augmented Naive Bayes Models".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactbnc.learning.averaging import TanAverage
from exactbnc.learning.classifiers._average import BatchClassifier
from exactbnc.learning.classifiers._base import Floats
from exactbnc.learning.recipe import Recipe
from exactbnc.network.codes import Codes
from scorecache.data.dataset import Dataset
from scorecache.scores.dirichlet import BDeu


class TBMATANClassifier(BatchClassifier):
    """Bayesian model averaging over all TAN structures and their parameters, in closed form.

    A row whose unknown values can be filled in in more than 4,096 ways is refused: no closed form is known for their
    sum.

    Parameters
    ----------
    weight : float, default 10
        lambda of equation 24, the equivalent sample size of the prior.
    discretize, missing, states
        As in `ExactBNClassifier`. With "em" the average is that of the rows as the best TAN of structural EM completes
        them, by BDeu with the same equivalent sample size; `partial_fit` has not all rows, and refuses it.

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

    average_: TanAverage

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

    def _completion(self) -> Recipe:
        return Recipe("tan", BDeu(ess=self.weight))

    def _learn(self, dataset: Dataset) -> None:
        if hasattr(self, "average_"):
            self.average_ = self.average_.updated(dataset)
        else:
            self.average_ = TanAverage.of(dataset, self.class_name_, weight=self.weight, stubborn=self._stubborn())

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
