"""Strengths of arcs over resamples."""

import signal
from dataclasses import replace

import joblib
import numpy as np
import pytest

from exactbnc import DAG, arc_strength, learn
from exactbnc.errors import InfeasibleError
from exactbnc.learning.strength import ArcStrength, arc_counts, resampled
from exactbnc.solvers.solve import solve
from scorecache import Dataset, Domain
from scorecache.errors import ParameterError


def chain(n_rows=80, seed=0):
    """a -> b -> c, and d by itself."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, n_rows)
    b = np.where(random.random(n_rows) < 0.9, a, 1 - a)
    c = np.where(random.random(n_rows) < 0.9, b, 1 - b)
    return Dataset.from_columns(
        {"a": a.tolist(), "b": b.tolist(), "c": c.tolist(), "d": (a * 0 + np.arange(n_rows) % 2).tolist()}
    )


@pytest.mark.parametrize("resampling", ["halves", "bootstrap"])
def test_counts_are_those_of_the_best_network_of_every_resample(resampling):
    data = chain()
    expected = np.zeros((4, 4))
    for number in range(6):
        rows = resampled(data, resampling, np.random.default_rng([3, number]))
        expected += arc_counts(learn(rows, solver="dp").dag, Domain.of(data.names))

    strength = arc_strength(data, n=6, resampling=resampling, seed=3)

    assert strength.counts == pytest.approx(expected)
    assert (strength.n, strength.n_proved) == (6, 6)
    assert strength.table.strength.max() == 1.0


def test_the_number_of_processes_changes_nothing():
    one, two = (arc_strength(chain(), n=8, seed=1, n_jobs=n_jobs) for n_jobs in (1, 2))

    assert np.array_equal(one.counts, two.counts)


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_the_backend_changes_nothing(backend):
    """That of multiprocessing, like Ray's, gives its results all at once."""
    with joblib.parallel_config(backend, n_jobs=2):
        found = arc_strength(chain(), n=4, seed=1)

    assert np.array_equal(found.counts, arc_strength(chain(), n=4, seed=1).counts)


def test_a_resample_is_not_sent_on_to_a_cluster(monkeypatch):
    monkeypatch.setattr("scorecache.scoring.run.sends_to_a_cluster", lambda: True)
    monkeypatch.setattr("scorecache.scoring.run._on_workers", lambda *_: pytest.fail("sent on"))

    assert arc_strength(chain(), n=2).n == 2


def test_halves_are_half_of_the_rows_and_keep_the_states():
    data = Dataset.from_columns({"x": ["p", "q", "p"], "y": [0, 1, 1]}, weights=[4, 1, 5], states={"x": "pqr"})
    seen = set()
    for seed in range(40):
        half = resampled(data, "halves", np.random.default_rng(seed))
        assert half.total_weight == 5
        assert half.states == data.states
        assert resampled(data, "bootstrap", np.random.default_rng(seed)).total_weight == 10
        seen.add(half.n_rows)
    assert {2, 3} <= seen


def test_an_arc_that_an_equivalent_network_turns_counts_half_each_way():
    dag = DAG.from_modelstring("[a][b|a][c][d|b:c]")

    counts = arc_counts(dag, Domain.of(dag.names))

    assert counts.tolist() == [[0, 0.5, 0, 0], [0.5, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]


def test_an_arc_that_must_not_be_turned_counts_whole():
    dag = DAG.from_modelstring("[a][b|a][c|b]")

    counts = arc_counts(dag, Domain.of(dag.names, forbidden_arcs=[("b", "a")], required_arcs=[("b", "c")]))

    assert counts.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_the_class_stays_the_parent_of_the_features():
    dag = DAG.from_modelstring("[y][a|y][b|a:y]")

    counts = arc_counts(dag, Domain.of(dag.names, "anb", class_name="y"))

    y, a, b = (dag.names.index(name) for name in "yab")
    assert counts[y, a] == counts[y, b] == 1
    assert counts[a, b] == counts[b, a] == 0.5


def test_the_threshold_minimises_the_area_between_the_distribution_and_a_level():
    random = np.random.default_rng(0)
    grid = (np.arange(4200) + 0.5) / 4200
    for _ in range(30):
        counts = np.triu(random.integers(0, 22, (6, 6)).astype(float), 1)
        strengths = np.sort(counts[np.triu_indices(6, 1)] / 21)
        distribution = np.searchsorted(strengths, grid, "right") / 15
        areas = [np.abs(distribution - level / 15).mean() for level in range(16)]
        n_below = int(np.argmin(areas))

        strength = ArcStrength(tuple("abcdef"), counts, 21, 21, "halves")

        assert strengths[strengths > strength.threshold].tolist() == strengths[n_below:].tolist()


def test_the_averaged_network_keeps_strong_pairs_and_has_no_cycle():
    counts = np.zeros((3, 3))
    counts[0, 1], counts[1, 2], counts[2, 0], counts[1, 0] = 8, 7, 6, 1
    strength = ArcStrength(("a", "b", "c"), counts, 10, 10, "halves")

    assert strength.averaged_network(threshold=0.5).arcs == (("a", "b"), ("b", "c"))
    assert strength.averaged_network(threshold=0.95).arcs == ()
    first = strength.table.iloc[0]
    assert (first["from"], first["to"], first.strength, first.direction) == ("a", "b", 0.9, pytest.approx(8 / 9))


def test_a_network_that_was_not_proved_is_reported():
    random = np.random.default_rng(2)
    columns = {f"x{v}": random.integers(0, 2, 60).tolist() for v in range(26)}
    data = Dataset.from_columns(columns)

    strength = arc_strength(data, n=2, ess=50, nodes=0, max_parents=2)

    assert strength.n_proved < 2


def test_wrong_arguments_are_refused():
    with pytest.raises(ParameterError, match="resampling must be 'halves' or 'bootstrap'"):
        arc_strength(chain(), resampling="thirds")
    with pytest.raises(ParameterError, match="n must be at least 1"):
        arc_strength(chain(), n=0)
    with pytest.raises(InfeasibleError):
        arc_strength(chain(), n=1, constraints={"min_edges": 6, "max_edges": 6, "roots": ["a", "b"]})


@pytest.mark.parametrize("where", ["between two resamples", "in a search"])
def test_ctrl_c_keeps_the_resamples_that_are_finished(where, monkeypatch):
    searches = []

    def interrupted(problem, **settings):
        searches.append(problem)
        solution = solve(problem, **settings)
        return replace(solution, stop_reason="interrupted") if len(searches) == 4 else solution

    def raise_at_three(done, _total):
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    if where == "in a search":
        monkeypatch.setattr("exactbnc.learning.strength.solve", interrupted)
    strength = arc_strength(chain(), n=8, seed=1, progress=raise_at_three if where != "in a search" else None)

    expected = arc_strength(chain(), n=3, seed=1)
    assert (strength.n, strength.n_proved, strength.is_interrupted) == (3, 3, True)
    assert np.array_equal(strength.counts, expected.counts)
    assert not expected.is_interrupted


def test_ctrl_c_before_the_first_resample_has_no_result(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("exactbnc.learning.strength.solve", stop)
    with pytest.raises(KeyboardInterrupt):
        arc_strength(chain(), n=8)
