"""`ExactBNClassifier()` on any table: what it discretises, leaves out, weighs, and says of its features."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression

from exactbnc import load
from exactbnc.cli import main
from exactbnc.learning.classifiers import ExactBNClassifier
from exactbnc.network.codes import UNKNOWN
from scorecache.errors import DataError, ParameterError


def anything(n_rows=300, seed=0):
    """Columns of every kind; the class depends on three of them."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    height = random.normal(size=n_rows) + 1.5 * y
    mood = np.where(random.random(n_rows) < 0.7, np.where(y, "good", "bad"), "odd").astype(object)
    mood[::17] = None
    frame = pd.DataFrame(
        {
            "height": height,
            "weight": np.where(random.random(n_rows) < 0.1, np.nan, random.normal(size=n_rows)),
            "children": random.integers(0, 5, n_rows),
            "mood": mood,
            "smokes": random.random(n_rows) < 0.5,
            "town": pd.Categorical(random.choice(["a", "b"], n_rows), categories=["a", "b", "c"]),
            "row": np.arange(n_rows),
            "name": [f"n{row}" for row in range(n_rows)],
            "planet": "earth",
        }
    )
    return frame, np.where(y, "yes", "no")


@pytest.mark.parametrize("as_frame", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_any_frame_is_learned_without_an_argument(as_frame):
    frame, y = anything()

    with pytest.warns(UserWarning, match="'row' .numbers the rows., 'name' .*identifier., 'planet' .constant."):
        model = ExactBNClassifier().fit(as_frame(frame), y)

    assert set(model.left_out_) == {"row", "name", "planet"}
    assert model.bayes_net_.names == ("height", "weight", "children", "mood", "smokes", "town", "class")
    assert set(model.discretizer_.cut_points_) == {"height", "weight"}
    assert model.bayes_net_.states[1][-1] == "missing"
    assert model.bayes_net_.states[2] == (0, 1, 2, 3, 4)
    probabilities = model.predict_proba(as_frame(frame))
    assert np.abs(probabilities.sum(axis=1) - 1).max() < 1e-12
    assert model.score(as_frame(frame), y) > 0.75
    assert model.feature_importances_.shape == (9,)
    assert not model.feature_importances_[6:].any()


def test_pandas_polars_and_one_row_at_a_time_are_predicted_alike():
    frame, y = anything()
    frame = frame.drop(columns=["row", "name", "planet"])
    model = ExactBNClassifier().fit(frame, y)
    expected = model.predict_proba(frame)

    rows = np.vstack([model.predict_proba(frame.iloc[[row]]) for row in range(40)])

    assert rows == pytest.approx(expected[:40], rel=1e-12)
    assert ExactBNClassifier().fit(pl.from_pandas(frame), y).predict_proba(pl.from_pandas(frame)) == pytest.approx(
        expected, rel=1e-9
    )


def test_identifiers_are_kept_if_that_is_asked_for():
    frame, y = anything()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ExactBNClassifier("naive_bayes", allow_identifiers=True).fit(frame, y)

    assert "name" in model.bayes_net_.names


def test_a_table_of_constants_keeps_them():
    x = np.zeros((20, 2), dtype=int)

    model = ExactBNClassifier().fit(x, [0, 1] * 10)

    assert model.left_out_ == {}
    assert model.predict_proba(x[:1])[0] == pytest.approx([0.5, 0.5])


def test_few_intervals_become_five_of_equal_frequency():
    random = np.random.default_rng(0)

    model = ExactBNClassifier().fit(random.normal(size=(100, 1)), random.integers(0, 2, 100))

    assert len(model.discretizer_.cut_points_[0]) == 4


def test_rows_with_unknown_values_are_answered_by_the_network():
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]].dropna()
    y = y[frame.index]
    model = ExactBNClassifier().fit(frame, y)
    row = frame.iloc[[0]].assign(mood="never seen")
    codes = model._network_codes(model._encoded(row))
    assert codes[1, 0] == UNKNOWN

    found = model.predict_log_proba(row)[0]

    fit = model.bayes_net_.class_fit
    scaled = fit.slope * model.bayes_net_.posterior("class").log_probabilities(codes)[0] + fit.shift
    assert found == pytest.approx(scaled - np.logaddexp.reduce(scaled), rel=1e-10)


@pytest.mark.parametrize("parameters", ["auto", "dirichlet"])
def test_explanations_add_up_to_what_is_predicted(parameters):
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    model = ExactBNClassifier(parameters=parameters, calibrate=True).fit(frame, y)
    asked = pd.concat([frame.head(5), frame.head(5).assign(mood="never seen")])

    terms = model.explain(asked).log_odds("yes", "no").sum(axis=1)

    log_p = model.predict_log_proba(asked)
    assert terms == pytest.approx(log_p[:, 1] - log_p[:, 0], rel=1e-9)
    assert model.decision_function(asked) == pytest.approx(terms, rel=1e-9)


def test_calibration_changes_probabilities_and_leaves_the_tables():
    frame, y = anything()
    plain, scaled = (
        ExactBNClassifier(parameters="eap", calibrate=calibrate).fit(frame[["height", "weight", "children"]], y)
        for calibrate in (False, True)
    )

    assert plain.bayes_net_.class_fit is None
    assert scaled.bayes_net_.class_fit.weights is None
    assert all(np.array_equal(a, b) for a, b in zip(plain.bayes_net_.tables, scaled.bayes_net_.tables, strict=True))
    with pytest.raises(ParameterError, match="calibration needs parameters with a pseudo-count"):
        ExactBNClassifier(parameters="ofe", calibrate=True).fit(frame[["children"]], y)


def test_importance_is_what_the_network_loses_without_the_feature():
    frame, y = anything()
    frame = frame[["height", "children", "smokes"]]
    model = ExactBNClassifier("naive_bayes", "bdeu", parameters="eap").fit(frame, y)
    rows = np.arange(len(y))
    actual = np.searchsorted(model.classes_, y)
    net = model.bayes_net_
    codes = model._network_codes(model._encoded(frame))

    found = model.feature_importances_

    whole = net.log_posterior(codes, "class")[rows, actual].mean()
    for v in range(3):
        without = codes.copy()
        without[v] = UNKNOWN
        assert found[v] == pytest.approx(whole - net.log_posterior(without, "class")[rows, actual].mean())
    assert found[0] > 0.1 > abs(found[1])


def test_balanced_weights_lift_a_rare_class():
    random = np.random.default_rng(0)
    y = (random.random(400) < 0.1).astype(int)
    x = np.column_stack([y ^ (random.random(400) < 0.3), random.integers(0, 3, 400)])

    plain, balanced = (ExactBNClassifier(class_weight=weight).fit(x, y) for weight in (None, "balanced"))

    assert plain.predict_proba(x)[:, 1].mean() == pytest.approx(0.1, abs=0.03)
    assert balanced.predict_proba(x)[:, 1].mean() > 0.3
    assert plain.dag_ == balanced.dag_
    by_hand = ExactBNClassifier(class_weight={0: 400 / (2 * (400 - y.sum())), 1: 400 / (2 * y.sum())}).fit(x, y)
    assert by_hand.predict_proba(x) == pytest.approx(balanced.predict_proba(x), rel=1e-9)
    with pytest.raises(ParameterError, match="class_weight"):
        ExactBNClassifier(class_weight={"other": 2.0}).fit(x, y)


def test_boosting_calibration_and_stacking_take_it():
    frame, y = anything()
    frame = frame[["height", "children", "smokes"]]

    boosted = AdaBoostClassifier(ExactBNClassifier("naive_bayes"), n_estimators=3).fit(frame, y)
    calibrated = CalibratedClassifierCV(ExactBNClassifier(), cv=3).fit(frame, y, sample_weight=np.linspace(0.5, 2, 300))
    stacked = StackingClassifier(
        [("anb", ExactBNClassifier()), ("tan", ExactBNClassifier("tan"))], LogisticRegression()
    )

    for model in (boosted, calibrated, stacked.fit(frame, y)):
        assert model.score(frame, y) > 0.7


@pytest.mark.parametrize("parameters", ["auto", "eap"])
def test_the_command_line_predicts_from_the_saved_network_what_the_classifier_does(tmp_path, parameters):
    frame, y = anything()
    frame = frame[["height", "weight", "children", "mood"]]
    model = ExactBNClassifier(parameters=parameters, calibrate=True).fit(frame, y)
    model.save(tmp_path / "model.json")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    expected = model.predict_proba(frame)

    net = load(tmp_path / "model.json")

    assert net.predict_proba(frame).to_numpy() == pytest.approx(expected, rel=1e-12)
    assert net.status.value == "optimal"
    assert (
        main(["predict", str(tmp_path / "model.json"), str(tmp_path / "rows.csv"), "-o", str(tmp_path / "p.csv")]) == 0
    )
    written = pd.read_csv(tmp_path / "p.csv")
    assert written[["P(no)", "P(yes)"]].to_numpy() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("as_frame", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("nothing", [np.nan, None, pd.NaT], ids=["number", "object", "time"])
def test_a_column_without_a_value_is_left_out(nothing, as_frame):
    frame, y = anything()
    frame = as_frame(frame[["height", "mood"]].assign(empty=nothing))

    with pytest.warns(UserWarning, match="'empty' .missing everywhere."):
        model = ExactBNClassifier().fit(frame, y)

    assert model.left_out_ == {"empty": "missing everywhere"}
    with pytest.raises(DataError, match="'empty'"):
        ExactBNClassifier(missing="error").fit(frame, y)
