"""Class-minimal networks of rows with missing values: the completion first, then the search."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from exactbnc import ExactBNClassifier, compare, instances, learn
from exactbnc.learning.em import learn_completed, learn_incomplete, with_class_as_root
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.codes import UNKNOWN
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.errors import ParameterError
from tests.exactbnc.learning.test_em import rows_and_class, table


def holed_asia(n_rows, share, seed):
    """Rows drawn from a network of asia, values of all columns but the class missing at random."""
    net = learn(instances.path("asia-500.csv"))
    frame = net.sample(n_rows, seed=seed).astype(object)
    random = np.random.default_rng(seed)
    for name in frame.columns.drop("dysp"):
        frame.loc[random.random(n_rows) < share, name] = None
    return frame, net.sample(2000, seed=seed + 1).astype(object)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_the_network_is_the_class_minimal_one_for_rows_completed_by_the_best_network(score):
    for seed in range(3):
        dataset, recipe = table(seed, share=0.3), Recipe("class_minimal", score, restarts=2)

        found = learn_incomplete(dataset, "x3", recipe)

        completed = learn_completed(dataset, "x3", with_class_as_root(recipe, dataset.names, "x3"))[1]
        expected = run_recipe(completed, "x3", recipe)
        assert found.net.dag == expected.net.dag
        assert found.solution.score == pytest.approx(expected.solution.score)
        assert (found.solution.method, found.solution.status) == ("class-minimal", Status.OPTIMAL)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
def test_neither_the_rounds_of_the_completion_nor_those_after_the_search_fall(score):
    for seed in range(3):
        dataset, recipe = table(seed, share=0.3), Recipe("class_minimal", score, restarts=1)

        rounds = learn_incomplete(dataset, "x3", recipe).rounds
        free = learn_incomplete(dataset, "x3", with_class_as_root(recipe, dataset.names, "x3")).rounds

        assert (np.diff(rounds) > -1e-7).all()
        assert (np.diff(free) > -1e-7).all()
        assert rounds[0] < free[-1] + 1e-7  # the class-minimal network is one of those that the completion chose among


def test_the_last_value_is_the_penalised_likelihood_of_what_is_observed():
    dataset = table(1)

    found = learn_incomplete(dataset, "x3", Recipe("class_minimal", "bic", parameters="ofe"))

    net, codes = found.net, dataset.codes.copy()
    for v, states in enumerate(net.states):
        codes[v, codes[v] == len(states)] = UNKNOWN
    penalty = 0.5 * np.log(dataset.n_rows) * net.n_parameters
    assert found.rounds[-1] == pytest.approx(net.log_probability(codes).sum() - penalty, abs=1e-4)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_complete_rows_give_the_network_of_the_rows(score):
    asia, chosen = instances.path("asia-500.csv"), {"structure": "class-minimal", "score": score, "parameters": "eap"}

    net, expected = (learn(asia, "dysp", missing=missing, **chosen) for missing in ("em", "error"))

    assert net.dag == expected.dag
    assert net.score == pytest.approx(expected.score)
    for table_, own in zip(net.tables, expected.tables, strict=True):
        assert table_ == pytest.approx(own)


def test_the_class_is_predicted_better_than_by_the_complete_rows_alone():
    frame, held_out = holed_asia(1500, 0.2, seed=3)
    losses = {}
    for missing in ("em", "drop"):
        net = learn(frame, "dysp", structure="class-minimal", missing=missing, parameters="eap")
        p = net.predict_proba(held_out.drop(columns="dysp")).to_numpy()
        actual = [net.states_of("dysp").index(value) for value in held_out["dysp"]]
        losses[missing] = -np.log(p[np.arange(len(p)), actual]).mean()

    assert losses["em"] < losses["drop"]


def test_constraints_on_families_hold_for_both_networks():
    dataset = table(0, share=0.3)

    net = learn(dataset, "x3", structure="class-minimal", missing="em", forbidden_arcs=[("x3", "x2")], max_parents=2)

    assert ("x3", "x2") not in net.arcs
    with pytest.raises(ParameterError, match="under constraints on single families only, not chordal"):
        learn(dataset, "x3", structure="class-minimal", missing="em", constraints={"chordal": True})


def test_the_classifier_weighs_rows_and_classes():
    rows, y = rows_and_class(table(3, n_rows=120))
    weights = np.random.default_rng(0).integers(0, 4, 120)
    model = ExactBNClassifier("class-minimal", missing="em", parameters="eap")

    plain, weighted, balanced = (
        clone(model).set_params(class_weight=weight).fit(rows, y, sample_weight=own)
        for weight, own in ((None, None), (None, weights), ("balanced", None))
    )

    whole = clone(model).fit(rows.loc[np.repeat(rows.index, weights)], np.repeat(y, weights))
    assert weighted.predict_proba(rows) == pytest.approx(whole.predict_proba(rows), rel=1e-9)
    assert balanced.dag_ == plain.dag_
    shares = balanced.bayes_net_.tables[balanced.bayes_net_.index["x3"]]
    assert shares == pytest.approx(np.full(len(shares), 1 / len(shares)))
    assert weighted.predict_proba(rows) != pytest.approx(plain.predict_proba(rows), rel=1e-3)


def test_an_interruption_while_rows_are_completed_is_reported(monkeypatch):
    def interrupted(problem, **settings):
        solution = solve(problem, **settings)
        return solution if problem.is_class_minimal else replace(solution, stop_reason="interrupted")

    monkeypatch.setattr("exactbnc.learning.em.solve", interrupted)

    found = learn_incomplete(table(0), "x3", Recipe("class_minimal"))

    assert found.solution.method == "class-minimal"
    assert found.solution.stop_reason == "interrupted"


def test_the_time_limit_leaves_time_for_the_search():
    found = learn_incomplete(table(0), "x3", Recipe("class_minimal", time_limit=20.0))

    assert compare(found.net.dag, learn_incomplete(table(0), "x3", Recipe("class_minimal")).net.dag).is_equivalent


@pytest.mark.parametrize("structure", ["class-minimal", "tan"])
@pytest.mark.parametrize("parameters", ["auto", "eap", "dirichlet", "ofe", "softened", "ms", "acll", "elr", "dfe"])
def test_every_estimator_counts_rows_by_weights_that_are_no_counts(parameters, structure):
    """Every row is two, with weights that add up to its own; classes have factors, too."""
    dataset, random = table(3, n_rows=120), np.random.default_rng(0)
    weights, shares = random.random(120) + 0.1, random.random(120)
    once = replace(dataset, weights=weights)
    split = np.concatenate([weights * shares, weights * (1 - shares)])
    twice = replace(dataset, codes=np.tile(dataset.codes, 2), weights=split)
    recipe = Recipe(structure, parameters=parameters, restarts=0, max_parents=2)

    nets = [learn_incomplete(rows, "x3", recipe, class_factors=[2.5, 1.0, 1.0]).net for rows in (once, twice)]

    plain = learn_incomplete(dataset, "x3", recipe, class_factors=[2.5, 1.0, 1.0]).net
    for own, other in zip(*(net.tables for net in nets), strict=True):
        assert own == pytest.approx(other, rel=1e-4)
    v = plain.index["x3"]
    assert nets[0].tables[v] != pytest.approx(plain.tables[v], rel=1e-3)
