"""Penalised multinomial logistic regression on the cells of a design, and its penalty by cross-validation.

    minimise  -sum_i w_i log P(y_i | x_i) + lambda/2 |W|^2 + 5 (a - 1)^2
    log P(c | x) = a L(c) + sum_q W_q[x_q, c] - log Z

L is an optional offset, the logarithms of other probabilities of the row, and a = 1 without one. A small problem is
solved by Newton's method (`newton.py`), others by L-BFGS with the analytic gradient (`quasi_newton.py`); lambda is the
one with the least held-out loss, from the largest down, each from the optimum of the one before, until the loss rises.
Folds deal the rows of each class in an order that is drawn once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactbnc.learning.discriminative.design import Floats, Ints
from exactbnc.learning.discriminative.newton import newton, suits_newton
from exactbnc.learning.discriminative.quasi_newton import quasi_newton
from exactbnc.learning.discriminative.sample import Fit, Sample, loss

PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3)
N_FOLDS = 3
MANY_ROWS = 3000
"""From this many rows on, one fold is held out."""
MOST_ROWS = 20_000
"""The penalty is chosen on at most this many rows, evenly spaced: it is that of a prior, and does not depend on n."""
CHOOSING, FINAL = (60, 1e-5), (150, 1e-7)
"""Iterations, and the gain in loss per row below which one is the last."""


def fit_weights(sample: Sample, n_classes: int, penalties: Sequence[float] = PENALTIES) -> Fit:
    """The weights with the penalty of least held-out loss.

    Parameters
    ----------
    sample : Sample
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
            minimise(rows, n_classes, penalty, CHOOSING, start) for rows, start in zip(trained, starts, strict=True)
        ]
        held_out_loss = sum(loss(fit, rows) for fit, rows in zip(fits, held_out, strict=True))
        if held_out_loss >= least:
            break
        best, least, starts = penalty, held_out_loss, list(fits)
        kept = starts
    return minimise(sample, n_classes, best, FINAL, kept[0])


def minimise(sample: Sample, n_classes: int, penalty: float, effort: tuple[int, float], start: Fit | None) -> Fit:
    """The weights of least penalised loss, from `start` on."""
    method = newton if suits_newton(sample, n_classes) else quasi_newton
    return method(sample, n_classes, penalty, effort, start)


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
