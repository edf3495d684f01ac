import numpy as np
import pytest
from scipy.optimize import minimize

from exactbnc.learning.discriminative.temperature import apply_temperature
from exactbnc.learning.ensemble.ande import AnDE
from exactbnc.learning.ensemble.gaussian import ConditionalGaussian
from exactbnc.learning.ensemble.pool import PSEUDO_COUNT, Inputs, fit_pool, mixture_weights


def case(seed=0, n_rows=200):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    numbers = random.normal(size=(n_rows, 2)) + y[:, None]
    codes = np.array([np.searchsorted([0.0, 1.0], column) for column in numbers.T], dtype=np.uint16)
    inputs = Inputs((codes,), numbers)
    arities = np.array([3, 3])
    weights = np.ones(n_rows)
    estimators = [
        ("A1DE", 0, AnDE.of(codes, y, weights, arities, 3)),
        ("Gaussian", None, ConditionalGaussian.of(numbers, y, weights, 3)),
    ]
    return estimators, inputs, y, weights


def test_the_mixture_is_the_weighted_mean_of_calibrated_members():
    estimators, inputs, y, weights = case()

    pool, _ = fit_pool(estimators, inputs, y, weights, weights, np.ones(3))

    parts = [np.exp(member.log_posterior(inputs)) for member in pool.members]
    mixture = sum(w * part for w, part in zip(pool.weights, parts, strict=True))
    assert pool.weights.sum() == pytest.approx(1)
    found = pool.log_posterior(inputs)
    assert found == pytest.approx(apply_temperature(np.log(mixture), pool.slope, pool.shift))
    assert np.abs(np.exp(found).sum(axis=1) - 1).max() < 1e-12


def test_what_is_left_out_is_less_sure_of_itself():
    estimators, inputs, y, weights = case()

    pool, left_out = fit_pool(estimators, inputs, y, weights, weights, np.ones(3))

    rows = np.arange(len(y))
    assert left_out[rows, y].mean() < pool.log_posterior(inputs)[rows, y].mean()


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_most_likely_with_their_pseudo_counts(seed):
    random = np.random.default_rng(seed)
    likelihoods, weights = random.random((80, 3)), random.random(80)

    found = mixture_weights(likelihoods, weights)

    def objective(logits):
        shares = np.exp(logits - np.logaddexp.reduce(logits))
        return -(weights @ np.log(likelihoods @ shares)) - PSEUDO_COUNT * np.log(shares).sum()

    best = minimize(objective, np.zeros(3)).x
    assert found == pytest.approx(np.exp(best - np.logaddexp.reduce(best)), abs=1e-3)


def test_members_without_weight_are_left_out():
    estimators, inputs, y, weights = case(n_rows=2000)
    shuffled = np.random.default_rng(0).permutation(y)
    useless = ("noise", 0, AnDE.of(inputs.codes[0], shuffled, weights, np.array([3, 3]), 3))

    pool, _ = fit_pool([*estimators, useless], inputs, y, weights, np.zeros(len(y)), np.ones(3))

    assert "noise" not in [member.name for member in pool.members]
    assert pool.weights.sum() == pytest.approx(1)
