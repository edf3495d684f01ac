"""Rows that can be completed in too many ways keep the likeliest: what is kept, and rounds that never fall."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactbnc import A1DEClassifier, EnsembleBNClassifier, ExactBNClassifier, TBMATANClassifier, learn
from exactbnc.graph.dag import DAG
from exactbnc.learning.em import learn_completed, learn_incomplete
from exactbnc.learning.em_rounds import factors_of, incomplete
from exactbnc.learning.expected_score import expected_score
from exactbnc.learning.incomplete_data import IncompleteData
from exactbnc.learning.likely_ways import likeliest_ways, log_product
from exactbnc.learning.recipe import Recipe
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet
from scorecache.scores import BIC
from tests.exactbnc.learning.test_em import table

LIMIT = "exactbnc.learning.incomplete_data.MOST_COMPLETIONS"


def random_network(seed, n_vars=6):
    """Tables drawn at random, over states of which there are two or three."""
    random = np.random.default_rng(seed)
    arities = random.integers(2, 4, n_vars)
    order = random.permutation(n_vars)
    parents = [()] * n_vars
    for place, v in enumerate(order):
        parents[v] = tuple(sorted(int(u) for u in order[:place] if random.random() < 0.4))[:3]
    names = tuple(f"x{v}" for v in range(n_vars))
    states = tuple(tuple(range(r)) for r in arities)
    tables = tuple(random.dirichlet(np.ones(arities[v]), tuple(arities[u] for u in parents[v])) for v in range(n_vars))
    return BayesNet(DAG.of(names, parents), states, tables)


def all_ways(row, net):
    """The ways to complete one row, and the log-probabilities of the completed rows."""
    choices = [range(r) if code == UNKNOWN else [code] for code, r in zip(row, net.arities, strict=True)]
    ways = np.array(list(product(*choices)), dtype=np.uint16).T.copy()
    return ways, net.log_probability(ways)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 40))
def test_a_row_keeps_different_ways_of_its_own(seed, most):
    net, random = random_network(seed), np.random.default_rng(seed)
    codes = net.rows(net.sample(5, seed=seed)).codes.copy()
    codes[random.random(codes.shape) < 0.6] = UNKNOWN

    row, ways = likeliest_ways(codes, factors_of(net), most)

    for i in range(5):
        every, _ = all_ways(codes[:, i], net)
        own = set(map(tuple, ways[:, row == i].T.tolist()))
        assert len(own) == (row == i).sum() == min(most, every.shape[1])
        assert own <= set(map(tuple, every.T.tolist()))
    assert log_product(ways, factors_of(net)) == pytest.approx(net.log_probability(ways))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 20))
def test_where_no_child_is_observed_the_likeliest_ways_are_found(seed, most):
    """Forests: each value depends on those before it alone, so that the best so far are the best of all."""
    random = np.random.default_rng(seed)
    net = random_network(seed)
    net = BayesNet(DAG.from_arcs(net.names, []), net.states, tuple(random.dirichlet(np.ones(r)) for r in net.arities))
    codes = np.full((6, 1), UNKNOWN, dtype=np.uint16)

    _, ways = likeliest_ways(codes, factors_of(net), most)

    expected = np.sort(all_ways(codes[:, 0], net)[1])[::-1][:most]
    assert np.sort(net.log_probability(ways))[::-1] == pytest.approx(expected)


@pytest.mark.parametrize("most", [30, 150, 400])
@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
@pytest.mark.parametrize(("structure", "class_name"), [("general", None), ("tan", "x5"), ("class_minimal", "x5")])
def test_the_objective_never_falls(monkeypatch, most, score, structure, class_name):
    monkeypatch.setattr(LIMIT, most)

    found = learn_incomplete(table(1, n_vars=6, share=0.45), class_name, Recipe(structure, score, restarts=1))

    assert (np.diff(found.rounds) > -1e-7).all()
    assert 0 < found.kept.probability < 1


@pytest.mark.parametrize("most", [30, 150, 400])
def test_no_e_step_with_one_network_lowers_the_objective(monkeypatch, most):
    monkeypatch.setattr(LIMIT, most)
    dataset = table(2, n_vars=6, share=0.45)
    data = incomplete(dataset, expected_score(BIC()))
    dag = DAG.from_modelstring("[x0][x1|x0][x2|x1][x3|x2:x0][x4|x3][x5|x4]")
    net = fit_parameters(data.drawn(np.random.default_rng(0)), dag, Dirichlet(1.0))
    counts, values = data.begin(net), []

    for _ in range(12):
        _, value, counts = data.refit(counts, dag)
        values.append(value)

    assert (np.diff(values) > -1e-8).all()
    assert len(counts.expected) <= max(most, 8 * 60)
    assert counts.expected.sum() == pytest.approx(dataset.n_rows)


def test_the_last_value_bounds_the_penalised_likelihood_from_below(monkeypatch):
    dataset = table(1, n_vars=6, share=0.45)
    for most in (60, 200, 400):
        monkeypatch.setattr(LIMIT, most)

        found = learn_incomplete(dataset, None, Recipe("general", "bic", parameters="ofe"))

        net, codes = found.net, dataset.codes.copy()
        for v, states in enumerate(net.states):
            codes[v, codes[v] == len(states)] = UNKNOWN
        observed = net.log_probability(codes).sum() - 0.5 * np.log(dataset.n_rows) * net.n_parameters
        assert found.rounds[-1] < observed
        assert found.objective == "lower bound of the penalised likelihood"


def test_what_is_kept_is_said(monkeypatch):
    monkeypatch.setattr(LIMIT, 300)
    dataset = table(1, n_vars=6, share=0.45)

    learned, rows = learn_completed(dataset, None, Recipe("general"))

    data, net, kept = IncompleteData.of(dataset), learned.net, learned.kept
    assert (kept.n_ways, kept.n_rows) == (data.most, data.weights[data.wide].sum())
    completed = {tuple(row) for row in rows.codes.T.tolist()}
    shares = []
    for i in data.wide:
        ways, log_p = all_ways(data.codes[:, i], net)
        listed = [tuple(way) in completed for way in ways.T.tolist()]
        shares.append(np.exp(np.logaddexp.reduce(log_p[listed]) - np.logaddexp.reduce(log_p)))
        assert sum(listed) >= data.most
    assert kept.probability < np.average(shares, weights=data.weights[data.wide]) + 1e-9  # rows share completed ones
    assert kept.probability > 0.3
    with pytest.warns(UserWarning, match=r"rows lack so many values .* of the probability on average"):
        found = learn(dataset, missing="em").provenance["em"]
    assert found["kept"] == {"n_rows": kept.n_rows, "n_ways": kept.n_ways, "probability": kept.probability}


def test_what_is_kept_is_said_without_a_probability_that_needs_too_much_memory(monkeypatch):
    monkeypatch.setattr(LIMIT, 300)
    monkeypatch.setattr("exactbnc.network.elimination.MOST_CELLS", 0)

    found = learn_incomplete(table(1, n_vars=6, share=0.45), "x5", Recipe("tan", restarts=0))

    assert found.kept.probability is None
    assert "likeliest of its completions: the rounds" in found.warning


def test_more_room_comes_nearer_to_all_ways(monkeypatch):
    dataset, probabilities, values = table(1, n_vars=6, share=0.45), [], []
    dag = DAG.from_modelstring("[x0][x1|x0][x2|x1][x3|x2][x4|x3][x5|x4]")
    for most in (60, 300, 1500, 10**6):
        monkeypatch.setattr(LIMIT, most)
        data = incomplete(dataset, expected_score(BIC()))
        net = fit_parameters(data.drawn(np.random.default_rng(0)), dag, Dirichlet(1.0))
        counts = data.begin(net)
        values.append(data.data.expected(log_product(counts.ways.rows.codes, factors_of(net)), counts.ways)[1])
        kept = data.kept(counts, net)
        probabilities.append(1.0 if kept is None else kept.probability)

    assert values == sorted(values)
    assert probabilities[-1] == 1.0
    codes = data.data.codes
    assert values[-1] == pytest.approx(net.log_probability(codes) @ data.data.weights)


@pytest.mark.parametrize(
    "model", [TBMATANClassifier(missing="em"), A1DEClassifier(missing="em"), EnsembleBNClassifier(missing="em")]
)
def test_every_classifier_says_that_rows_keep_some_of_their_completions(monkeypatch, model):
    monkeypatch.setattr(LIMIT, 60)
    texts = np.random.default_rng(0).integers(0, 2, (40, 6)).astype(str).astype(object)
    texts[np.random.default_rng(1).random(texts.shape) < 0.45] = None

    with pytest.warns(UserWarning, match="rows lack so many values"):
        model.fit(texts, ["yes", "no"] * 20)


def test_a_row_of_which_hardly_a_value_is_known_is_learned_from(monkeypatch):
    """The number of its completions, 2**29, is beyond any table."""
    monkeypatch.setattr(LIMIT, 20_000)
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, (300, 30))
    for v in range(1, 30):
        same = random.random(300) < 0.85
        codes[same, v] = codes[same, v - 1]
    texts = codes.astype(str).astype(object)
    y = np.where(codes[:, 15], "yes", "no")
    texts[random.random(texts.shape) < 0.4] = None
    texts[0, 1:] = None

    model = ExactBNClassifier("tan", missing="em", restarts=0, parameters="eap")
    with pytest.warns(UserWarning, match="rows lack so many values"):
        model.fit(texts[:200], y[:200])

    assert (np.diff(model._learned.rounds) > -1e-6).all()
    assert model._learned.kept.probability > 0.9
    plain = ExactBNClassifier("tan", restarts=0, parameters="eap").fit(texts[:200], y[:200])
    complete = codes[200:].astype(str).astype(object)
    losses = [
        -own.predict_log_proba(complete)[np.arange(100), np.searchsorted(own.classes_, y[200:])].mean()
        for own in (model, plain)
    ]
    assert losses[0] < losses[1]
