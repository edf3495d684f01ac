"""Ray's backend of joblib: a build and a cross-validation give what they give here. Runs where Ray is installed."""

import os

import joblib
import pytest

from exactbnc import ExactBNClassifier
from scorecache import read_csv
from scorecache.scoring.build import build_cache
from scorecache.scoring.workers import results_of, sends_to_a_cluster
from tests.exactbnc.baselines.evaluation.test_parallel import measured
from tests.exactbnc.cli.conftest import ROOT
from tests.scorecache.literal import refusal
from tests.scorecache.scoring.test_build import table
from tests.scorecache.scoring.test_distributed import as_written, die_once, fail

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Two workers on this machine; they import the tests by reference."""
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
    with joblib.parallel_config("ray"):  # without n_jobs: the whole cluster
        yield
    ray.shutdown()


def where(key, dataset):
    return os.getpid(), sends_to_a_cluster(), int(dataset.codes.sum())


def test_a_build_writes_the_same_files(tmp_path):
    dataset = table(8, 200, (2, 3, 5))

    cache = build_cache(dataset, "bdeu", max_parents=3)

    local = build_cache(dataset, "bdeu", max_parents=3, distribute=False)
    assert as_written(cache, tmp_path) == as_written(local, tmp_path)


def test_tasks_run_in_the_workers_and_the_data_are_stored_once(monkeypatch):
    dataset, stored = table(5, 50), []
    put = ray.put
    monkeypatch.setattr(ray, "put", lambda value: stored.append(value) or put(value))

    done = dict(results_of(where, range(20), lambda key: (key, dataset), shared=[dataset]))

    assert len(done) == 20
    assert os.getpid() not in {process for process, _, _ in done.values()}
    assert {found[1:] for found in done.values()} == {(False, int(dataset.codes.sum()))}
    assert stored == [dataset]


def test_a_task_that_fails_raises_its_own_error():
    with refusal(ValueError, "task 0 cannot be done"):
        list(results_of(fail, [0, 1], lambda key: (key,)))


def test_tasks_that_a_worker_took_along_are_run_again(tmp_path):
    done = dict(results_of(die_once, range(6), lambda key: (key, tmp_path)))

    assert (tmp_path / "died").exists()
    assert done == {key: key * key for key in range(6)}


def test_cross_validation_measures_the_same():
    data = read_csv(ROOT / "instances" / "asia-500.csv")

    found = measured(data)

    with joblib.parallel_config("sequential"):
        assert found == measured(data)


def test_a_grid_search_of_scikit_learn_finds_the_same():
    from sklearn.model_selection import GridSearchCV

    codes = table(5, 90, (2, 3)).codes.T
    search = GridSearchCV(ExactBNClassifier(), {"structure": ["naive_bayes", "tan"]}, cv=3, n_jobs=2)

    found = search.fit(codes[:, 1:], codes[:, 0]).cv_results_["mean_test_score"]

    with joblib.parallel_config("sequential"):
        assert (found == search.fit(codes[:, 1:], codes[:, 0]).cv_results_["mean_test_score"]).all()
