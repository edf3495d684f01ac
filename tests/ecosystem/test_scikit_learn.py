"""The estimators inside scikit-learn's own machinery: pipelines, searches, calibration, processes."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from exactbnc import ExactBNClassifier, SSTBMATANClassifier, TBMATANClassifier
from exactbnc.learning.discretize.registry import DISCRETIZERS, MDLPDiscretizer
from exactbnc.learning.selection import BayesFactorSelector

IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)
MIXED = IRIS.assign(petal=pd.Categorical(np.where(IRIS["petal width (cm)"] > 1.5, "broad", "narrow")))
EVERY = [
    ExactBNClassifier("kdb", criterion="bic", k=1, discretize="mdlp"),
    TBMATANClassifier(discretize="median"),
    SSTBMATANClassifier(discretize="quantile"),
    BayesFactorSelector(3.0, 1.0),
    *(kind(keep_at_most=3) for kind in DISCRETIZERS.values()),
]
each_frame = pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])


def mixed_pipeline():
    """Numbers cut, categories passed on, features selected, classified."""
    columns = ColumnTransformer(
        [("cut", MDLPDiscretizer(), make_column_selector(dtype_include=np.number))],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    return Pipeline(
        [("columns", columns), ("select", BayesFactorSelector(3.0, 1.0)), ("tan", ExactBNClassifier("tan"))]
    )


@pytest.mark.parametrize("estimator", EVERY, ids=lambda estimator: type(estimator).__name__)
def test_a_clone_has_the_settings_and_nothing_learned(estimator):
    fitted = clone(estimator).fit(IRIS.round().astype(int), SPECIES)

    copied = clone(fitted)

    assert copied.get_params() == estimator.get_params()
    assert not hasattr(copied, "n_features_in_")


def test_a_pipeline_of_ours_behind_a_column_transformer():
    model = mixed_pipeline().fit(MIXED, SPECIES)

    assert model[:-1].get_feature_names_out().tolist() == list(MIXED.columns)
    assert model["tan"].feature_names_in_.tolist() == list(MIXED.columns)
    by_hand = ExactBNClassifier("tan").fit(MDLPDiscretizer().fit_transform(MIXED, SPECIES), SPECIES)
    expected = by_hand.predict_proba(MDLPDiscretizer().fit(MIXED, SPECIES).transform(MIXED))
    assert np.array_equal(model.predict_proba(MIXED), expected)


@each_frame
def test_a_pipeline_takes_the_frame_it_is_given(as_frame):
    frame = as_frame(MIXED)

    model = make_pipeline(MDLPDiscretizer(), BayesFactorSelector(3.0, 1.0), ExactBNClassifier("tan")).fit(
        frame, SPECIES
    )

    assert np.array_equal(model.predict(frame), mixed_pipeline().fit(MIXED, SPECIES).predict(MIXED))


@each_frame
def test_a_grid_search_compares_structures(as_frame):
    frame = as_frame(IRIS)
    grid = {"structure": ["naive_bayes", "tan"], "criterion": ["bdeu", "bic"]}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    search = GridSearchCV(ExactBNClassifier(discretize="mdlp"), grid, cv=folds, scoring="neg_log_loss").fit(
        frame, SPECIES
    )

    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    naive = [
        score
        for score, given in zip(scores, search.cv_results_["params"], strict=True)
        if given["structure"] == "naive_bayes"
    ]
    assert naive[0] == naive[1]  # there is nothing to choose for the score
    assert search.best_score_ == scores.max()
    assert search.best_estimator_.structure == search.best_params_["structure"]


@each_frame
def test_calibration_wraps_a_classifier(as_frame):
    frame = as_frame(IRIS)

    model = CalibratedClassifierCV(ExactBNClassifier("tan", discretize="mdlp"), cv=3).fit(frame, SPECIES)

    assert model.predict_proba(frame).sum(axis=1) == pytest.approx(np.ones(len(IRIS)))
    assert (model.predict(frame) == SPECIES).mean() > 0.9
    assert {inner.estimator.structure for inner in model.calibrated_classifiers_} == {"tan"}


def test_predictions_out_of_fold_do_not_depend_on_the_number_of_processes():
    model = ExactBNClassifier("tan", discretize="mdlp")
    with joblib.parallel_backend("loky", inner_max_num_threads=1):
        in_two = cross_val_predict(model, IRIS, SPECIES, cv=3, n_jobs=2, method="predict_proba")

    in_one = cross_val_predict(model, IRIS, SPECIES, cv=3, method="predict_proba")

    assert np.array_equal(in_one, in_two)
    train, test = next(iter(StratifiedKFold(3).split(IRIS, SPECIES)))
    by_hand = clone(model).fit(IRIS.iloc[train], SPECIES.iloc[train]).predict_proba(IRIS.iloc[test])
    assert np.array_equal(in_one[test], by_hand)


@pytest.mark.parametrize("estimator", EVERY, ids=lambda estimator: type(estimator).__name__)
def test_a_fitted_estimator_survives_joblib(tmp_path, estimator):
    whole = IRIS.round().astype(int)
    fitted = clone(estimator).fit(whole, SPECIES)
    joblib.dump(fitted, tmp_path / "model.joblib")

    loaded = joblib.load(tmp_path / "model.joblib")

    verb = "predict_proba" if hasattr(fitted, "predict_proba") else "transform"
    assert np.array_equal(getattr(loaded, verb)(whole), getattr(fitted, verb)(whole))


def weighted_survey(n_rows=80, seed=3):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    noise = random.random((3, n_rows)) < [[0.15], [0.4], [0.5]]
    frame = pd.DataFrame({name: y ^ flips for name, flips in zip("abc", noise, strict=True)})
    return frame, y, random.integers(0, 4, n_rows)


def test_the_selector_counts_a_row_as_often_as_its_weight_says():
    frame, y, weights = weighted_survey()
    rows = np.repeat(np.arange(len(y)), weights)

    weighted = BayesFactorSelector(3.0, 1.0).fit(frame, y, sample_weight=weights)

    repeated = BayesFactorSelector(3.0, 1.0).fit(frame.iloc[rows], y[rows])
    assert weighted.log_bayes_factors_ == pytest.approx(repeated.log_bayes_factors_, rel=1e-12)
    plain = BayesFactorSelector(3.0, 1.0).fit(frame, y)
    assert weighted.log_bayes_factors_ != pytest.approx(plain.log_bayes_factors_, rel=1e-3)


@pytest.mark.parametrize("estimator", [None, ExactBNClassifier("naive_bayes")])
def test_the_settings_are_chosen_by_weighted_rows(estimator):
    """With the copies of a row in one fold, as a splitter of the repeated rows can have it, all is the same."""
    n_rows, chosen = 24, []
    halves = np.arange(n_rows // 2), np.arange(n_rows // 2, n_rows)
    for seed in range(12):
        frame, y, weights = weighted_survey(n_rows, seed)
        frame = frame.astype("category")  # every fold knows all states
        rows = np.repeat(np.arange(n_rows), weights)
        parts = np.flatnonzero(rows < n_rows // 2), np.flatnonzero(rows >= n_rows // 2)
        of_rows = BayesFactorSelector(cv=[halves, halves[::-1]], estimator=estimator)
        of_repeated = BayesFactorSelector(cv=[parts, parts[::-1]], estimator=estimator)

        weighted = clone(of_rows).fit(frame, y, sample_weight=weights)

        repeated = of_repeated.fit(frame.iloc[rows], y[rows])
        assert (weighted.ess_, weighted.threshold_) == (repeated.ess_, repeated.threshold_)
        assert weighted.support_.tolist() == repeated.support_.tolist()
        plain = of_rows.fit(frame, y)
        chosen.append((weighted.ess_, weighted.threshold_) != (plain.ess_, plain.threshold_))
    assert any(chosen)  # the weights matter


@pytest.mark.parametrize("weights", [np.zeros(80), np.full(80, 0.5), np.full(80, -1)])
def test_weights_that_count_nothing_are_refused(weights):
    frame, y, _ = weighted_survey()

    with pytest.raises(ValueError, match=r"weight"):
        BayesFactorSelector(3.0, 1.0).fit(frame, y, sample_weight=weights)


def test_weights_reach_the_selector_through_a_pipeline():
    frame, y, weights = weighted_survey()
    model = make_pipeline(BayesFactorSelector(3.0, 1.0), ExactBNClassifier("naive_bayes"))

    model.fit(frame, y, bayesfactorselector__sample_weight=weights, exactbnclassifier__sample_weight=weights)

    alone = BayesFactorSelector(3.0, 1.0).fit(frame, y, sample_weight=weights)
    assert np.array_equal(model[0].log_bayes_factors_, alone.log_bayes_factors_)
