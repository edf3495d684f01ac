"""Penalised multinomial logistic regression on the cells of a design, and its penalty by cross-validation.

    minimise  -sum_i w_i log P(y_i | x_i) + lambda/2 |W|^2 + 5 (a - 1)^2
    log P(c | x) = a L(c) + sum_q W_q[x_q, c] - log Z

L is an optional offset, the logarithms of other probabilities of the row, and a = 1 without one. L-BFGS with the
analytic gradient; lambda is the one with the least held-out loss, from the largest down, each from the optimum of the
one before, until the loss rises. Folds deal the rows of each class in an order that is drawn once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from exactbnc.learning.discriminative.design import Design, Floats, Ints
from scorecache.system.blas import one_blas_thread

PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3)
N_FOLDS = 3
MANY_ROWS = 3000
"""From this many rows on, one fold is held out."""
MOST_ROWS = 20_000
"""The penalty is chosen on at most this many rows, evenly spaced: it is that of a prior, and does not depend on n."""
SLOPE_PENALTY = 5.0
CHOOSING, FINAL = (60, 1e-5), (150, 1e-7)
"""Iterations, and the gain in loss per row below which one is the last."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to fit: cells as in `Design`, classes, weights, and an offset (rows x classes, or empty)."""

    cells: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    actual: Ints
    weights: Floats
    offset: Floats

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def places(self) -> Any:
        """Rows x cells, a sparse matrix with a one for each cell of each row."""
        from scipy.sparse import csr_array

        n_rows, n_families = self.cells.shape
        shape = (n_rows, int(self.cells.max(initial=-1)) + 1)
        return csr_array((np.ones(self.cells.size), self.cells.ravel(), np.arange(n_rows + 1) * n_families), shape)

    @cached_property
    def spread(self) -> Any:
        """The transpose of `places`, which takes time to make."""
        return self.places.T

    def rows(self, chosen: Ints) -> Sample:
        """Some of the rows."""
        offset = self.offset[chosen] if len(self.offset) else self.offset
        return Sample(self.cells[chosen], self.actual[chosen], self.weights[chosen], offset)

    def weighted(self, weights: Floats) -> Sample:
        """The rows with other weights, without those of weight 0."""
        kept = np.flatnonzero(weights)
        return Sample(self.cells, self.actual, weights, self.offset).rows(kept)


@dataclass(frozen=True, eq=False)
class Fit:
    """`weights`, columns x classes, the slope of the offset, and the penalty they were found with."""

    weights: Floats
    slope: float
    penalty: float


def loss_and_gradient(tables: Floats, sample: Sample, slope: float) -> tuple[float, Floats, float]:
    """The unpenalised loss, and its derivatives by the tables and by the slope.

    Examples
    --------
    >>> rows = Sample(np.zeros((2, 1), np.int32), np.array([0, 1]), np.ones(2), np.empty((0, 2)))
    >>> loss, gradient, _ = loss_and_gradient(np.zeros((1, 2)), rows, 1.0)
    >>> round(loss / 2, 4), gradient.tolist()
    (0.6931, [[0.0, 0.0]])
    """
    places = sample.places
    n_used = places.shape[1]
    scores = places @ tables[:n_used]
    if len(sample.offset):
        scores += slope * sample.offset
    scores -= scores.max(axis=1, keepdims=True)
    rows = np.arange(len(scores))
    of_actual = scores[rows, sample.actual]
    residuals = np.exp(scores)
    totals = residuals.sum(axis=1)
    loss = float(sample.weights @ (np.log(totals) - of_actual))
    residuals *= (sample.weights / totals)[:, None]
    residuals[rows, sample.actual] -= sample.weights
    gradient = np.zeros_like(tables)
    gradient[:n_used] = sample.spread @ residuals
    by_slope = float((residuals * sample.offset).sum()) if len(sample.offset) else 0.0
    return loss, gradient, by_slope


def minimise(
    design: Design, sample: Sample, n_classes: int, penalty: float, effort: tuple[int, float], start: Fit | None = None
) -> Fit:
    """The weights of least penalised loss, from `start` on."""
    from scipy.optimize import minimize

    shape = (design.n_columns, n_classes)
    has_offset = len(sample.offset) > 0
    spread, total = design.parts.T.tocsr(), max(sample.total, 1e-300)

    def objective(point: Floats) -> tuple[float, Floats]:
        weights, slope = point[:-1].reshape(shape), float(point[-1])
        loss, by_cell, by_slope = loss_and_gradient(design.parts @ weights, sample, slope)
        gradient = np.empty_like(point)
        gradient[:-1] = (spread @ by_cell + penalty * weights).ravel()
        gradient[-1] = by_slope + 2 * SLOPE_PENALTY * (slope - 1) if has_offset else 0.0
        value = loss + penalty / 2 * float((weights**2).sum()) + SLOPE_PENALTY * (slope - 1) ** 2
        return value / total, gradient / total

    point = np.zeros(design.n_columns * n_classes + 1)
    point[-1] = 1.0
    if start is not None:
        point[:-1], point[-1] = start.weights.ravel(), start.slope
    n_iterations, tolerance = effort
    options = {"maxiter": n_iterations, "ftol": tolerance, "gtol": tolerance}
    with one_blas_thread():
        found = minimize(objective, point, jac=True, method="L-BFGS-B", options=options).x
    return Fit(found[:-1].reshape(shape), float(found[-1]), penalty)


def fit_weights(design: Design, sample: Sample, n_classes: int, penalties: Sequence[float] = PENALTIES) -> Fit:
    """The weights with the penalty of least held-out loss.

    Parameters
    ----------
    design : Design
    sample : Sample
        The rows of the design.
    n_classes : int
    penalties : sequence of float, descending

    Returns
    -------
    Fit
    """
    chosen = sample
    if len(sample.actual) > MOST_ROWS:
        chosen = sample.rows(np.linspace(0, len(sample.actual) - 1, MOST_ROWS).astype(np.int64))
    folds = deal_folds(chosen.actual, chosen.weights)
    used = folds[:1] if chosen.total >= MANY_ROWS else folds
    trained = [chosen.weighted(chosen.weights - fold) for fold in used]
    held_out = [chosen.weighted(fold) for fold in used]
    starts: list[Fit | None] = [None] * len(used)
    best, least = penalties[0], np.inf
    kept = starts
    for penalty in penalties:
        fits = [
            minimise(design, rows, n_classes, penalty, CHOOSING, start)
            for rows, start in zip(trained, starts, strict=True)
        ]
        loss = sum(
            loss_and_gradient(design.parts @ fit.weights, rows, fit.slope)[0]
            for fit, rows in zip(fits, held_out, strict=True)
        )
        if loss >= least:
            break
        best, least, starts = penalty, loss, list(fits)
        kept = starts
    return minimise(design, sample, n_classes, best, FINAL, kept[0])


def deal_folds(actual: Ints, weights: Floats, n_folds: int = N_FOLDS) -> list[Floats]:
    """The weights of the rows in each fold: the rows of a class, in an order drawn once, are dealt in turn.

    A row whose weight is a whole number w is w rows that follow each other; with other weights rows stay whole.
    """
    n_rows = len(actual)
    drawn = np.random.default_rng(0).permutation(n_rows)
    order = drawn[np.argsort(actual[drawn], kind="stable")]
    is_whole = bool((np.floor(weights) == weights).all())
    units = weights[order].astype(np.int64) if is_whole else np.ones(n_rows, dtype=np.int64)
    last = np.cumsum(units)
    folds = []
    for fold in range(min(n_folds, int(last[-1]))):
        # of the places 0..m-1, (m - fold + n - 1) // n are this fold's
        dealt = (last - fold + n_folds - 1) // n_folds - (last - units - fold + n_folds - 1) // n_folds
        own = np.empty(n_rows)
        own[order] = dealt if is_whole else dealt * weights[order]
        folds.append(own)
    return folds
