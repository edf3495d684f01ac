"""Structural EM: expected counts, rounds that never fall, and what it finds."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from exactbnc import ExactBNClassifier, compare, instances, learn
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.em import IncompleteData, fit_incomplete, learn_incomplete
from exactbnc.learning.recipe import Recipe
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet, Frequencies
from exactbnc.problem.constraints import Constraints
from scorecache import Dataset
from scorecache.errors import DataError, ParameterError


def table(seed, n_rows=60, share=0.2, n_vars=4):
    """Columns that follow each other, with values missing at random but in the last one."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2 + seed % 2, (n_rows, n_vars))
    for v in range(1, n_vars):
        same = random.random(n_rows) < 0.7
        codes[same, v] = codes[same, v - 1]
    texts = codes.astype(str).astype(object)
    lacks = random.random(codes.shape) < share
    lacks[:, -1] = False
    texts[lacks] = None
    return Dataset.from_columns({f"x{v}": texts[:, v].tolist() for v in range(n_vars)}, missing="category")


def test_a_completed_row_counts_by_its_probability_given_what_is_observed():
    data = IncompleteData.of(table(0, n_rows=30))
    random = np.random.default_rng(1)
    net = fit_parameters(data.drawn(random), DAG.from_modelstring("[x0][x1|x0][x2|x0:x1][x3|x2]"), Dirichlet(0.5))

    completed, log_likelihood = data.completed(net)

    expected, total = {}, 0.0
    for row, weight in zip(data.codes.T, data.weights, strict=True):
        ways = [
            range(len(states)) if code == UNKNOWN else [code] for code, states in zip(row, data.states, strict=True)
        ]
        joint = {
            way: np.exp(net.log_probability(np.array([way], dtype=np.uint16).T.copy()))[0] for way in product(*ways)
        }
        total += weight * np.log(sum(joint.values()))
        for way, p in joint.items():
            expected[way] = expected.get(way, 0.0) + weight * p / sum(joint.values())
    found = {tuple(row): weight for row, weight in zip(completed.codes.T.tolist(), completed.weights, strict=True)}
    assert found == pytest.approx({tuple(map(int, way)): weight for way, weight in expected.items()})
    assert log_likelihood == pytest.approx(total)


@pytest.mark.parametrize("score", ["bic", "aic"])
@pytest.mark.parametrize(("structure", "class_name"), [("general", None), ("tan", "x3"), ("anb", "x3")])
def test_the_penalised_likelihood_never_falls(score, structure, class_name):
    for seed in range(3):
        found = learn_incomplete(table(seed), class_name, Recipe(structure, score, restarts=2))

        trace = np.array(found.rounds)
        assert (np.diff(trace) > -1e-7).all()
        assert found.solution.status.value == "optimal"


def test_the_last_value_is_the_penalised_likelihood_of_what_is_observed():
    dataset = table(1)
    found = learn_incomplete(dataset, None, Recipe(structure="general", criterion="bic", parameters="ofe"))

    net = found.net
    codes = dataset.codes.copy()
    for v, states in enumerate(dataset.states):
        codes[v, codes[v] == len(net.states[v])] = UNKNOWN if len(states) > len(net.states[v]) else codes.max()
    observed = net.log_probability(codes).sum()
    penalty = 0.5 * np.log(dataset.n_rows) * net.n_parameters
    assert found.rounds[-1] == pytest.approx(observed - penalty, abs=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_rows_count_by_their_weights(share):
    dataset = table(1)
    weights = np.repeat([share, 2 - share], dataset.n_rows)  # every row twice, two in all
    split = replace(dataset, codes=np.tile(dataset.codes, 2), weights=weights)
    twice = replace(dataset, weights=np.full(dataset.n_rows, 2))
    recipe = Recipe("general", "bic", max_parents=2, parameters="eap")

    one, other = (learn_incomplete(rows, None, recipe) for rows in (split, twice))

    assert one.rounds == pytest.approx(other.rounds, abs=1e-6)
    assert compare(one.net.dag, other.net.dag).is_equivalent


def test_complete_rows_give_the_best_network_at_once():
    net = learn(instances.path("asia-500.csv"), score="bic", missing="em")

    expected = learn(instances.path("asia-500.csv"), score="bic")
    assert compare(net.dag, expected.dag).is_equivalent
    assert net.score == pytest.approx(expected.score)
    assert net.provenance["steps"]["missing"] == "em"
    assert len(net.provenance["em"]["penalised_likelihoods"]) == 2


def test_more_is_learned_than_from_the_complete_rows_alone():
    frame = learn(instances.path("asia-500.csv")).sample(1500, seed=1).astype(object)
    random = np.random.default_rng(2)
    holed = frame.copy()
    for name in holed:
        holed.loc[random.random(len(holed)) < 0.25, name] = None
    held_out = learn(instances.path("asia-500.csv")).sample(3000, seed=3)

    by_em = learn(holed, score="bic", missing="em")

    by_dropping = learn(holed, score="bic", missing="drop")
    assert by_em.log_likelihood(held_out) > by_dropping.log_likelihood(held_out)


def test_the_states_do_not_hold_the_missing_ones():
    net = learn(table(0), score="bic", missing="em")

    assert all("missing" not in states for states in net.states)


def test_other_scores_are_refused():
    with pytest.raises(ParameterError, match=r"a penalised likelihood as the score: 'aic', 'bic', 'll'\. Got 'bdeu'"):
        learn(table(0), missing="em")


def test_a_class_minimal_network_is_refused():
    with pytest.raises(ParameterError, match="needs the best score"):
        learn(table(0), "x0", score="bic", missing="em", structure="class-minimal")


def test_too_many_ways_to_complete_the_rows_are_refused(monkeypatch):
    monkeypatch.setattr("exactbnc.learning.em.MOST_COMPLETIONS", 50)

    with pytest.raises(DataError, match="missing='category'"):
        learn(table(0), score="bic", missing="em")


def test_more_restarts_are_never_worse():
    dataset = table(2, share=0.4)
    best = [learn_incomplete(dataset, None, Recipe("general", "bic", restarts=n)).rounds[-1] for n in (0, 1, 4)]

    assert best == sorted(best)


def test_a_fixed_network_gets_the_tables_of_the_highest_likelihood():
    """x is missing where y is b in half of the rows: the shares of x given y come from the others."""
    dataset = Dataset.from_columns(
        {"x": ["u", "v"] * 10 + ["u", "u", "u", "v", None, None, None, None], "y": ["a"] * 20 + ["b"] * 8},
        missing="category",
    )

    net = fit_incomplete(dataset, DAG.from_modelstring("[x|y][y]"), Frequencies())

    assert net.tables[0].tolist() == [pytest.approx([0.5, 0.5]), pytest.approx([0.75, 0.25], abs=2e-3)]


def test_constraints_that_contradict_each_other_are_infeasible():
    constraints = Constraints(required_arcs=[("x0", "x1")], max_parents_of={"x1": 0})

    with pytest.raises(InfeasibleError):
        learn(table(0), score="bic", missing="em", constraints=constraints)


def rows_and_class(dataset):
    """The columns of features with None for missing values, and the last column."""
    frame = dataset.to_pandas().astype(object)
    rows = frame.drop(columns="x3")
    return rows.where(rows != "missing", None), frame["x3"]


@pytest.mark.parametrize("structure", ["tan", "naive_bayes", "anb"])
def test_the_classifier_sums_missing_values_out_in_training_and_prediction(structure):
    dataset = table(3, n_rows=120)
    rows, y = rows_and_class(dataset)

    model = ExactBNClassifier(structure, "bic", missing="em", parameters="eap", allow_identifiers=True)
    model.fit(rows, y)

    net = learn(dataset, "x3", structure=structure, score="bic", missing="em", parameters="eap")
    assert model.solution_.status.value == "optimal"
    assert all("missing" not in states for states in model.network_.states)
    assert model.predict_proba(rows) == pytest.approx(net.predict_proba(rows).to_numpy(), abs=1e-12)
    assert model.predict_proba([[None, None, None], ["0", None, None]])[0].sum() == pytest.approx(1)
    assert model.feature_importances_.shape == (3,)


def test_the_classifier_fits_tables_alone_where_values_are_missing():
    rows, y = rows_and_class(table(3, n_rows=120))

    model = ExactBNClassifier("tan", "bic", missing="em").fit(rows, y)

    assert model.bayes_net_.class_fit is None
    with pytest.raises(ParameterError, match="as the score"):
        ExactBNClassifier("tan", missing="em").fit(rows, y)
    with pytest.raises(ParameterError, match="feature_selection counts complete rows"):
        ExactBNClassifier("tan", "bic", missing="em", feature_selection="bayes_factor").fit(rows, y)
    with pytest.raises(ParameterError, match="calibrate needs complete rows"):
        ExactBNClassifier("tan", "bic", missing="em", parameters="eap", calibrate=True).fit(rows, y)


def test_class_weights_change_the_tables_and_not_the_structure():
    rows, y = rows_and_class(table(3, n_rows=120))

    plain = ExactBNClassifier("tan", "bic", missing="em", parameters="ofe").fit(rows, y)
    weighted = ExactBNClassifier("tan", "bic", missing="em", parameters="ofe", class_weight="balanced").fit(rows, y)

    assert weighted.dag_ == plain.dag_
    shares = weighted.bayes_net_.tables[weighted.bayes_net_.index["x3"]]
    assert shares == pytest.approx(np.full(len(shares), 1 / len(shares)))
