"""L-BFGS with the analytic gradient, for regressions of any size."""

from __future__ import annotations

import numpy as np

from exactbnc.learning.discriminative.design import Floats
from exactbnc.learning.discriminative.sample import Fit, Sample, residuals_of, softmax_loss
from scorecache.system.blas import one_blas_thread

SLOPE_PENALTY = 5.0


def quasi_newton(sample: Sample, n_classes: int, penalty: float, effort: tuple[int, float], start: Fit | None) -> Fit:
    """The weights, and with an offset its slope, of least penalised loss, from `start` on."""
    from scipy.optimize import minimize

    design = sample.design
    shape = (design.n_columns, n_classes)
    has_offset = len(sample.offset) > 0
    spread = design.parts.T.tocsr()

    def objective(point: Floats) -> tuple[float, Floats]:
        weights, slope = point[:-1].reshape(shape), float(point[-1])
        loss, by_cell, by_slope = loss_and_gradient(design.parts @ weights, sample, slope)
        gradient = np.empty_like(point)
        gradient[:-1] = (spread @ by_cell + penalty * weights).ravel()
        gradient[-1] = by_slope + 2 * SLOPE_PENALTY * (slope - 1) if has_offset else 0.0
        value = loss + penalty / 2 * float((weights**2).sum()) + SLOPE_PENALTY * (slope - 1) ** 2
        return value / sample.total, gradient / sample.total

    point = np.zeros(design.n_columns * n_classes + 1)
    point[-1] = 1.0
    if start is not None:
        point[:-1], point[-1] = start.weights.ravel(), start.slope
    n_iterations, tolerance = effort
    options = {"maxiter": n_iterations, "ftol": tolerance, "gtol": tolerance}
    with one_blas_thread():
        found = minimize(objective, point, jac=True, method="L-BFGS-B", options=options).x
    return Fit(found[:-1].reshape(shape), float(found[-1]), penalty)


def loss_and_gradient(tables: Floats, sample: Sample, slope: float) -> tuple[float, Floats, float]:
    """The unpenalised loss, and its derivatives by the tables (cells x classes) and by the slope."""
    scores = sample.places @ tables
    if len(sample.offset):
        scores += slope * sample.offset
    loss, chances = softmax_loss(scores, sample)
    residuals = residuals_of(chances, sample)
    by_slope = float((residuals * sample.offset).sum()) if len(sample.offset) else 0.0
    return loss, sample.spread @ residuals, by_slope
