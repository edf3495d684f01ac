import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import exactbnc.learning.run_recipe
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.classifiers import ExactBNClassifier
from exactbnc.network.parameters import PARAMETERS
from exactbnc.network.parameters.closed_form import EAP
from exactbnc.pictures.plot import plot
from exactbnc.problem.constraints import Constraints
from exactbnc.run.solution import Status
from scorecache.domain import STRUCTURES
from scorecache.errors import ParameterError
from scorecache.scores import make_score
from tests.exactbnc.learning.classifiers.tables import numbers, posterior_by_summation, weather


@pytest.fixture(scope="module")
def table():
    return weather(120)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_classifies_by_its_network(structure, table):
    x, y = table

    model = ExactBNClassifier(structure, ess=5.0, parameters="eap").fit(x, y)

    assert model.solution_.status is Status.OPTIMAL
    assert model.solution_.gap == 0
    assert model.dag_ == model.solution_.dag == model.bayes_net_.dag
    found = model.predict_proba(x[:6])
    for row, probabilities in zip(x[:6], found, strict=True):
        known = dict(zip(("x0", "x1", "x2"), row, strict=True))
        assert probabilities == pytest.approx(posterior_by_summation(model.bayes_net_, "class", known), rel=1e-10)


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("structure", ["naive_bayes", "kdb"])
def test_probabilities_add_up_and_agree_with_their_logarithms(structure, parameters, table):
    x, y = table

    model = ExactBNClassifier(structure, parameters=parameters).fit(x, y)

    probabilities = model.predict_proba(x)
    assert np.abs(probabilities.sum(axis=1) - 1).max() < 1e-12
    with np.errstate(divide="ignore"):
        assert np.allclose(model.predict_log_proba(x), np.log(probabilities), rtol=1e-12, atol=1e-12)
    assert np.array_equal(model.predict(x), model.classes_[probabilities.argmax(axis=1)])
    assert model.score(x, y) > 0.6


def test_ties_go_to_the_first_class():
    x, y = [[0], [0], [1], [1]], ["c", "a", "c", "a"]  # the feature says nothing, the classes are equally frequent

    model = ExactBNClassifier("naive_bayes").fit(x, y)

    assert model.predict_proba([[0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[0]]).tolist() == ["a"]


def test_ess_reaches_score_and_parameters(table):
    x, y = table

    model = ExactBNClassifier("tan", "bdeu", ess=3.0, parameters="eap").fit(x, y)
    by_hand = ExactBNClassifier("tan", make_score("bdeu", ess=3.0), parameters=EAP(ess=3.0), ess=9.0).fit(x, y)

    assert model.solution_.score == by_hand.solution_.score
    assert np.array_equal(model.predict_proba(x), by_hand.predict_proba(x))
    assert not np.array_equal(
        model.predict_proba(x), ExactBNClassifier("tan", ess=9.0, parameters="eap").fit(x, y).predict_proba(x)
    )


def test_a_general_network_looks_at_the_markov_blanket_alone():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    near = np.where(random.random(300) < 0.9, y, 1 - y)
    far = np.where(random.random(300) < 0.9, near, 1 - near)
    x = np.column_stack([near, far])
    model = ExactBNClassifier("general", "bic").fit(x, y)
    c, (a, b) = 2, (0, 1)
    skeleton = {frozenset((u, v)) for v, parents in enumerate(model.dag_.parents) for u in parents}
    assert skeleton == {frozenset((c, a)), frozenset((a, b))}  # the chain y - near - far, without a collider

    changed = x.copy()
    changed[:, 1] = 1 - changed[:, 1]

    assert np.array_equal(model.predict_proba(x), model.predict_proba(changed))
    unknown = x.astype(float)
    unknown[:, 1] = np.nan
    assert np.allclose(model.predict_proba(unknown), model.predict_proba(x), rtol=1e-12)


def test_selection_drops_features_and_lists_the_bayes_factors(table):
    x, y = table
    frame = pd.DataFrame(x, columns=["sky", "wind", "coin"])
    frame.insert(0, "noise", np.tile(["p", "q", "q", "p"], 30))

    model = ExactBNClassifier("tan", feature_selection="bayes_factor").fit(frame, y)

    kept = model.selected_features_.tolist()
    assert "sky" in kept
    assert "noise" not in kept
    assert model.bayes_net_.names == (*kept, "class")
    assert list(model.log_bayes_factors_) == ["noise", "sky", "wind", "coin"]
    assert model.log_bayes_factors_["sky"] < 0 < model.log_bayes_factors_["noise"]
    alone = ExactBNClassifier("tan").fit(frame[kept], y)
    assert np.array_equal(model.predict_proba(frame), alone.predict_proba(frame[kept]))


def test_without_selection_all_features_are_kept(table):
    model = ExactBNClassifier("tan").fit(*table)

    assert model.selected_features_.tolist() == ["x0", "x1", "x2"]
    assert model.log_bayes_factors_ is None


@pytest.mark.parametrize("method", ["mdlp", "median", "quantile"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_numbers_are_cut_in_the_estimator(method, as_frame):
    random = np.random.default_rng(2)
    y = np.repeat(["low", "high"], 60)
    x = np.column_stack([random.normal(size=120) + 4 * (y == "high"), random.normal(size=120)])
    asked = np.array([[-1e9, 0.0], [1e9, np.nan], [np.nan, np.nan]])
    if as_frame:
        x = pd.DataFrame(x, columns=["u", "v"]).assign(kind=random.choice(["p", "q"], 120))
        asked = pd.DataFrame(asked, columns=["u", "v"]).assign(kind=["p", "q", None])

    model = ExactBNClassifier("tan", discretize=method).fit(x, y)

    assert set(model.discretizer_.cut_points_) == ({"u", "v"} if as_frame else {0, 1})
    found = model.predict(asked[:2] if not as_frame else asked.iloc[:2])
    assert found.tolist() == ["low", "high"]
    assert model.predict_proba(asked)[2] == pytest.approx([0.5, 0.5])
    assert len(model.bayes_net_.states[0]) == {"mdlp": 2, "median": 2, "quantile": 5}[method]


def test_missing_numbers_may_be_a_state_of_their_own():
    random = np.random.default_rng(2)
    y = np.repeat([0, 1], 40)
    x = random.normal(size=(80, 1))
    x[50:] = np.nan

    model = ExactBNClassifier("naive_bayes", discretize="median", missing="category").fit(x, y)

    assert model.bayes_net_.states[0] == (0.0, 1.0, "missing")
    assert model.predict([[np.nan]]) == [1]


@pytest.mark.parametrize("given", [{"required_arcs": [["x2", "x0"]]}, Constraints(required_arcs=(("x2", "x0"),))])
def test_constraints_hold_as_a_mapping_and_as_constraints(given, table):
    model = ExactBNClassifier(constraints=given).fit(*table)

    assert ("x2", "x0") in model.dag_.arcs


def test_constraints_may_name_the_class():
    x, y = numbers()

    model = ExactBNClassifier("general", constraints={"sinks": ["sick"]}).fit(x, pd.Series(y, name="sick"))

    assert all(parent != "sick" for parent, _ in model.dag_.arcs)


def test_constraints_that_cannot_hold_are_an_error(table):
    with pytest.raises(InfeasibleError):
        ExactBNClassifier("tan", constraints={"min_edges": 100}).fit(*table)


def test_without_any_time_the_answer_is_naive_bayes_with_a_warning(table):
    x, y = table

    with pytest.warns(ConvergenceWarning, match=r"\(time\) before the structure was proved best: it is naive Bayes"):
        model = ExactBNClassifier("anb", time_limit=1e-9).fit(x, y)

    assert model.solution_.status is Status.UNKNOWN
    assert model.solution_.gap == float("inf")
    assert np.array_equal(model.predict_proba(x), ExactBNClassifier("naive_bayes").fit(x, y).predict_proba(x))
    with pytest.raises(ParameterError, match="the time limit ended"):
        model.arc_losses()


def test_an_unfinished_search_reports_the_gap(monkeypatch, table):
    x, y = table
    solve = exactbnc.learning.run_recipe.solve

    def cut_short(problem, **settings):
        found = solve(problem, **settings)
        return replace(found, status=Status.FEASIBLE, bound=found.score + 1.5, stop_reason="time")

    monkeypatch.setattr(exactbnc.learning.run_recipe, "solve", cut_short)

    with pytest.warns(
        ConvergenceWarning, match=r"no network scores above .*\(gap 1.5, .* %\).*Raise time_limit"
    ) as message:
        model = ExactBNClassifier().fit(x, y)

    assert message[0].filename == __file__  # the warning points at the caller of fit
    assert model.solution_.gap == pytest.approx(1.5)
    assert model.predict_proba(x).shape == (120, 2)


def test_a_proved_network_warns_of_nothing(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ExactBNClassifier().fit(*table)


def test_the_limit_of_the_parents_is_reported(table):
    assert ExactBNClassifier("anb").fit(*table).max_parents_ is None
    assert ExactBNClassifier("anb", max_parents=2).fit(*table).max_parents_ == 2
    limited = ExactBNClassifier("anb", "fcll").fit(*table)  # a score that never falls when parents are added
    assert limited.max_parents_ == 3
    assert max(map(len, limited.dag_.parents)) <= 3


def test_the_solution_is_that_of_the_problem(table):
    model = ExactBNClassifier("anb").fit(*table)

    assert model.problem_.score(model.dag_) == pytest.approx(model.solution_.score, abs=1e-9)
    assert model.solution_.class_name == "class"
    assert model.solution_.stop_reason == "proved"


def test_explanations_add_up_to_the_log_odds(table):
    x, y = table
    model = ExactBNClassifier("kdb").fit(x, y)

    message = model.explain(x)

    log_p = model.predict_log_proba(x)
    assert message.classes == ("in", "out")
    assert set(message.terms) == {"class", "x0", "x1", "x2", "(unknown values)"}
    assert np.allclose(message.log_odds("in", "out").sum(axis=1), log_p[:, 0] - log_p[:, 1], rtol=1e-9)


def test_arcs_between_features_have_losses(table):
    x, y = table
    model = ExactBNClassifier("kdb", "fcll", k=1).fit(x, y)

    losses = model.arc_losses(exact=True)

    assert {(loss.parent, loss.child) for loss in losses} == {arc for arc in model.dag_.arcs if arc[0] != "class"}
    assert losses
    assert all(loss.forbidden >= 0 and loss.is_proved for loss in losses)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_plot_draws_the_names_and_gives_the_axes(pyplot, table):
    model = ExactBNClassifier("tan").fit(*table)

    axes = model.plot()

    assert {text.get_text() for text in axes.texts} >= {"x0", "x1", "x2", "class"}


def test_plot_draws_into_given_axes(pyplot, table):
    _, (left, right) = pyplot.subplots(1, 2)

    axes = ExactBNClassifier("tan").fit(*table).plot(left)

    assert axes is left
    assert left.texts
    assert not right.texts


def test_plot_writes_a_title_and_wants_a_variable(pyplot):
    axes = plot(DAG.from_arcs(("a", "b"), [("a", "b")]), title="two")

    shown = [text.get_text() for text in (*axes.texts, axes.title)]
    assert "two" in shown
    with pytest.raises(ParameterError, match="at least one variable"):
        plot(DAG((), ()))


def test_an_interrupted_search_keeps_its_best_network_and_raises(monkeypatch):
    import dataclasses

    from exactbnc.learning.em import run_with_missing
    from exactbnc.run.solution import Status

    def interrupted(*arguments, **settings):
        learned = run_with_missing(*arguments, **settings)
        solution = dataclasses.replace(learned.solution, status=Status.FEASIBLE, stop_reason="interrupted")
        return dataclasses.replace(learned, solution=solution)

    monkeypatch.setattr("exactbnc.learning.classifiers.exact.run_with_missing", interrupted)
    model = ExactBNClassifier("tan")
    x, y = weather()

    with pytest.warns(ConvergenceWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(x, y)

    assert model.predict_proba(x).shape == (len(x), len(model.classes_))


def test_a_notebook_shows_the_settings_and_then_the_network():
    x, y = weather()
    model = ExactBNClassifier(structure="tan")
    assert "ExactBNClassifier" in model._repr_html_()

    shown = model.fit(x, y)._repr_html_()

    assert "<svg" in shown
    assert "proved best" in shown


def test_the_report_is_that_of_the_network(tmp_path):
    frame = pd.DataFrame({"sky": ["sun", "rain"] * 20, "wind": ["low", "low", "high", "high"] * 10})
    frame["out"] = frame["sky"] == "sun"
    model = ExactBNClassifier(structure="tan").fit(frame[["sky", "wind"]], frame["out"])

    model.report(tmp_path / "page.html", data=frame, title="Weather")

    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Weather" in page
    assert "wind" in page
