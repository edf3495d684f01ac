import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.evaluation import Exact, cross_validate
from exactbnc.baselines.evaluation.out_of_fold import FixedStructure, predict_out_of_fold
from exactbnc.graph.dag import DAG
from exactbnc.learning.network import solution_facts
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.parameters import make_parameters
from exactbnc.report.assessment import assess, calibration_error, confusion_matrix, reliability, roc_curves
from exactbnc.report.subject import Subject
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from scorecache.errors import ParameterError
from tests.exactbnc.cli.conftest import ROOT

ASIA = ROOT / "instances" / "asia-500.csv"


@pytest.fixture(scope="module")
def asia():
    return read_csv(ASIA)


def subject_of(dataset, class_name, recipe, **provenance):
    learned = run_recipe(dataset, class_name, recipe)
    net = replace(learned.net, class_name=class_name, solution=solution_facts(learned.solution))
    stored = json.loads(json.dumps({"recipe": recipe.to_json(), **provenance}))
    return Subject("m.json", net.dag, net, class_name, dict(net.solution), provenance=stored)


def test_a_recipe_is_judged_on_the_folds_of_evaluate(asia):
    recipe = Recipe("tan", criterion="bic", parameters="dirichlet")

    found = assess(subject_of(asia, "dysp", recipe), asia, n_folds=4, seed=3)

    expected = cross_validate(asia, "dysp", [Exact(recipe)], n_folds=4, seed=3)[0]
    for name in ("accuracy", "log_loss", "brier", "auc"):
        assert found.evaluation.mean(name) == expected.mean(name)
        assert found.evaluation.spread(name) == expected.spread(name)
    assert found.evaluation.n_proved == 4
    assert found.confusion.sum() == 500
    assert np.trace(found.confusion) / 500 == pytest.approx(found.evaluation.mean("accuracy"))  # folds of equal size


def test_cuts_and_selection_of_the_recipe_are_made_in_the_folds():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    columns = {"x": y + random.normal(0, 0.7, 120), "noise": random.normal(0, 1, 120), "y": y}
    data = Dataset.from_columns(columns, max_states=1000)
    recipe = Recipe("naive_bayes")
    steps = {"discretize": "median", "keep_at_most": None, "select": False}
    from exactbnc.learning.discretize.tables import discretized, find_cut_points

    coded = discretized(data, find_cut_points(data, "y", "median"))
    subject = subject_of(coded, "y", recipe, steps=steps)

    found = assess(subject, data, n_folds=3)

    expected = cross_validate(data, "y", [Exact(recipe)], n_folds=3, discretize="median")[0]
    assert found.evaluation.mean("log_loss") == expected.mean("log_loss")
    assert "recipe" in found.notes[0]


def test_a_network_without_a_recipe_keeps_its_structure_and_the_page_says_so(asia):
    dag = DAG.from_arcs(asia.names, [("dysp", "bronc"), ("smoke", "bronc")])

    found = assess(Subject("net.json", dag, class_name="dysp"), asia, n_folds=5)

    method = FixedStructure(dag, make_parameters("eap"))
    expected = cross_validate(asia, "dysp", [method], n_folds=5)[0]
    assert found.evaluation.mean("log_loss") == expected.mean("log_loss")
    assert "optimistic" in found.notes[0]
    assert found.evaluation.n_proved == 0


def test_every_row_is_predicted_by_a_network_that_did_not_see_it(asia):
    seen = []

    class Spy:
        name = "spy"

        def fit(self, dataset, class_name):
            seen.append(dataset.n_rows)
            return FixedStructure(DAG.of(dataset.names, [[]] * dataset.n_vars), make_parameters("eap")).fit(
                dataset, class_name
            )

    message = predict_out_of_fold(asia, "dysp", Spy(), n_folds=5)

    assert seen == [400] * 5
    assert message.log_posterior.shape == (500, 2)
    assert np.exp(message.log_posterior).sum(axis=1) == pytest.approx(np.ones(500))


def test_what_cannot_be_judged_is_refused(asia):
    dag = DAG.from_arcs(asia.names, [])

    with pytest.raises(ParameterError, match="class_name"):
        assess(Subject("net.json", dag), asia)
    with pytest.raises(ParameterError, match="the data lack the columns 'more'"):
        assess(Subject("net.json", DAG.from_arcs([*asia.names, "more"], []), class_name="dysp"), asia)
    with pytest.raises(ParameterError, match="recipe"):
        assess(Subject("m", dag, class_name="dysp", provenance={"recipe": {"structure": "tan", "colour": 1}}), asia)


def test_recipes_come_back_from_json():
    recipe = Recipe("kdb", criterion="bic", parameters="elr", k=3, seed=7, time_limit=2.5)

    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))

    assert again == replace(recipe, criterion=recipe.score(), parameters=recipe.estimator())
    for wrong in ({"criterion": "bdeu"}, {"criterion": {"ess": 1.0}}, {"structure": ["tan"]}, []):
        with pytest.raises(ParameterError):
            Recipe.from_json(wrong)


@st.composite
def predictions(draw):
    s, n = draw(st.integers(2, 4)), draw(st.integers(2, 40))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    return random.dirichlet(np.ones(s), n), random.integers(0, s, n).astype(np.uint16), random.integers(1, 4, n) * 1.0


@given(predictions())
def test_counts_and_bins_hold_every_row_once(given_predictions):
    probabilities, right, weights = given_predictions

    confusion, bins = confusion_matrix(probabilities, right, weights), reliability(probabilities, right, weights)

    assert confusion.sum() == pytest.approx(weights.sum())
    for actual in range(probabilities.shape[1]):
        for said in range(probabilities.shape[1]):
            own = (right == actual) & (probabilities.argmax(axis=1) == said)
            assert confusion[actual, said] == pytest.approx(weights[own].sum())
    assert sum(each.weight for each in bins) == pytest.approx(weights.sum())
    assert [each.confidence for each in bins] == sorted(each.confidence for each in bins)
    is_two = probabilities.shape[1] == 2
    sure = probabilities[:, 1] if is_two else probabilities.max(axis=1)
    true = right == 1 if is_two else probabilities.argmax(axis=1) == right
    assert sum(each.confidence * each.weight for each in bins) == pytest.approx(sure @ weights)
    assert sum(each.share * each.weight for each in bins) == pytest.approx(true @ weights)
    assert 0 <= calibration_error(bins) <= 1


@given(predictions())
def test_the_area_under_a_curve_is_the_chance_of_the_right_order(given_predictions):
    probabilities, right, weights = given_predictions
    classes = tuple("abcd"[: probabilities.shape[1]])

    for curve in roc_curves(probabilities, right, weights, classes):
        code = classes.index(curve.label)
        pairs = [
            (weights[i] * weights[j], probabilities[i, code] > probabilities[j, code])
            for i in np.flatnonzero(right == code)
            for j in np.flatnonzero(right != code)
        ]
        total = sum(weight for weight, _ in pairs)
        assert curve.area == pytest.approx(sum(w for w, is_above in pairs if is_above) / total)
        assert curve.points[0].tolist() == [0, 0]
        assert curve.points[-1].tolist() == [1, 1]
