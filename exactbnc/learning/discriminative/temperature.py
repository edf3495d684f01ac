"""Calibration by a temperature: one slope for the log-posterior and a shift per class.

    minimise  -sum_i w_i log softmax(a L_i + b)[y_i] + .05 (a - 1)^2 + |b|^2/2

L_i are log-posteriors of the training rows as they would be had row i been left out. With a prior P(c) there is the
slope alone, of the evidence: a (L_i - log P) + log P, so that a row without evidence keeps the prior. The objective is
convex; Newton's method with the analytic Hessian, steps halved until the objective falls.
"""

from __future__ import annotations

import numpy as np

from exactbnc.learning.discriminative.design import Floats, Ints
from exactbnc.network.normalisation import normalise

SLOPE_PENALTY = 0.05
MOST_STEPS = 50
LARGEST_SLOPE = 20.0
MOST_ROWS = 100_000
"""Enough rows to determine a few numbers well; of more, evenly spaced ones are used."""


def fit_temperature(log_p: Floats, actual: Ints, weights: Floats, prior: Floats | None = None) -> tuple[float, Floats]:
    """The slope, at least 0, and the shifts.

    Parameters
    ----------
    log_p : array, rows x classes
        Logarithms of probabilities up to a constant per row, all finite.
    actual : array of int
    weights : array
    prior : array, optional
        P(c), for a slope of the evidence alone; the shifts then are (1 - a) log P.

    Examples
    --------
    >>> sure = np.log([[0.99, 0.01], [0.99, 0.01], [0.01, 0.99], [0.01, 0.99]] * 10)
    >>> slope, _ = fit_temperature(sure, np.array([0, 1, 1, 0] * 10), np.ones(40))
    >>> round(slope, 2)  # right half of the time
    0.0
    """
    if len(actual) > MOST_ROWS:
        chosen = np.linspace(0, len(actual) - 1, MOST_ROWS).astype(np.int64)
        log_p, actual, weights = log_p[chosen], actual[chosen], weights[chosen] * (len(actual) / MOST_ROWS)
    n_rows, n_classes = log_p.shape
    base = np.zeros(n_classes) if prior is None else np.log(prior)
    log_p = log_p - base
    log_p -= log_p.mean(axis=1, keepdims=True)  # a constant per row changes nothing
    rows = np.arange(n_rows)
    n_free = n_classes + 1 if prior is None else 1

    def loss(point: Floats) -> tuple[float, Floats]:
        scores = point[0] * log_p + (point[1:] + base)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        totals = odds.sum(axis=1)
        value = float(weights @ (np.log(totals) - scores[rows, actual]))
        value += SLOPE_PENALTY * (point[0] - 1) ** 2 + float((point[1:] ** 2).sum()) / 2
        return value, odds / totals[:, None]

    point = np.zeros(n_classes + 1)
    point[0] = 1.0
    value, chances = loss(point)
    for _ in range(MOST_STEPS):
        residuals = chances * weights[:, None]
        residuals[rows, actual] -= weights
        gradient = np.concatenate([[(residuals * log_p).sum()], residuals.sum(axis=0)])
        gradient += np.concatenate([[2 * SLOPE_PENALTY * (point[0] - 1)], point[1:]])
        step = np.zeros_like(point)
        hessian = _hessian(log_p, chances, weights)[:n_free, :n_free]
        step[:n_free] = np.linalg.solve(hessian, gradient[:n_free])
        if gradient @ step <= 1e-12 * max(1.0, value):
            break
        size = 1.0
        while size > 1e-6:
            trial = point - size * step
            trial[0] = min(max(trial[0], 0.0), LARGEST_SLOPE)
            trial_value, trial_chances = loss(trial)
            if trial_value < value:
                break
            size /= 2
        else:
            break
        point, value, chances = trial, trial_value, trial_chances
    return float(point[0]), point[1:] + (1 - point[0]) * base


def fit_with_factors(log_p: Floats, actual: Ints, weights: Floats, factors: Floats) -> tuple[float, Floats]:
    """The temperature where the probability of each class, and the weights of its rows, are multiplied by a factor."""
    slope, shift = fit_temperature(log_p + np.log(factors), actual, weights * factors[actual])
    return slope, shift + slope * np.log(factors)


def apply_temperature(log_p: Floats, slope: float, shift: Floats) -> Floats:
    """log softmax(slope L + shift), rows x classes."""
    scores = slope * log_p + shift
    normalise(scores)
    return scores


def _hessian(log_p: Floats, chances: Floats, weights: Floats) -> Floats:
    """Of the objective by (slope, shifts); the diagonal penalties make it positive definite."""
    n_classes = log_p.shape[1]
    weighted = chances * weights[:, None]
    mean = (chances * log_p).sum(axis=1)
    hessian = np.empty((n_classes + 1, n_classes + 1))
    hessian[0, 0] = (weighted * log_p**2).sum() - weights @ mean**2 + 2 * SLOPE_PENALTY
    hessian[0, 1:] = hessian[1:, 0] = (weighted * log_p).sum(axis=0) - mean @ weighted
    hessian[1:, 1:] = np.diag(weighted.sum(axis=0)) - weighted.T @ chances + np.eye(n_classes)
    return hessian
