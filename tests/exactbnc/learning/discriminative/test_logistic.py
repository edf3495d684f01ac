import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from exactbnc.learning.discriminative import logistic
from exactbnc.learning.discriminative.design import Design
from exactbnc.learning.discriminative.logistic import deal_folds, fit_weights
from exactbnc.learning.discriminative.newton import contrasts, newton, suits_newton
from exactbnc.learning.discriminative.quasi_newton import loss_and_gradient, quasi_newton
from exactbnc.learning.discriminative.sample import Fit, Sample, loss
from tests.exactbnc.learning.discriminative.cases import random_case


def case(seed, with_offset=False, **settings):
    data, dag = random_case(seed, **settings)
    design = Design.of(data, dag, "y")
    random = np.random.default_rng(seed)
    offset = random.normal(size=(data.n_rows, 3)) if with_offset else np.empty((0, 3))
    sample = Sample(design, design.cells, data.column("y").astype(np.int64), random.random(data.n_rows), offset)
    return sample


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_that_of_the_rows_one_by_one(seed, with_offset):
    sample = case(seed, with_offset)
    tables = np.random.default_rng(seed).normal(size=(sample.design.n_cells, 3))

    found, gradient, by_slope = loss_and_gradient(tables, sample, 0.7)

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
    assert (found, by_slope) == pytest.approx((expected, slopes), rel=1e-12)
    assert gradient == pytest.approx(by_cell, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("with_offset", [False, True])
def test_the_gradient_is_that_of_finite_differences(with_offset):
    sample = case(0, with_offset)
    tables = np.random.default_rng(1).normal(size=(sample.design.n_cells, 3))
    step = 1e-6

    _, gradient, by_slope = loss_and_gradient(tables, sample, 0.7)

    for cell in range(sample.design.n_cells):
        for c in range(3):
            shifted = np.zeros_like(tables)
            shifted[cell, c] = step
            above = loss_and_gradient(tables + shifted, sample, 0.7)[0]
            below = loss_and_gradient(tables - shifted, sample, 0.7)[0]
            assert gradient[cell, c] == pytest.approx((above - below) / (2 * step), abs=1e-6)
    above, below = (loss_and_gradient(tables, sample, 0.7 + sign * step)[0] for sign in (1, -1))
    assert by_slope == pytest.approx((above - below) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("method", [newton, quasi_newton])
def test_the_optimum_is_that_of_scikit_learn(method):
    """Without an intercept, scikit-learn's C is 1 / lambda, and its columns are those of the design."""
    sample = case(2)

    fit = method(sample, 3, 2.0, (1000, 1e-14), None)

    rows = np.zeros((len(sample.actual), sample.design.n_columns))
    for row, own in enumerate(sample.cells):
        for cell in own:
            rows[row, sample.design.parts[[cell]].indices] += 1
    assert (sample.one_hot == rows).all()
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=5000)
    peer.fit(rows, sample.actual, sample_weight=sample.weights)
    assert fit.weights == pytest.approx(peer.coef_.T, abs=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("penalty", [1e-3, 0.3, 30.0])
def test_both_methods_end_at_the_same_optimum(penalty, n_classes):
    data, dag = random_case(n_classes, n_rows=90, n_classes=n_classes)
    design = Design.of(data, dag, "y")
    actual = data.column("y").astype(np.int64)
    sample = Sample(design, design.cells, actual, np.ones(90), np.empty((0, n_classes)))
    start = Fit(np.random.default_rng(0).normal(size=(design.n_columns, n_classes)), 1.0, penalty)

    fits = [method(sample, n_classes, penalty, (5000, 1e-15), start) for method in (newton, quasi_newton)]

    values = [loss(fit, sample) + penalty / 2 * (fit.weights**2).sum() for fit in fits]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert values[0] <= values[1] + 1e-12 * abs(values[1])
    assert fits[0].weights.sum(axis=1) == pytest.approx(0, abs=1e-10)


def test_newton_is_for_small_problems_without_an_offset():
    assert suits_newton(case(0), 3)
    assert not suits_newton(case(0, n_rows=20_000), 3)
    assert not suits_newton(case(0, with_offset=True), 3)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_contrasts_are_an_orthonormal_basis_of_what_sums_to_zero(n_classes):
    basis = contrasts(n_classes)

    assert basis.sum(axis=0) == pytest.approx(0)
    assert basis.T @ basis == pytest.approx(np.eye(n_classes - 1))


def test_the_penalty_is_the_one_of_least_held_out_loss():
    sample = case(4, n_rows=200)

    fit = fit_weights(sample, 3)

    losses = {}
    for penalty in logistic.PENALTIES:
        losses[penalty] = 0.0
        for fold in deal_folds(sample.actual, sample.weights):
            trained = quasi_newton(sample.weighted(sample.weights - fold), 3, penalty, (500, 1e-10), None)
            losses[penalty] += loss(trained, sample.weighted(fold))
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
    sample = case(5, n_rows=600)
    logits = random.normal(size=(600, 3))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    actual = (random.random(600)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)

    rows = Sample(sample.design, sample.cells, actual, np.ones(600), logits)
    fit = quasi_newton(rows, 3, 100.0, (200, 1e-10), None)

    assert fit.slope == pytest.approx(1.0, abs=0.2)
    assert np.abs(fit.weights).max() < 0.2
