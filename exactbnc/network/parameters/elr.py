"""ELR, extended logistic regression: the tables that maximise the conditional log-likelihood of the class.

    CLL = sum over the rows of w log P(y | x),        theta_jk = theta'_jk exp(d_jk) / sum_k' theta'_jk' exp(d_jk')

d = 0 is the start theta', frequencies smoothed with `alpha` per cell (a small alpha is close to the observed
frequencies that the paper starts from). With G_jk = sum of w (1[c = y] - P(c | x)) over the rows and classes c that
fall into cell jk, the gradient is G_jk - theta_jk sum_k' G_jk'. What is maximised, by L-BFGS-B, is CLL - l2/2 |d|^2: a
Gaussian prior around the start. |d| <= 30 keeps all numbers finite where the data can be separated and the maximum is
at infinity. Families without the class do not change the CLL and stay at the start, as do configurations that no row
has. The result is never below the start. For naive Bayes, TAN and other structures without immoralities there is no
local maximum to be caught in (Roos et al. 2005); elsewhere there may be.

tuning = "cross" stops early, after as many iterations as give the highest CLL in cross-validation. The folds are dealt
row by row, class after class, a row of weight w being w rows, so that nothing is random.
Reference: Greiner, Su, Shen, Zhou (2005); the optimiser, the prior and the smoothed start are our choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters._base import ParameterEstimator
from exactbnc.network.parameters._conditional import ClassFamilies, Ints, class_families
from exactbnc.network.parameters._kernels import (
    add_residuals,
    conditional_log_likelihood,
    gradient_of_logits,
    log_normalise,
)
from exactbnc.network.parameters.closed_form import Dirichlet
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.system.blas import one_blas_thread

TUNINGS = ("none", "cross")

N_FOLDS = 5
"""Folds of the cross-tuning, fewer if there are fewer rows."""

PATIENCE = 25
"""A fold ends when its held-out CLL has not risen for this many iterations; later stops are not considered."""

LARGEST_SHIFT = 30.0
"""The bound on |d|: odds change by a factor of at most exp(60)."""

SMALLEST_ALPHA = 1e-9
"""The start must not be so close to zero that numbers are lost."""

MEMORY = 20
"""Corrections that L-BFGS-B keeps."""


@dataclass(frozen=True)
class ELR(ParameterEstimator):
    """`tolerance` is the gain in CLL per row below which an iteration is the last one."""

    l2: float = 0.0
    tuning: str = "cross"
    max_iterations: int = 500
    alpha: float = 0.5
    tolerance: float = 1e-9

    name: ClassVar[str] = "elr"
    title: ClassVar[str] = "maximum conditional likelihood (extended logistic regression)"
    reference: ClassVar[str] = "Greiner, Su, Shen, Zhou 2005"
    needs_class: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tuning not in TUNINGS:
            raise ParameterError(
                f"the tuning of 'elr' must be one of {', '.join(TUNINGS)}. Got {self.tuning!r} instead."
            )
        if self.max_iterations < 0:
            raise ParameterError(f"the max_iterations of 'elr' must be at least 0. Got {self.max_iterations} instead.")
        for setting, least in (("l2", 0.0), ("tolerance", 0.0), ("alpha", SMALLEST_ALPHA)):
            value = getattr(self, setting)
            if not (least <= value and np.isfinite(value)):
                raise ParameterError(f"the {setting} of 'elr' must be a number from {least:g}. Got {value!r} instead.")

    def tables(self, dataset: Dataset, dag: DAG, class_name: str | None) -> tuple[Floats, ...]:
        """The start, with the families of the class optimised."""
        if class_name is None:
            raise ParameterError("the parameters 'elr' need a class")
        families = class_families(dataset, dag, class_name)
        n_iterations = self._tuned(families) if self.tuning == "cross" else self.max_iterations
        objective = Objective.of(families, families.weights, self)
        shifts = climb(objective, n_iterations, self.tolerance, on_iteration=None)
        start = Dirichlet(self.alpha).tables(dataset, dag, class_name)
        return families.replace(start, np.exp(objective.log_theta(shifts))) if shifts.any() else start

    def _tuned(self, families: ClassFamilies) -> int:
        """The number of iterations with the highest held-out CLL, the smallest one among equals."""
        held_out = np.zeros(self.max_iterations + 1)
        horizon = self.max_iterations
        for fold in deal_folds(families):
            trace, was_stopped = self._trace(families, fold)
            held_out[: len(trace)] += trace
            held_out[len(trace) :] += trace[-1]
            horizon = min(horizon, len(trace) - 1) if was_stopped else horizon
        return int(np.argmax(held_out[: horizon + 1]))

    def _trace(self, families: ClassFamilies, fold: Floats) -> tuple[list[float], bool]:
        """The CLL of a fold after 0, 1, 2, ... iterations on the others, and whether it was stopped for falling."""
        objective = Objective.of(families, families.weights - fold, self)
        units, actual, weights = _rows_with(families, fold)
        trace: list[float] = []

        def is_still_rising(shifts: Floats) -> bool:
            trace.append(conditional_log_likelihood(objective.log_theta(shifts), units, actual, weights))
            return len(trace) - 1 - int(np.argmax(trace)) < PATIENCE

        is_still_rising(np.zeros_like(objective.log_start))
        climb(objective, self.max_iterations, self.tolerance, on_iteration=is_still_rising)
        return trace, len(trace) - 1 - int(np.argmax(trace)) >= PATIENCE


@dataclass(frozen=True, eq=False)
class Objective:
    """(CLL - l2/2 |d|^2) / N on the rows of one training set, and its gradient by d, units x classes."""

    log_start: Floats
    group_start: Ints
    units: Ints
    actual: Ints
    weights: Floats
    l2: float

    @classmethod
    def of(cls, families: ClassFamilies, weights: Floats, settings: ELR) -> Objective:
        """The objective with these row weights, which also determine the start."""
        log_start = np.log(families.counts(weights) + settings.alpha)
        log_normalise(log_start, families.group_start, log_start)
        return cls(log_start, families.group_start, *_rows_with(families, weights), settings.l2)

    def log_theta(self, shifts: Floats) -> Floats:
        """The logarithms of the tables, normalised."""
        found = np.empty_like(self.log_start)
        log_normalise(self.log_start + shifts, self.group_start, found)
        return found

    def __call__(self, shifts: Floats) -> tuple[float, Floats]:
        """The value and the gradient."""
        log_theta = self.log_theta(shifts)
        gradient = np.zeros_like(log_theta)
        cll = add_residuals(log_theta, self.units, self.actual, self.weights, gradient)
        gradient_of_logits(gradient, log_theta, self.group_start)
        gradient -= self.l2 * shifts
        scale = max(1.0, self.weights.sum())  # a training set may be empty
        return (cll - self.l2 / 2 * float((shifts**2).sum())) / scale, gradient / scale


def climb(
    objective: Objective,
    n_iterations: int,
    tolerance: float,
    *,
    on_iteration: Callable[[Floats], bool] | None,
) -> Floats:
    """The shifts after `n_iterations`, on convergence, or when `on_iteration` returns False; never below the start."""
    shape = objective.log_start.shape
    start = np.zeros(objective.log_start.size)
    if n_iterations == 0:
        return start.reshape(shape)

    from scipy.optimize import Bounds, minimize  # slow to load, and the other estimators do without it

    def to_minimise(shifts: Floats) -> tuple[float, Floats]:
        value, gradient = objective(shifts.reshape(shape))
        return -value, -gradient.ravel()

    def observe(shifts: Floats) -> None:
        if on_iteration is not None and not on_iteration(shifts.reshape(shape)):
            raise StopIteration

    with one_blas_thread():
        found = minimize(
            to_minimise,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(-LARGEST_SHIFT, LARGEST_SHIFT),
            callback=observe,
            options={"maxiter": n_iterations, "maxcor": MEMORY, "ftol": tolerance, "gtol": 0.0, "maxfun": np.inf},
        )
    is_better = -found.fun >= objective(start.reshape(shape))[0]
    shifts: Floats = found.x if is_better else start
    return shifts.reshape(shape)


def deal_folds(families: ClassFamilies) -> list[Floats]:
    """The weights of the rows in each fold: one class after the other, row by row, the next row to the next fold.

    A row of weight w is w rows that follow each other, so that merging equal neighbours changes no fold.
    """
    order = np.argsort(families.actual, kind="stable")
    weights = families.weights[order].astype(np.int64)
    last = np.cumsum(weights)
    n_folds = int(min(N_FOLDS, last[-1]))
    folds = []
    for fold in range(n_folds):
        dealt = np.empty(len(order))
        # of the places 0..m-1, (m - fold + n - 1) // n are this fold's
        dealt[order] = (last - fold + n_folds - 1) // n_folds - (last - weights - fold + n_folds - 1) // n_folds
        folds.append(dealt)
    return folds


def _rows_with(families: ClassFamilies, weights: Floats) -> tuple[Ints, Ints, Floats]:
    """Units, class and weight of the rows whose weight is not 0."""
    kept = np.flatnonzero(weights)
    return families.units[kept], families.actual[kept], weights[kept]
