"""Cross-validation on several workers measures the same."""

import joblib
import pytest

from exactbnc.baselines.evaluation import Averaged, Exact, cross_validate
from exactbnc.learning.recipe import Recipe
from scorecache.data.reading import read_csv
from scorecache.errors import DataError
from tests.exactbnc.cli.conftest import ROOT

METHODS = [Exact(Recipe(structure="tan", n_jobs=1)), Averaged()]


@pytest.fixture(scope="module")
def data():
    return read_csv(ROOT / "instances" / "asia-500.csv")


def measured(data, **options):
    found = cross_validate(data, "dysp", METHODS, n_folds=3, **options)
    return [
        (evaluation.method, [(fold.accuracy, fold.log_loss, fold.brier, fold.auc) for fold in evaluation.folds])
        for evaluation in found
    ]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_any_backend_and_number_of_jobs_measures_the_same(backend, data):
    expected = measured(data)

    with joblib.parallel_config(backend):
        assert measured(data, n_jobs=2) == expected


def test_a_cluster_measures_the_same(data):
    distributed = pytest.importorskip("distributed")
    expected = measured(data)

    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        assert measured(data, client=client) == expected
        with joblib.parallel_config("dask"):
            assert measured(data) == expected


def test_the_order_in_which_fits_end_changes_nothing(data, monkeypatch):
    expected = measured(data)

    def backwards(function, keys, arguments, **_):
        yield from [(key, function(*arguments(key))) for key in keys][::-1]

    monkeypatch.setattr("exactbnc.baselines.evaluation.crossval.results_of", backwards)
    assert measured(data) == expected


def test_an_error_of_a_fit_or_a_fold_is_raised_unchanged(data, monkeypatch):
    def broken(*_, **__):
        raise DataError("no cut points")

    monkeypatch.setattr("exactbnc.baselines.evaluation.crossval.find_cut_points", broken)
    with joblib.parallel_config("threading", n_jobs=2), pytest.raises(DataError, match=r"^no cut points$"):
        measured(data, discretize="median")
