"""The classifiers that can be compared: each learns from a data set and gives log-posteriors of codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.learning.em import run_with_missing
from exactbnc.learning.preparation import EM, observed_codes
from exactbnc.learning.recipe import AUTO, Recipe
from exactbnc.learning.run_recipe import networks_by
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes, Rows
from exactbnc.network.parameters import fit_parameters
from exactbnc.run.solution import Status
from scorecache.data.dataset import Dataset

Floats = NDArray[np.float64]
Predictor = Callable[[Any], Floats]
"""Codes of all variables, or `Rows` where some are numbers, to rows x classes; the class's own are not looked at."""


@dataclass(frozen=True)
class Fitted:
    """A predictor, whether its structure was proved best, and the network, where it is one.

    `is_proved` is None where there is no structure that could be best.
    """

    predict: Predictor
    is_proved: bool | None = True
    net: BayesNet | None = None


class Method(Protocol):
    """A way to learn a classifier."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Learn from these rows."""


@dataclass(frozen=True)
class Exact:
    """The best network of a structure; with `selects`, over the features that Bayes factors keep.

    With missing="em" the state for missing values is summed out, in training and in prediction.
    """

    recipe: Recipe = field(default_factory=Recipe)
    selects: bool = False
    missing: str = "category"
    takes_numbers: ClassVar[bool] = True

    @property
    def name(self) -> str:
        recipe = self.recipe
        k = str(recipe.k) if recipe.structure == "kdb" else ""
        selected = "fs-" if self.selects else ""
        score = "" if recipe.structure == "naive_bayes" else f" {recipe.score().name}"  # there is nothing to choose
        parameters = AUTO if recipe.is_discriminative else recipe.estimator().name
        return f"{selected}{recipe.structure}{k}{score} {parameters}"

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Select, score, solve, fit parameters."""
        if self.selects:
            from exactbnc.learning.selection import choose

            kept = choose(dataset, class_name, fit=networks_by(self.recipe)).kept
            return fit_on(dataset, class_name, kept, self.recipe)
        learned = run_with_missing(dataset, class_name, self.recipe, missing=self.missing)
        if learned.solution.stop_reason == "interrupted":
            raise KeyboardInterrupt
        net = learned.net
        is_proved = learned.solution.status is Status.OPTIMAL
        if self.missing == EM:
            states = dataset.states

            def observed(codes: Codes | Rows) -> Rows:
                return Rows(observed_codes(states, Rows.of(codes).codes), Rows.of(codes).numbers)

            return Fitted(lambda codes: net.log_posterior(observed(codes), class_name), is_proved, net)
        return Fitted(lambda codes: net.log_posterior(codes, class_name), is_proved, net)


def fit_on(dataset: Dataset, class_name: str, features: Sequence[str], recipe: Recipe) -> Fitted:
    """The best network over some features; without any, the class alone."""
    names = [*features, class_name]
    positions = [dataset.index[name] for name in names]
    known = dataset.columns(names)
    fitted = Exact(recipe).fit(known, class_name) if features else _prior(known, class_name)
    return replace(fitted, predict=lambda codes: fitted.predict(np.ascontiguousarray(codes[positions])))


def _prior(dataset: Dataset, class_name: str) -> Fitted:
    net = fit_parameters(dataset, DAG.from_arcs(dataset.names, []), "eap")
    return Fitted(lambda codes: net.log_posterior(codes, class_name), net=net)


@dataclass(frozen=True)
class Averaged:
    """The average of all TAN networks: TBMATAN, or with `stubborn` SSTBMATAN."""

    weight: float = 10.0
    stubborn: float | None = None

    @property
    def name(self) -> str:
        return "tbmatan" if self.stubborn is None else "sstbmatan"

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Count pairs."""
        from exactbnc.learning.averaging import TanAverage

        average = TanAverage.of(dataset, class_name, weight=self.weight, stubborn=self.stubborn)
        features = [v for v, name in enumerate(dataset.names) if name != class_name]
        return Fitted(lambda codes: average.log_posterior(np.ascontiguousarray(codes[features])), is_proved=None)
