"""The temperature of a network with numbers, from rows that its parameters have not seen.

Counts give leave-one-out in closed form (`leave_one_out`); regressions do not, so the rows are dealt to five folds,
class by class, and every fold is predicted by the same structure with parameters fitted to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.discriminative.design import Floats, Ints
from exactbnc.learning.discriminative.temperature import fit_temperature
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.class_model import ClassFit
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from exactbnc.network.parameters.student import student_tables
from exactbnc.network.rows import table_rows
from scorecache.data.dataset import Dataset
from scorecache.scores.gaussian import BGe

N_FOLDS = 5
LEAST_LOG = -1e4
"""Smaller log-posteriors count as this one."""


def calibrated_by_folds(
    dataset: Dataset,
    net: BayesNet,
    estimator: ParameterEstimator,
    class_name: str,
    score: BGe,
    *,
    is_predictive: bool,
) -> ClassFit:
    """The temperature, and with `is_predictive` the predictive distributions of the numbers.

    Parameters
    ----------
    dataset : Dataset
    net : BayesNet
        The structure, with parameters by `estimator` from the same data.
    estimator : ParameterEstimator
    class_name : str
    score : BGe
        The prior of the regressions.
    is_predictive : bool
        Whether rows without unknown values are predicted by Student's distributions; the temperature then has a slope
        alone, as where weights are fitted to the class.

    Returns
    -------
    ClassFit
    """
    actual: Ints = dataset.column(class_name).astype(np.int64)
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
    log_p = np.zeros((dataset.n_rows, int(dataset.arities[dataset.index[class_name]])))
    fold_of = dealt(actual, [*dataset.codes, *dataset.measurements.values()])
    for fold in range(N_FOLDS):
        held_out = fold_of == fold
        if held_out.any() and not held_out.all():
            predictive = score if is_predictive else None
            log_p[held_out] = _predicted(dataset, held_out, net, estimator, class_name, predictive)
    log_p = np.maximum(log_p, LEAST_LOG)
    prior = np.exp(net.posterior(class_name).log_marginal) if is_predictive else None
    slope, shift = fit_temperature(log_p, actual, weights, prior)
    student = student_tables(dataset, net.dag, class_name, score) if is_predictive else None
    return ClassFit(slope, shift, student=student)


def dealt(actual: Ints, columns: Sequence[NDArray[Any]]) -> Ints:
    """The fold of each row: the distinct rows of a class in turn, ascending, so that equal rows share a fold.

    >>> dealt(np.array([0, 1, 0, 0, 1]), [np.array([2.5, 1.0, 0.5, 2.5, 3.0])]).tolist()
    [1, 0, 0, 1, 1]
    """
    order = np.lexsort((*columns[::-1], actual))
    is_new = np.zeros(len(actual), dtype=np.bool_)
    is_new[0] = True
    for column in (*columns, actual):
        own = column[order]
        is_new[1:] |= own[1:] != own[:-1]
    of_class = actual[order]
    number = np.cumsum(is_new) - 1
    first = number[np.searchsorted(of_class, of_class)]
    found = np.empty(len(actual), dtype=np.int64)
    found[order] = (number - first) % N_FOLDS
    return found


def _predicted(
    dataset: Dataset,
    held_out: np.ndarray,
    net: BayesNet,
    estimator: ParameterEstimator,
    class_name: str,
    predictive: BGe | None,
) -> Floats:
    """log P(class | row) of rows held out, by parameters from the others."""
    training = dataset.rows(~held_out)
    own = fit_parameters(training, net.dag, estimator, class_name=class_name, prior=predictive)
    if predictive is not None:
        own = replace(own, class_fit=ClassFit(student=student_tables(training, net.dag, class_name, predictive)))
    return own.log_posterior(table_rows(dataset.rows(held_out)), class_name)
