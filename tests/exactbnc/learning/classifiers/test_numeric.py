"""`ExactBNClassifier` with numbers: naive Bayes is scikit-learn's, predictive distributions are ratios of evidence."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from exactbnc import ExactBNClassifier, load, score
from exactbnc.errors import NetworkFileError
from exactbnc.learning.classifiers._numeric import gains_of_numbers, quantities
from exactbnc.network.codes import Rows
from exactbnc.network.rows import table_rows
from scorecache import Dataset
from scorecache.errors import DataError, ParameterError
from scorecache.scores.gaussian import BGeCG


def mixed(n_rows=120, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    x = y + random.normal(size=n_rows)
    table = pd.DataFrame({"x": x, "z": x * (y + 1) + random.normal(size=n_rows), "k": random.integers(0, 3, n_rows)})
    return table, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("seed", range(3))
def test_naive_bayes_of_maximum_likelihood_is_that_of_scikit_learn(seed):
    random = np.random.default_rng(seed)
    table = random.normal(size=(90, 4)) * [1, 100, 0.01, 3] + [0, 1e4, 5, -2]
    y = random.integers(0, 3, 90)
    weights = random.integers(1, 4, 90)

    own = ExactBNClassifier("naive_bayes", numeric="gaussian", parameters="ofe").fit(table, y, weights)
    other = GaussianNB(priors=np.bincount(y, weights) / weights.sum(), var_smoothing=0).fit(table, y, weights)

    np.testing.assert_allclose(own.predict_log_proba(table), other.predict_log_proba(table), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("structure", ["naive_bayes", "tan", "fan", "kdb", "anb", "general"])
def test_all_structures_are_proved_and_come_back_from_their_file(structure, tmp_path):
    table, y = mixed()
    model = ExactBNClassifier(structure, numeric="gaussian").fit(table, y)

    model.save(tmp_path / "model.json")

    assert model.solution_.status.value == "optimal"
    assert model.numeric_ == {"x": "gaussian", "z": "gaussian"}
    assert model.bayes_net_.numbers == ("x", "z")
    np.testing.assert_array_equal(
        load(tmp_path / "model.json").predict_proba(table).to_numpy(), model.predict_proba(table)
    )
    assert score(model.network_, table.assign(**{model.class_name_: y}), "bge-cg").total == pytest.approx(
        model.solution_.score, rel=1e-9
    )


def test_predictions_of_complete_rows_are_ratios_of_evidence():
    """P(c | row, data) is proportional to the marginal likelihood of the data with the row and the class c."""
    table, y = mixed(60)
    model = ExactBNClassifier("tan", numeric="gaussian").fit(table.iloc[1:], y[1:])
    slope = model.bayes_net_.class_fit.slope
    others = Dataset.from_frame(table.assign(y=y)).measured(["x", "z"])
    # BGe's standardisation looks at all rows: the scale and the mean are those of the training rows in raw units
    known = others.rows(np.arange(1, 60))
    units = {n: (v.mean(), v.std()) for n, v in known.measurements.items()}

    def evidence(code):
        whole = others.codes.copy()
        whole[3, 0] = code
        numbers = {n: (v - units[n][0]) / units[n][1] for n, v in others.measurements.items()}
        data = Dataset(others.names, others.states, whole, None, numbers)
        return sum(
            value
            for name, value in score(model_dag, data, BGeCG(nu="zero", scale="raw")).by_family.items()
            if name in ("x", "z")
        )

    model_dag = [(a if a != model.class_name_ else "y", b) for a, b in model.dag_.arcs]
    logs = np.array([evidence(code) for code in range(3)])
    fit = model.bayes_net_.class_fit
    of_states = model.bayes_net_.posterior(model.class_name_)
    only_states = Rows(model._network_codes(model._encoded(table.iloc[:1])).codes.copy(), np.full((4, 1), np.nan))
    only_states.codes[:2] = 2**16 - 1
    expected = logs + of_states.log_probabilities(only_states)[0]
    expected = slope * expected + fit.shift
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(model.predict_log_proba(table.iloc[:1])[0], expected, atol=1e-8)


def test_unknown_numbers_are_integrated_out():
    table, y = mixed()
    model = ExactBNClassifier("tan", numeric="gaussian", parameters="eap").fit(table, y)
    lacking = table.head(6).copy()
    lacking.loc[::2, "x"] = np.nan

    found = model.predict_proba(lacking)

    expected = [
        model.network_.query(model.class_name_, given=row[row.notna()].to_dict()).to_numpy()
        for _, row in lacking.iterrows()
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_explanations_add_up_and_importances_exist():
    table, y = mixed()
    model = ExactBNClassifier("tan", numeric="gaussian").fit(table, y)

    found = model.explain(table.head(4))

    odds = found.log_odds("a", "b").sum(axis=1)
    log_p = model.predict_log_proba(table.head(4))
    np.testing.assert_allclose(odds, log_p[:, 0] - log_p[:, 1], atol=1e-9)
    assert model.feature_importances_.argmin() == 2


def test_auto_decides_by_what_a_column_says_of_held_out_rows():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 600)
    normal = y + random.normal(size=600)
    bent = np.where(y == 1, random.choice([-2, 2], 600), random.choice([-4, 0, 4], 600)) + random.normal(size=600) / 3
    table = pd.DataFrame({"normal": normal, "bent": bent, "lacks": np.where(random.random(600) < 0.1, np.nan, normal)})

    model = ExactBNClassifier(numeric="auto").fit(table, y)

    assert model.numeric_ == {"normal": "gaussian", "bent": "discretize", "lacks": "discretize"}
    assert model.network_.numbers == ("normal",)
    assert set(model.network_.cut_points) == {"bent", "lacks"}


def test_gains_have_the_sign_of_the_better_model():
    actual = np.repeat([0, 1], 50)
    x = np.tile(np.linspace(-1, 1, 50), 2) + 0.5 * actual
    gains = gains_of_numbers({"x": x, "nan": np.where(x > 0, x, np.nan)}, {"x": np.array([9.0])}, actual, None)

    assert gains["x"] > 0  # a single interval says nothing
    assert gains["nan"] == -np.inf


def test_quantities_are_numbers_with_fractions_or_many_values():
    table = pd.DataFrame({"f": [0.5, 1.0] * 6, "many": range(12), "few": [0, 1] * 6, "text": ["a", "b"] * 6})
    assert list(quantities(table, list(table), {})) == ["f", "many"]
    assert list(quantities(table, list(table), {"f"})) == ["many"]


def test_what_cannot_be_is_refused():
    table, y = mixed()
    with pytest.raises(ParameterError, match="'numeric' parameter"):
        ExactBNClassifier(numeric="normal").fit(table, y)
    with pytest.raises(ParameterError, match="no score of numbers and states"):
        ExactBNClassifier(numeric="gaussian", criterion="k2").fit(table, y)
    with pytest.raises(DataError, match="'x' lacks numbers in training rows"):
        ExactBNClassifier(numeric="gaussian").fit(table.assign(x=table.x.where(table.x > 0)), y)
    with pytest.raises(DataError, match="must be discretised first"):
        ExactBNClassifier(numeric="gaussian", feature_selection="bayes_factor").fit(table, y)


def test_numbers_are_not_looked_at_by_default():
    table, y = load_iris(return_X_y=True)
    assert ExactBNClassifier().fit(table, y).bayes_net_.numbers == ()


def test_rows_keep_what_the_network_needs():
    table, y = mixed(60)
    rows = table_rows(Dataset.from_frame(table.assign(y=y)).measured(["x"]))
    assert rows.numbers is not None
    assert np.isnan(rows.numbers[[1, 2, 3]]).all()


@parametrize_with_checks([ExactBNClassifier(numeric="gaussian"), ExactBNClassifier("tan", numeric="auto")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_frames_of_one_block_are_taken_as_they_are():
    table, y = load_iris(return_X_y=True, as_frame=True)
    model = ExactBNClassifier("tan", numeric="gaussian").fit(table, y)
    assert model.solution_.status.value == "optimal"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: own.update(nobody=[1.0]), "'nobody', which is not a variable"),
        (lambda own: own.update(x=[[1.0]]), "student of 'x' to be numbers in nested lists"),
        (lambda own: own.pop("x"), "'x' must have a predictive table"),
        (lambda own: own.update(x=[[-1.0, *row[1:]] for row in own["x"]]), "'x' must hold finite numbers"),
    ],
)
def test_faulty_predictive_tables_are_refused(change, message, tmp_path):
    table, y = mixed()
    path = tmp_path / "model.json"
    ExactBNClassifier("naive_bayes", numeric="gaussian").fit(table, y).save(path)
    stored = json.loads(path.read_text())
    change(stored["class_fit"]["student"])
    path.write_text(json.dumps(stored))

    with pytest.raises(NetworkFileError, match=message):
        load(path)
