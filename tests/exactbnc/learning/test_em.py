"""Structural EM: expected counts, rounds that never fall, and what it finds."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from exactbnc import ExactBNClassifier, compare, instances, learn
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.em import fit_incomplete, learn_incomplete
from exactbnc.learning.expected_score import expected_score
from exactbnc.learning.incomplete_data import IncompleteData
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import plan_of
from exactbnc.learning.scored import score as score_network
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet, Frequencies
from exactbnc.network.parameters.counts import count_family
from exactbnc.problem.constraints import Constraints
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache import Dataset, StructurePrior
from scorecache.errors import ParameterError
from scorecache.scores import BD, BIC, K2, LL, BDeu


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

    counts, log_likelihood = data.expected(net.log_probability(data.ways.rows.codes))
    completed = data.completed(counts)

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


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2", "bd"])
@pytest.mark.parametrize(("structure", "class_name"), [("general", None), ("tan", "x3"), ("anb", "x3")])
def test_the_objective_never_falls(score, structure, class_name):
    for seed in range(3):
        found = learn_incomplete(table(seed, share=0.3), class_name, Recipe(structure, score, restarts=2))

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


def log_evidence(dataset, score, dag):
    """log P(observed | the network), summed over all ways to complete the rows."""
    data = IncompleteData.of(dataset)
    ways = [
        [
            way
            for way in product(*(range(len(states)) for states in data.states))
            if all(code in (UNKNOWN, value) for code, value in zip(row, way, strict=True))
        ]
        for row, weight in zip(data.codes.T, data.weights, strict=True)
        for _ in range(int(weight))
    ]
    complete = [
        score_network(dag, Dataset(data.names, data.states, np.array(rows, dtype=np.uint16).T.copy()), score).total
        for rows in product(*ways)
    ]
    return np.logaddexp.reduce(complete)


@pytest.mark.parametrize("score", [BDeu(ess=2.0), K2(), BD(alpha=0.3)])
def test_the_objective_of_marginal_likelihoods_bounds_what_is_observed_from_below(score):
    for seed in range(3):
        dataset = table(2 * seed, n_rows=20, share=0.12, n_vars=3)
        found = learn_incomplete(dataset, None, Recipe("general", score))
        exact = log_evidence(dataset, score, found.net.dag)
        assert exact - 3 < found.rounds[-1] < exact

        complete = dataset.rows(np.flatnonzero((dataset.codes < [[len(s)] for s in found.net.states]).all(axis=0)))
        bound = learn_incomplete(complete, None, Recipe("general", score))
        assert bound.rounds[-1] == pytest.approx(bound.solution.score, abs=1e-7)


@pytest.mark.parametrize("score", [BIC(), BDeu(ess=2.0), K2(), BD(alpha=0.3)])
def test_scores_of_expected_counts_lie_above_their_tangents(score):
    random = np.random.default_rng(0)
    kind = expected_score(score)
    for _ in range(200):
        shape = tuple(random.integers(2, 4, random.integers(1, 4)))
        here, there = random.exponential(4.0, (2, *shape)) * random.integers(0, 2, (2, *shape))
        tangent, other = kind.tangent(here + 1e-3), kind.tangent(there)
        own = other.intercept + other.linear(there)
        assert own >= tangent.intercept + (there * tangent.g).sum() - 1e-9


@pytest.mark.parametrize("score", [LL(), BDeu(ess=2.0), K2(), BD(alpha=0.3)])
def test_scores_of_expected_counts_are_those_of_networks(score):
    dataset = Dataset.from_columns({"x": [0, 1, 2, 1, 0, 0], "y": [0, 1, 1, 1, 0, 1], "z": [1, 1, 0, 1, 0, 0]})
    dag = DAG.from_modelstring("[x][y|x:z][z|x]")
    kind, total = expected_score(score), 0.0
    for child, parents in enumerate(dag.parents):
        counts = count_family(dataset, child, parents)
        tangent = kind.tangent(counts)
        total += tangent.intercept + tangent.linear(counts)
    assert total == pytest.approx(score_network(dag, dataset, score).total)


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


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_complete_rows_give_the_best_network_at_once(score):
    net = learn(instances.path("asia-500.csv"), score=score, missing="em")

    expected = learn(instances.path("asia-500.csv"), score=score)
    assert compare(net.dag, expected.dag).is_equivalent
    assert net.score == pytest.approx(expected.score)
    assert net.provenance["steps"]["missing"] == "em"
    assert len(net.provenance["em"]["rounds"]) == 2


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_more_is_learned_than_from_the_complete_rows_alone(score):
    frame = learn(instances.path("asia-500.csv")).sample(1500, seed=1).astype(object)
    random = np.random.default_rng(2)
    holed = frame.copy()
    for name in holed:
        holed.loc[random.random(len(holed)) < 0.25, name] = None
    held_out = learn(instances.path("asia-500.csv")).sample(3000, seed=3)

    by_em = learn(holed, score=score, missing="em")

    by_dropping = learn(holed, score=score, missing="drop")
    assert by_em.log_likelihood(held_out) > by_dropping.log_likelihood(held_out)


def test_the_states_do_not_hold_the_missing_ones():
    net = learn(table(0), score="bic", missing="em")

    assert all("missing" not in states for states in net.states)


@pytest.mark.parametrize("score", ["fnml", "bds", "bde"])
def test_scores_that_are_not_those_of_expected_counts_are_refused(score):
    with pytest.raises(ParameterError, match=rf"'ll', 'aic', 'bic', 'bdeu', 'k2', 'bd'\. Got '{score}' instead"):
        learn(table(0), score=score, missing="em")


def test_a_classifier_of_numbers_needs_a_likelihood():
    rows = np.column_stack([np.random.default_rng(0).normal(size=40), np.arange(40) % 2])
    rows[:4, 1] = np.nan

    with pytest.raises(ParameterError, match=r"with numbers needs a likelihood: .* Got 'bge-cg' instead"):
        ExactBNClassifier(numeric="gaussian", missing="em").fit(rows, ["a", "b"] * 20)


@pytest.mark.parametrize("target", [None, "x3"])
def test_the_defaults_learn_from_rows_with_missing_values(target):
    net = learn(table(0), target, missing="em")

    assert net.status.value == "optimal"
    assert net.provenance["em"]["objective"] == "lower bound of log P(data, network)"


def test_what_is_believed_of_arcs_is_part_of_the_objective():
    complete = table(0, share=0.0)
    prior = StructurePrior.of({("x0", "x1"): 0.9, ("x1", "x2"): 0.2})
    for dataset in (complete, table(0, share=0.3)):
        found = learn_incomplete(dataset, None, Recipe("general", prior=prior))

        assert (np.diff(found.rounds) > -1e-7).all()
        if dataset is complete:
            assert found.rounds[-1] == pytest.approx(found.solution.score, abs=1e-7)
            assert found.rounds[-1] != pytest.approx(learn_incomplete(complete, None, Recipe("general")).rounds[-1])


def test_a_round_cut_short_by_a_limit_does_not_end_lower(monkeypatch):
    dataset = table(2, share=0.4)
    searches = []

    def cut_short(problem, **settings):
        searches.append(problem)
        solution = solve(problem, **settings)
        if len(searches) < 2:
            return solution
        poor = DAG.from_arcs(problem.names, [])
        score = score_network(poor, problem_rows[-1], "bdeu").total
        return replace(solution, dag=poor, score=score, status=Status.FEASIBLE)

    problem_rows = []

    def planned(rows, *arguments):
        problem_rows.append(rows)
        return plan_of(rows, *arguments)

    monkeypatch.setattr("exactbnc.learning.em.solve", cut_short)
    monkeypatch.setattr("exactbnc.learning.em.plan_of", planned)

    found = learn_incomplete(dataset, None, Recipe("general", restarts=0))

    assert len(searches) == 2
    assert len(found.rounds) == 1
    assert found.net.dag.arcs


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
    with pytest.raises(ParameterError, match="a score of expected counts"):
        ExactBNClassifier("tan", "fnml", missing="em").fit(rows, y)
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
