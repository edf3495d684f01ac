from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t

from exactbnc.learning.ensemble.gaussian import PRIOR_ROWS, PRIOR_SQUARES, RIDGE, ConditionalGaussian, Curve


def sample(seed=0, n_rows=120):
    """Three columns, the second a line of the first whose slope depends on the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    a = random.normal(size=n_rows) + y
    b = np.where(y, a, -a) + 0.3 * random.normal(size=n_rows)
    return np.column_stack([a, b, random.normal(size=n_rows)]), y


def test_the_curve_is_the_normal_quantile_of_the_middle_rank():
    numbers = np.array([3.0, 1.0, 1.0, np.nan, 8.0])

    curve = Curve.of(numbers, np.ones(5))

    assert curve(np.array([1.0, 3.0, 8.0])) == pytest.approx(norm.ppf([1 / 4, 2.5 / 4, 3.5 / 4]))
    assert curve(np.array([-10.0, 100.0])) == pytest.approx(norm.ppf([1 / 4, 3.5 / 4]))
    assert curve(np.array([np.nan]))[0] == curve(np.array([curve.median]))[0]


def test_a_dependence_that_differs_by_class_is_found_and_used():
    numbers, y = sample()

    model = ConditionalGaussian.of(numbers, y, np.ones(120), 2)

    arcs = {frozenset((own.feature, u)) for own in model.regressions for u in own.parents}
    assert frozenset((0, 1)) in arcs
    assert (model.log_posterior(numbers).argmax(axis=1) == y).mean() > 0.9


def test_the_density_is_that_of_the_formula():
    numbers, y = sample()
    model = ConditionalGaussian.of(numbers, y, np.ones(120), 2)
    z = np.column_stack([curve(column) for curve, column in zip(model.curves, numbers.T, strict=True)])

    found = model.log_posterior(numbers)

    expected = np.tile(np.log(np.bincount(y) + 1.0), (120, 1))
    for own in model.regressions:
        terms = np.column_stack([np.ones(120), *(z[:, u] for u in own.parents)])
        for c in range(2):
            rows = y == c
            n_c = rows.sum()
            ridge = np.diag([1e-9, *([RIDGE * n_c + 1e-9] * len(own.parents))])
            b = np.linalg.solve(terms[rows].T @ terms[rows] + ridge, terms[rows].T @ z[rows, own.feature])
            squares = ((z[rows, own.feature] - terms[rows] @ b) ** 2).sum()
            s = np.sqrt((squares + PRIOR_SQUARES) / (n_c + PRIOR_ROWS))
            expected[:, c] += t.logpdf(z[:, own.feature], max(3, n_c + 2 - len(b)), terms @ b, s)
    expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_a_residual_left_out_is_that_of_regressing_again():
    """Curves, parents, ridge and scale kept: e / (1 - h) is the error of the regression without the row."""
    numbers, y = sample(n_rows=40)
    model = ConditionalGaussian.of(numbers, y, np.ones(40), 2)
    z = np.column_stack([curve(column) for curve, column in zip(model.curves, numbers.T, strict=True)])

    for own in model.regressions:
        found = replace(model, regressions=(own,))._log_densities(z, y, np.ones(40))
        terms = np.column_stack([np.ones(40), *(z[:, u] for u in own.parents)])
        for row in range(40):
            rows = (y == y[row]) & (np.arange(40) != row)
            n_c = (y == y[row]).sum()
            ridge = np.diag([1e-9, *([RIDGE * n_c + 1e-9] * len(own.parents))])
            b = np.linalg.solve(terms[rows].T @ terms[rows] + ridge, terms[rows].T @ z[rows, own.feature])
            expected = t.logpdf(z[row, own.feature], own.freedom[y[row]], terms[row] @ b, own.scale[y[row]])
            assert found[row, y[row]] == pytest.approx(expected, rel=1e-8)


def test_missing_numbers_and_columns_without_any_are_the_median():
    numbers, y = sample()
    numbers[::5, 1] = np.nan
    numbers[:, 2] = np.nan

    found = ConditionalGaussian.of(numbers, y, np.ones(120), 2).log_posterior(numbers)

    assert np.isfinite(found).all()
    assert np.abs(np.exp(found).sum(axis=1) - 1).max() < 1e-12
