import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from exactbnc.learning.discriminative import logistic
from exactbnc.learning.discriminative.design import Design
from exactbnc.learning.discriminative.logistic import Sample, deal_folds, fit_weights, loss_and_gradient, minimise
from tests.exactbnc.learning.discriminative.cases import random_case


def case(seed, with_offset=False, **settings):
    data, dag = random_case(seed, **settings)
    design = Design.of(data, dag, "y")
    random = np.random.default_rng(seed)
    offset = random.normal(size=(data.n_rows, 3)) if with_offset else np.empty((0, 3))
    sample = Sample(design.cells, data.column("y").astype(np.int64), random.random(data.n_rows), offset)
    return design, sample


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_that_of_the_rows_one_by_one(seed, with_offset):
    design, sample = case(seed, with_offset)
    tables = np.random.default_rng(seed).normal(size=(design.n_cells, 3))

    loss, gradient, by_slope = loss_and_gradient(tables, sample, 0.7)

    expected, slopes, by_cell = 0.0, 0.0, np.zeros_like(tables)
    for row, (cells, y, w) in enumerate(zip(sample.cells, sample.actual, sample.weights, strict=True)):
        offset = sample.offset[row] if with_offset else np.zeros(3)
        scores = 0.7 * offset + sum(tables[cell] for cell in cells)
        log_p = scores - np.logaddexp.reduce(scores)
        expected -= w * log_p[y]
        residual = w * (np.exp(log_p) - np.eye(3)[y])
        slopes += residual @ offset
        for cell in cells:
            by_cell[cell] += residual
    assert (loss, by_slope) == pytest.approx((expected, slopes), rel=1e-12)
    assert gradient == pytest.approx(by_cell, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("with_offset", [False, True])
def test_the_gradient_is_that_of_finite_differences(with_offset):
    design, sample = case(0, with_offset)
    tables = np.random.default_rng(1).normal(size=(design.n_cells, 3))
    step = 1e-6

    _, gradient, by_slope = loss_and_gradient(tables, sample, 0.7)

    for cell in range(design.n_cells):
        for c in range(3):
            shifted = np.zeros_like(tables)
            shifted[cell, c] = step
            above = loss_and_gradient(tables + shifted, sample, 0.7)[0]
            below = loss_and_gradient(tables - shifted, sample, 0.7)[0]
            assert gradient[cell, c] == pytest.approx((above - below) / (2 * step), abs=1e-6)
    above, below = (loss_and_gradient(tables, sample, 0.7 + sign * step)[0] for sign in (1, -1))
    assert by_slope == pytest.approx((above - below) / (2 * step), abs=1e-6)


def test_the_optimum_is_that_of_scikit_learn():
    """Without an intercept, scikit-learn's C is 1 / lambda, and its columns are those of the design."""
    design, sample = case(2)

    fit = minimise(design, sample, 3, 2.0, (1000, 1e-14))

    rows = np.zeros((len(sample.actual), design.n_columns))
    for row, own in enumerate(sample.cells):
        for cell in own:
            rows[row, design.parts[[cell]].indices] += 1
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=5000)
    peer.fit(rows, sample.actual, sample_weight=sample.weights)
    assert fit.weights == pytest.approx(peer.coef_.T, abs=1e-4)


def test_the_penalty_is_the_one_of_least_held_out_loss():
    design, sample = case(4, n_rows=200)

    fit = fit_weights(design, sample, 3)

    losses = {}
    for penalty in logistic.PENALTIES:
        losses[penalty] = 0.0
        for fold in deal_folds(sample.actual, sample.weights):
            trained = minimise(design, sample.weighted(sample.weights - fold), 3, penalty, (500, 1e-10))
            losses[penalty] += loss_and_gradient(design.parts @ trained.weights, sample.weighted(fold), 1.0)[0]
    assert losses[fit.penalty] == pytest.approx(min(losses.values()), rel=1e-3)


@pytest.mark.parametrize("is_whole", [False, True])
def test_folds_share_out_every_row_and_every_class(is_whole):
    random = np.random.default_rng(0)
    actual = random.integers(0, 3, 90)
    weights = random.integers(1, 5, 90).astype(float) if is_whole else random.random(90)

    folds = deal_folds(actual, weights)

    assert sum(folds) == pytest.approx(weights)
    for c in range(3):
        sizes = [fold[actual == c].sum() if is_whole else np.count_nonzero(fold[actual == c]) for fold in folds]
        assert max(sizes) - min(sizes) <= 1


def test_an_offset_that_is_right_keeps_its_slope_and_needs_no_weights():
    random = np.random.default_rng(5)
    design, sample = case(5, n_rows=600)
    logits = random.normal(size=(600, 3))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    actual = (random.random(600)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)

    fit = minimise(design, Sample(sample.cells, actual, np.ones(600), logits), 3, 100.0, (200, 1e-10))

    assert fit.slope == pytest.approx(1.0, abs=0.2)
    assert np.abs(fit.weights).max() < 0.2
