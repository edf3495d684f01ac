"""Predictions for every row by a classifier that did not see it: cross-validation that keeps the probabilities.

Folds, cut points and measures are those of `cross_validate`; every row is in the test part of one fold, so its
prediction is one that new data would get. `FixedStructure` is for a network whose structure was not learned here.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exactbnc.baselines.evaluation.crossval import Evaluation, Floats, _folds, predict_split
from exactbnc.baselines.evaluation.methods import Fitted, Method
from exactbnc.graph.dag import DAG
from exactbnc.learning.discretize.tables import discretized, find_cut_points
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from scorecache.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The measures by fold, and log P(class | row) of every row, rows x classes."""

    evaluation: Evaluation
    log_posterior: Floats


@dataclass(frozen=True)
class FixedStructure:
    """The same structure in every fold, with parameters fitted to the training rows."""

    dag: DAG
    estimator: ParameterEstimator
    takes_numbers: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"fixed structure {self.estimator.name}"

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Fit parameters; nothing is proved of the structure."""
        net = fit_parameters(dataset, self.dag, self.estimator, class_name=class_name)
        return Fitted(lambda codes: net.log_posterior(codes, class_name), is_proved=False)


def predict_out_of_fold(
    dataset: Dataset,
    class_name: str,
    method: Method,
    *,
    n_folds: int = 10,
    seed: int = 0,
    discretize: str | None = None,
    columns: Container[str] | None = None,
    keep_at_most: int | None = None,
) -> OutOfFold:
    """Learn on all folds but one and predict that one, for each of them; see `cross_validate`."""
    n_classes = int(dataset.arities[dataset.index[class_name]])
    log_posterior = np.full((dataset.n_rows, n_classes), np.nan)
    found = []
    for train, test in _folds(dataset, class_name, n_folds, seed):
        training, held_out = dataset.rows(train), dataset.rows(test)
        if discretize is not None:
            cut_points = find_cut_points(training, class_name, discretize, columns=columns, keep_at_most=keep_at_most)
            training, held_out = discretized(training, cut_points), discretized(held_out, cut_points)
        scores, log_posterior[test] = predict_split(method, training, held_out, class_name)
        found.append(scores)
    return OutOfFold(Evaluation(method.name, tuple(found)), log_posterior)
