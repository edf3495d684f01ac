"""Structural EM with numbers: completed rows have the conditional moments, and rounds raise the likelihood."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactbnc import learn, load
from exactbnc.graph.dag import DAG
from exactbnc.learning.em import learn_incomplete
from exactbnc.learning.incomplete_numbers import IncompleteNumbers
from exactbnc.learning.recipe import Recipe
from exactbnc.network.codes import UNKNOWN, Rows
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import Frequencies
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED, MISSING_STATE
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.network.mixed_networks import dense, log_joint, mixed_network, random_rows

SEEDS = st.integers(0, 2**32 - 1)


def dataset_of(net, rows):
    """The rows with missing values as a table read with missing="category" has them."""
    states = tuple((*listed, MISSING_STATE) if listed else (MEASURED,) for listed in net.states)
    codes = np.where(rows.codes == UNKNOWN, [[len(listed)] for listed in net.states], rows.codes)
    measurements = {name: rows.numbers[net.index[name]] for name in net.numbers}
    return Dataset(net.names, states, codes.astype(np.uint16), None, measurements)


def frame(seed=0, n_rows=200, share=0.15):
    random = np.random.default_rng(seed)
    s = random.integers(0, 3, n_rows)
    x = s + random.normal(size=n_rows)
    y = x * (s - 1) + random.normal(size=n_rows) / 2
    whole = pd.DataFrame({"s": np.array(list("abc"))[s], "x": x, "y": y, "z": y + x + random.normal(size=n_rows)})
    holed = whole.astype({"s": object})
    for name in holed:
        holed.loc[random.random(n_rows) < share, name] = None
    return whole, holed


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, n_states=st.integers(0, 2), n_numbers=st.integers(1, 4))
def test_completed_rows_have_the_moments_of_the_dense_gaussians(seed, n_states, n_numbers):
    net = mixed_network(seed, n_states, n_numbers)
    rows = random_rows(net, 3, seed)
    rows.codes[:, 1], rows.numbers[:, 1] = net.rows(net.sample(1, seed=1)).codes[:, 0], 0.5  # a complete row
    data = IncompleteNumbers.of(dataset_of(net, rows)) if not (rows.codes == UNKNOWN).all(axis=1).any() else None
    if data is None:
        return

    completed = data.begin(net)

    numbers = np.flatnonzero(net.is_number)
    values = np.array([completed.measurements[net.names[v]] for v in numbers])
    states = [tuple(own) for own in completed.codes[~net.is_number].T.tolist()]
    first, second, counts, total = {}, {}, {}, 0.0
    for i in range(rows.n_rows):
        log_p, logs = log_joint(net, rows.codes[:, i], rows.numbers[:, i])
        total += log_p
        known = [k for k, v in enumerate(numbers) if rows.codes[v, i] != UNKNOWN]
        for configuration, _, mean, covariance in dense(net):
            if configuration not in logs:
                continue
            x = rows.numbers[numbers[known], i]
            gain = covariance[:, known] @ np.linalg.pinv(covariance[np.ix_(known, known)])
            m, spread = mean + gain @ (x - mean[known]), covariance - gain @ covariance[known]
            key = tuple(code for v, code in enumerate(configuration) if not net.is_number[v])
            p = np.exp(logs[configuration] - log_p)
            counts[key] = counts.get(key, 0.0) + p
            first[key] = first.get(key, 0.0) + p * m
            second[key] = second.get(key, 0.0) + p * (spread + np.outer(m, m))
    assert data.refit(completed, net.dag)[2].total_weight == pytest.approx(3.0)
    assert data._expected(net)[1] == pytest.approx(total, abs=1e-8)
    for key in counts:
        own = [k for k, state in enumerate(states) if state == key]
        weights = completed.weights[own]
        assert weights.sum() == pytest.approx(counts[key], abs=1e-9)
        np.testing.assert_allclose(values[:, own] @ weights, first[key], atol=1e-7)
        np.testing.assert_allclose((values[:, own] * weights) @ values[:, own].T, second[key], atol=1e-6)


@pytest.mark.parametrize("score", ["bic-cg", "aic-cg"])
@pytest.mark.parametrize(("structure", "class_name"), [("general", None), ("tan", "s"), ("anb", "s")])
def test_the_penalised_likelihood_never_falls_and_is_that_of_what_is_observed(score, structure, class_name):
    for seed in range(3):
        _, holed = frame(seed)
        data = holed.dropna(subset=["s"]) if class_name else holed

        net = learn(data, class_name, structure=structure, score=score, missing="em", parameters="ofe", restarts=1)

        rounds = net.provenance["em"]["rounds"]
        price = {"bic-cg": np.log(len(data)) / 2, "aic-cg": 1.0}[score]
        assert (np.diff(rounds) > -1e-6).all()
        assert net.status.value == "optimal"
        assert rounds[-1] == pytest.approx(net.log_likelihood(data) - price * net.n_parameters, abs=1e-3)


def test_complete_rows_give_the_best_network_at_once():
    whole, _ = frame()

    net, expected = (learn(whole, score="bic-cg", missing=missing) for missing in ("em", "error"))

    assert net.score == pytest.approx(expected.score)
    assert set(net.arcs) == set(expected.arcs)


def test_numbers_alone_are_the_maximum_that_plain_em_finds():
    """For a complete DAG EM is that of one Gaussian, written out here."""
    random = np.random.default_rng(3)
    x = random.normal(size=(120, 3)) @ random.normal(size=(3, 3))
    x[random.random(x.shape) < 0.2] = np.nan
    x = x[~np.isnan(x).all(axis=1)]
    mean, covariance = np.nanmean(x, axis=0), np.diag(np.nanvar(x, axis=0))
    for _ in range(500):
        total, products = np.zeros(3), np.zeros((3, 3))
        for row in x:
            known, lacks = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
            filled, spread = row.copy(), np.zeros((3, 3))
            gain = covariance[np.ix_(lacks, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
            filled[lacks] = mean[lacks] + gain @ (row[known] - mean[known])
            own = covariance[np.ix_(lacks, lacks)] - gain @ covariance[np.ix_(known, lacks)]
            spread[np.ix_(lacks, lacks)] = own
            total, products = total + filled, products + np.outer(filled, filled) + spread
        mean, covariance = total / len(x), products / len(x) - np.outer(total, total) / len(x) ** 2
    data = pd.DataFrame(x, columns=list("abc"))

    net = learn(data, score="ll-g", missing="em", parameters="ofe", restarts=0)

    found = net.query("a", "b", "c")
    np.testing.assert_allclose(found.mean, mean, atol=1e-3)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-2)


def test_more_is_learned_than_from_the_complete_rows_alone():
    _, holed = frame(5, n_rows=60, share=0.2)
    held_out, _ = frame(6, n_rows=4000)

    by_em, by_dropping = (learn(holed, score="bic-cg", missing=missing) for missing in ("em", "drop"))

    assert by_em.log_likelihood(held_out) > by_dropping.log_likelihood(held_out)


@pytest.mark.parametrize("target", [None, "s"])
def test_a_report_judges_the_network_on_rows_with_missing_values(target, tmp_path):
    _, holed = frame(0, n_rows=80)
    data = holed if target is None else holed.dropna(subset=["s"])
    net = learn(data, target, score="bic-cg", missing="em", restarts=0)

    net.report(tmp_path / "page.html", data=data)

    assert "cross-validation" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_rows_count_by_their_weights():
    _, holed = frame(1, n_rows=80)
    data = learn_data(holed)
    split = Dataset(data.names, data.states, data.codes, np.full(80, 2), data.measurements)
    twice = data.rows(np.tile(np.arange(80), 2))

    one, other = (learn_incomplete(own, None, Recipe("general", "bic-cg")) for own in (split, twice))

    assert one.rounds[-1] == pytest.approx(other.rounds[-1], abs=1e-4)


def learn_data(holed):
    from exactbnc.learning.preparation import Preparation, prepare
    from scorecache import make_score

    return prepare(holed, None, Preparation(None, "category"), make_score("bic-cg"), may_lack=True).dataset


def test_few_numbers_are_numbers_too_and_come_back_from_a_file(tmp_path):
    data = pd.DataFrame({"x": [0.5, None, 1.5, 2.5, 0.5, 1.5] * 6, "s": ["a", "b", None, "a", "b", "b"] * 6})

    net = learn(data, score="bic-cg", missing="em")

    net.save(tmp_path / "net.json")
    assert load(tmp_path / "net.json").numbers == ("x",)
    assert net.states_of("s") == ("a", "b")


def test_what_cannot_be_is_refused(monkeypatch):
    _, holed = frame()
    with pytest.raises(ParameterError, match=r"with numbers needs a likelihood: 'll-g', .* Got 'bge-cg' instead"):
        learn(holed, score="bge-cg", missing="em")
    with pytest.raises(DataError, match="'x' has no value"):
        learn(holed.assign(x=np.nan), score="bic-cg", missing="em", keep_at_most=0)
    with pytest.raises(DataError, match=r"column 's' must hold numbers. Got 'a', 'b', 'c' instead"):
        learn(holed, score="bic-g", missing="em")
    monkeypatch.setattr("exactbnc.learning.incomplete_numbers.MOST_COMPLETIONS", 50)
    with pytest.raises(DataError, match="completed ones, more than 50"):
        learn(holed, score="bic-cg", missing="em")


def test_the_network_of_a_round_is_that_of_maximum_likelihood():
    net = mixed_network(2, 1, 3)
    data = IncompleteNumbers.of(dataset_of(net, random_rows(net, 60, 2, missing=0.2)))
    counts = data.begin(net)

    scored, observed, completed = data.refit(counts, net.dag)

    own = fit_parameters(counts, DAG(net.names, net.dag.parents), Frequencies())
    assert scored == pytest.approx(own.log_likelihood(counts))
    assert observed == pytest.approx(own.log_probability(Rows(data.rows.codes, data.rows.numbers)).sum())
    assert completed.total_weight == pytest.approx(60)
