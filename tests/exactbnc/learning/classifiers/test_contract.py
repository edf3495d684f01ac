"""What scikit-learn expects of every classifier."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from exactbnc.learning.classifiers import (
    A1DEClassifier,
    A2DEClassifier,
    AveragedANBClassifier,
    EnsembleBNClassifier,
    ExactBNClassifier,
    SSTBMATANClassifier,
    TBMATANClassifier,
)
from exactbnc.learning.discretize import MDLPDiscretizer
from scorecache.errors import DataError
from tests.exactbnc.learning.classifiers.tables import numbers, weather

EVERY_KIND = [
    ExactBNClassifier(max_parents=2),
    ExactBNClassifier("fan"),
    ExactBNClassifier("tan", missing="category"),
    ExactBNClassifier("tan", missing="em"),
    ExactBNClassifier("class-minimal", missing="em"),
    ExactBNClassifier("naive_bayes", feature_selection="bayes_factor"),
    ExactBNClassifier("kdb", "fcll"),
    ExactBNClassifier("general", "bic", max_parents=2),
    TBMATANClassifier(),
    TBMATANClassifier(missing="em"),
    AveragedANBClassifier(n_networks=5),
    AveragedANBClassifier(n_networks=5, missing="em"),
    SSTBMATANClassifier(missing="category"),
    A1DEClassifier(),
    A1DEClassifier(missing="em"),
    A2DEClassifier(calibrate=False),
    EnsembleBNClassifier(),
    EnsembleBNClassifier(missing="em"),
]


@parametrize_with_checks(
    # Every class, and both ways of treating missing values; the other kinds differ in structure and score alone.
    [
        ExactBNClassifier(max_parents=2),
        ExactBNClassifier("tan", missing="error", parameters="eap", calibrate=True),
        TBMATANClassifier(),
        A1DEClassifier(),
        A2DEClassifier(calibrate=False),
        EnsembleBNClassifier(),
        AveragedANBClassifier(n_networks=3),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def flowers():
    """Two columns of real numbers, of which the first tells the class."""
    random = np.random.default_rng(3)
    y = np.repeat(["a", "b"], 40)
    return np.column_stack([random.normal(size=80) + 3 * (y == "b"), random.normal(size=80)]), y


@pytest.mark.parametrize("model", EVERY_KIND, ids=str)
def test_a_pickled_model_predicts_the_same(model):
    x, y = weather()
    fitted = clone(model).fit(x, y)
    expected = fitted.predict_proba(x)

    again = pickle.loads(pickle.dumps(fitted))

    assert np.array_equal(again.predict_proba(x), expected)
    assert np.array_equal(again.predict(x), fitted.predict(x))


@pytest.mark.parametrize("model", EVERY_KIND, ids=str)
def test_a_clone_has_the_parameters_and_nothing_learned(model):
    x, y = weather()
    fitted = clone(model).fit(x, y)

    copy = clone(fitted)

    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")


@pytest.mark.parametrize(("name", "other", "value"), [("criterion", "score", "bic"), ("solver", "method", "dp")])
def test_a_parameter_may_have_another_name(name, other, value):
    for model in (ExactBNClassifier(**{other: value}), ExactBNClassifier().set_params(**{other: value})):
        copy = clone(model)

        assert copy.get_params()[name] == value
        assert other not in copy.get_params()
        assert callable(copy.score)


def test_parameters_are_set_by_name():
    model = ExactBNClassifier().set_params(structure="kdb", k=1, ess=4.0)

    assert (model.get_params()["structure"], model.get_params()["k"], model.get_params()["ess"]) == ("kdb", 1, 4.0)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        model.set_params(depth=3)


def test_a_grid_search_takes_structures_and_ess():
    x, y = weather()

    search = GridSearchCV(ExactBNClassifier(), {"structure": ["naive_bayes", "tan"], "ess": [0.5, 5.0]}, cv=2)
    search.fit(x, y)

    assert set(search.cv_results_["param_structure"]) == {"naive_bayes", "tan"}
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.bayes_net_.names[-1] == "class"


def test_cross_validation_beats_guessing():
    x, y = weather(200)

    scores = cross_val_score(ExactBNClassifier("tan"), x, y, cv=4)

    assert scores.mean() > max(np.mean(y == "in"), np.mean(y == "out")) + 0.1


@pytest.mark.parametrize(
    "discretizer",
    [MDLPDiscretizer(), KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")],
    ids=["mdlp", "bins"],
)
def test_numbers_go_through_a_pipeline(discretizer):
    x, y = flowers()

    model = make_pipeline(discretizer, ExactBNClassifier("tan")).fit(x, y)

    assert model.score(x, y) > 0.8
    assert model.predict_proba(x).shape == (80, 2)


@pytest.mark.parametrize("model", EVERY_KIND, ids=str)
def test_a_row_of_weight_w_counts_as_w_rows(model):
    x, y = weather(40)
    weights = np.arange(40) % 4

    weighted = clone(model).fit(x, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))

    assert np.allclose(weighted.predict_proba(x), repeated.predict_proba(x), rtol=1e-12, atol=0)


def test_a_row_of_weight_0_declares_nothing():
    x, y = weather()
    x[0] = ["snow", "calm", "coin0"]
    y = y.astype(object)
    y[0] = "asleep"

    model = ExactBNClassifier("tan").fit(x, y, sample_weight=[0] + [1] * 79)

    assert model.classes_.tolist() == ["in", "out"]
    assert "snow" not in model.bayes_net_.states[0]


@pytest.mark.parametrize("model", [ExactBNClassifier("tan"), TBMATANClassifier()], ids=str)
def test_negative_weights_are_refused_with_the_row(model):
    x, y = weather(10)
    weights = np.ones(10)
    weights[7] = -1.0

    with pytest.raises(DataError, match=r"^row 7: .*Got -1.0 instead"):
        clone(model).fit(x, y, sample_weight=weights)


@pytest.mark.parametrize("model", EVERY_KIND, ids=str)
def test_weights_that_are_not_whole_are_relative(model):
    x, y = weather(60)
    weights = np.random.default_rng(0).random(60) + 0.01
    weights[:3] = 0

    one, other = (clone(model).fit(x, y, sample_weight=scale * weights) for scale in (1.0, 0.001))

    assert np.allclose(one.predict_proba(x), other.predict_proba(x), rtol=1e-7)
    assert not np.allclose(one.predict_proba(x), clone(model).fit(x, y).predict_proba(x), rtol=1e-3)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, -2])
def test_the_number_of_threads_does_not_matter(n_jobs):
    x, y = numbers()

    model = ExactBNClassifier(n_jobs=n_jobs).fit(x, y)

    assert model.dag_ == ExactBNClassifier().fit(x, y).dag_


@pytest.mark.parametrize("random_state", [None, 0, 7, np.int64(7), np.random.RandomState(7)], ids=str)
def test_random_states_of_every_type(random_state):
    x, y = weather()

    model = ExactBNClassifier("general", random_state=random_state).fit(x, y)

    assert model.solution_.score == ExactBNClassifier("general").fit(x, y).solution_.score


def test_verbose_talks_to_stderr_and_otherwise_nobody_does(capsys):
    x, y = weather()
    ExactBNClassifier("tan").fit(x, y)
    assert capsys.readouterr() == ("", "")

    ExactBNClassifier("tan", verbose=1).fit(x, y)

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ExactBNClassifier: 80 rows, 3 features, 2 classes\n")
    assert "optimal: score" in err
