"""`AveragedANBClassifier`: augmented naive Bayes networks drawn from their exact posterior, averaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exactbnc.learning.averaging.anb_average import AnbAverage
from exactbnc.learning.classifiers._average import AverageClassifier
from exactbnc.learning.classifiers._base import Floats, seed_of, threads_of
from exactbnc.learning.recipe import Recipe
from exactbnc.network.codes import UNKNOWN, Codes
from scorecache.data.dataset import Dataset
from scorecache.scores.dirichlet import BDeu


class AveragedANBClassifier(AverageClassifier):
    """The average of augmented naive Bayes networks, structures and parameters, given the data.

    Up to 24 features the networks are exact, independent draws from the posterior of all structures, each counted once
    for each of its orders; with more features from those that agree with the order of the best network. At prediction
    unknown values are summed out in every network.

    Parameters
    ----------
    ess : float, default 10
        The equivalent sample size of the score, BDeu, and of the parameters.
    max_parents : int, default 3
        Most parents of a feature, the class counted.
    n_networks : int, default 50
        Draws.
    discretize, missing, states, time_limit, n_jobs, random_state
        As in `ExactBNClassifier`; the time limit is for the search for an order, with more than 24 features. With "em"
        the average is that of the rows as the best ANB of structural EM completes them, by the same score.

    Attributes
    ----------
    average_ : AnbAverage
        The networks, and the share of each among the draws.
    classes_, class_name_, n_features_in_, feature_names_in_, discretizer_
        As in `ExactBNClassifier`.

    Examples
    --------
    >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
    >>> AveragedANBClassifier().fit(X, ["out", "out", "in", "in"] * 5).predict([["rain", "hot"]]).tolist()
    ['in']
    """

    average_: AnbAverage

    def __init__(
        self,
        ess: float = 10.0,
        *,
        max_parents: int = 3,
        n_networks: int = 50,
        discretize: str | None = "auto",
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.ess = ess
        self.max_parents = max_parents
        self.n_networks = n_networks
        self.discretize = discretize
        self.missing = missing
        self.states = states
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _completion(self) -> Recipe:
        return Recipe(
            "anb",
            BDeu(ess=self.ess),
            max_parents=self.max_parents,
            time_limit=self.time_limit,
            n_jobs=threads_of(self.n_jobs),
            seed=seed_of(self.random_state),
        )

    def _learn(self, dataset: Dataset) -> None:
        self.average_ = AnbAverage.of(
            dataset,
            self.class_name_,
            ess=self.ess,
            max_parents=self.max_parents,
            n_networks=self.n_networks,
            time_limit=self.time_limit,
            n_jobs=threads_of(self.n_jobs),
            seed=seed_of(self.random_state),
        )

    def _log_posterior(self, codes: Codes) -> Floats:
        unknown_class = np.full((1, codes.shape[1]), UNKNOWN, dtype=codes.dtype)
        return self.average_.log_posterior(np.vstack([codes, unknown_class]))
