"""What every baseline of the registry keeps to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from exactbnc.baselines.evaluation import cross_validate
from exactbnc.baselines.greedy import BASELINES
from scorecache.data.dataset import Dataset
from tests.strategies import datasets, examples

every_baseline = pytest.mark.parametrize("name", BASELINES)


def noisy_sum(n_rows=400):
    rng = np.random.default_rng(7)
    features = rng.integers(0, 3, (6, n_rows))
    target = (features[0] + features[1] > 2) ^ (rng.random(n_rows) < 0.1)
    return Dataset.from_codes([*features, target.astype(int)], names=[*"abcdef", "y"])


@every_baseline
@given(dataset=datasets(min_vars=3, max_vars=5))
@examples(10)
def test_a_row_of_weight_w_is_w_rows(name, dataset):
    times = np.ones(dataset.n_rows, dtype=np.int64) if dataset.weights is None else dataset.weights
    repeated = Dataset(dataset.names, dataset.states, np.ascontiguousarray(np.repeat(dataset.codes, times, axis=1)))

    found = BASELINES[name].search(dataset, dataset.names[-1])
    again = BASELINES[name].search(repeated, dataset.names[-1])

    assert found.score == pytest.approx(again.score, abs=1e-9)
    assert found.dag == again.dag


@every_baseline
def test_a_classifier_gives_log_posteriors_and_no_proof(name):
    dataset = noisy_sum()

    fitted = BASELINES[name].fit(dataset, "y")

    log_p = fitted.predict(dataset.codes)
    assert log_p.shape == (dataset.n_rows, 2)
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1, rtol=1e-12)
    assert np.mean(log_p.argmax(axis=1) == dataset.codes[-1]) > 0.6
    assert not fitted.is_proved


@every_baseline
def test_the_registry_and_the_result_use_the_same_name(name):
    method = BASELINES[name]

    assert method.name == method.search(noisy_sum(60), "y").method == name.replace("ghc2-", "ghc2 ")


@every_baseline
def test_a_time_limit_returns_what_was_found(name):
    """So little time is over before the first step is judged."""
    found = replace(BASELINES[name], time_limit=1e-9).search(noisy_sum(), "y")

    assert (found.stop_reason, found.n_moves) == ("time", 0)


def test_all_can_be_compared_with_each_other():
    evaluations = cross_validate(noisy_sum(60).columns("aby"), "y", list(BASELINES.values()), n_folds=2)

    assert [evaluation.method for evaluation in evaluations] == [method.name for method in BASELINES.values()]
