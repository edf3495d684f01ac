"""Compiled passes over the rows for ELR and DFE; units, groups and W are those of `_conditional`.

`group_start` bounds the groups of the features; the units before the first group are those of the class itself.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def log_normalise(logits: Floats, group_start: Ints, log_theta: Floats) -> None:
    """log theta = b - log sum exp b, over the classes for a unit of the class, over the units of a group otherwise."""
    n_classes = logits.shape[1]
    for u in range(group_start[0]):
        largest = logits[u].max()
        total = 0.0
        for c in range(n_classes):
            total += math.exp(logits[u, c] - largest)
        for c in range(n_classes):
            log_theta[u, c] = logits[u, c] - largest - math.log(total)
    for group in range(len(group_start) - 1):
        first, last = group_start[group], group_start[group + 1]
        for c in range(n_classes):
            largest = logits[first, c]
            for u in range(first + 1, last):
                largest = max(largest, logits[u, c])
            total = 0.0
            for u in range(first, last):
                total += math.exp(logits[u, c] - largest)
            shift = largest + math.log(total)
            for u in range(first, last):
                log_theta[u, c] = logits[u, c] - shift


@kernel
def gradient_of_logits(residuals: Floats, log_theta: Floats, group_start: Ints) -> None:
    """Turn G into the gradient by b, in place: G_jk - theta_jk sum_k' G_jk'.

    In a unit of the class the sum runs over the classes and is 0: a row adds 1 for its own and takes off all p_c.
    """
    n_classes = residuals.shape[1]
    for group in range(len(group_start) - 1):
        first, last = group_start[group], group_start[group + 1]
        for c in range(n_classes):
            total = 0.0
            for u in range(first, last):
                total += residuals[u, c]
            for u in range(first, last):
                residuals[u, c] -= math.exp(log_theta[u, c]) * total


@kernel
def add_residuals(log_theta: Floats, units: Ints, actual: Ints, weights: Floats, residuals: Floats) -> float:
    """CLL; G += w (1[c = y] - p_c) in every unit of every row."""
    n_rows, n_families = units.shape
    n_classes = log_theta.shape[1]
    posterior = np.empty(n_classes)
    cll = 0.0
    for row in range(n_rows):
        cll += weights[row] * _posterior(log_theta, units[row], actual[row], posterior)
        for c in range(n_classes):
            posterior[c] *= -weights[row]
        posterior[actual[row]] += weights[row]
        for f in range(n_families):
            u = units[row, f]
            for c in range(n_classes):
                residuals[u, c] += posterior[c]
    return cll


@kernel
def conditional_log_likelihood(log_theta: Floats, units: Ints, actual: Ints, weights: Floats) -> float:
    """CLL = sum over the rows of w log P(y | x)."""
    posterior = np.empty(log_theta.shape[1])
    cll = 0.0
    for row in range(len(units)):
        cll += weights[row] * _posterior(log_theta, units[row], actual[row], posterior)
    return cll


@kernel
def _posterior(log_theta: Floats, units: Ints, actual: int, posterior: Floats) -> float:
    """P(c | x) for every class c, and log P(actual | x)."""
    n_classes = len(posterior)
    posterior[:] = 0.0
    for u in units:
        for c in range(n_classes):
            posterior[c] += log_theta[u, c]
    return _exp_normalise(posterior, actual)


@kernel
def _exp_normalise(scores: Floats, actual: int) -> float:
    """Scores to probabilities, in place; the logarithm of one of them."""
    largest = scores.max()
    own = scores[actual] - largest
    total = 0.0
    for c in range(len(scores)):
        scores[c] = math.exp(scores[c] - largest)
        total += scores[c]
    for c in range(len(scores)):
        scores[c] /= total
    return float(own - math.log(total))


@kernel
def prediction_losses(
    counts: Floats, totals: Floats, group_of: Ints, units: Ints, actual: Ints, weights: Floats, n_passes: int
) -> Floats:
    """Pass over the rows in turn: add w (1 - P(y | x)) to the counts of the row; what each row added in all.

    `totals` are the counts of the groups, `group_of[u]` the group of a unit, -1 for those of the class: their sum over
    the classes is the same for every class, and cancels.
    """
    n_rows, n_families = units.shape
    n_classes = counts.shape[1]
    scores = np.empty(n_classes)
    losses = np.zeros(n_rows)
    for _ in range(n_passes):
        for row in range(n_rows):
            # P(c | x) from the counts so far: a unit's share of its group, multiplied over the families
            scores[:] = 0.0
            for f in range(n_families):
                u = units[row, f]
                group = group_of[u]
                for c in range(n_classes):
                    of_group = 1.0 if group < 0 else totals[group, c]
                    scores[c] += math.log(counts[u, c] / of_group)
            y = actual[row]
            _exp_normalise(scores, y)
            loss = 0.0  # 1 - P(y | x) without cancellation
            for c in range(n_classes):
                if c != y:
                    loss += scores[c]
            loss *= weights[row]
            losses[row] += loss
            # the loss goes to the counts of the row's own class
            for f in range(n_families):
                u = units[row, f]
                counts[u, y] += loss
                if group_of[u] >= 0:
                    totals[group_of[u], y] += loss
    return losses
