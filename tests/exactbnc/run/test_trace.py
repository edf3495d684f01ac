from itertools import pairwise

import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run import limits
from exactbnc.run.events import Events
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.trace import MOST_ENTRIES, Trace
from exactbnc.solvers.solve import make_solver, solve
from scorecache.cache import ScoreCache
from tests.exactbnc.random_problems import random_problem

EMPTY = DAG.from_arcs("AB", [])


def is_monotone(entries):
    """Times do not go back, scores do not fall and do not vanish, bounds do not rise."""
    scores = [entry.score for entry in entries if entry.score is not None]
    return (
        all(before.seconds <= after.seconds and before.bound >= after.bound for before, after in pairwise(entries))
        and scores == sorted(scores)
        and all(entry.score is not None for entry in entries[len(entries) - len(scores) :])
    )


@pytest.mark.parametrize("method", ["auto", "tree", "dp", "order", "ilp"])
def test_every_solve_leaves_a_trace_that_ends_with_the_answer(method):
    n_solved = 0
    for seed in range(25):
        try:
            problem = Problem(*random_problem(seed))
        except InfeasibleError:
            continue
        if method != "auto" and make_solver(method).refusal(problem, Limits()) is not None:
            continue
        found = solve(problem, solver=method)
        n_solved += 1

        assert is_monotone(found.trace)
        assert (found.trace[-1].score, found.trace[-1].bound) == (found.score, found.bound)
        assert found.dag is None or any(entry.score is not None for entry in found.trace)
    assert n_solved > 3


def rings(n):
    """Two rings of n variables each, the second of which may have parents in the first."""
    families = []
    for v in range(2 * n):
        ring = range(n) if v < n else range(n, 2 * n)
        near, far = ring[(v + 1) % n], ring[(v + 2) % n]
        pairs = [(-1.0 - v / 64, tuple(sorted((near, far)))), (-2.0, (near,)), (-2.5, (far,)), (-4.0, ())]
        families.append([*pairs, *([] if v < n else [(-3.0, (v - n,))])])
    return Problem(ScoreCache.from_families([f"v{i}" for i in range(2 * n)], families))


class Heard:
    def __init__(self):
        self.progress = []
        self.incumbents = []

    def on_progress(self, progress):
        self.progress.append(progress)

    def on_incumbent(self, dag, score):
        self.incumbents.append((dag, score))


def test_bounds_of_one_component_count_the_others(monkeypatch):
    monkeypatch.setattr("exactbnc.run.events.SECONDS_BETWEEN", 0.0)
    problem, heard = rings(5), Heard()

    found = solve(problem, solver="order", listener=heard)
    without_first_network = [progress for progress in heard.progress if progress.score is None]

    assert found.statistics.n_components == 2
    assert without_first_network
    assert all(progress.bound >= found.score for progress in heard.progress)
    assert is_monotone(found.trace)
    assert found.trace[0].score is None


def test_a_large_component_is_told_as_a_whole_network_before_the_others_are_searched(monkeypatch):
    problem, start = rings(5), DAG.from_arcs([f"v{i}" for i in range(10)], [("v6", "v5")])
    n_told = {}
    for small in (25, 4):
        monkeypatch.setattr("exactbnc.solvers.split.SMALL", small)
        for given in (None, start):
            heard = Heard()
            found = solve(problem, solver="order", listener=heard, start=given)
            n_told[small, given] = len(heard.incumbents)

            assert found.dag == heard.incumbents[-1][0]
            for dag, score in heard.incumbents:
                assert problem.check(dag) == []
                assert problem.score(dag) == pytest.approx(score, abs=1e-9)
            if small == 4 and given is not None:
                assert ("v6", "v5") in heard.incumbents[0][0].arcs
    assert n_told[4, None] > n_told[25, None]


def traced(bound):
    events = Events(Clock(), bound)
    return events, Trace(events)


def test_a_bound_that_was_published_is_kept_where_the_search_forgets_it():
    events, trace = traced(-1.0)
    events.progress(None, -2.0)
    events.progress(None, -1.5)

    assert events.bound == -2.0
    assert [entry.bound for entry in trace.entries(-3.0, -2.0)] == [-2.0, -2.0]


def test_entries_are_never_better_than_the_answer():
    events, trace = traced(-1.0)
    events.incumbent(EMPTY, -4.0)
    events.progress(-4.0, -4.5)

    entries = trace.entries(-4.25, -4.25)

    assert [(entry.score, entry.bound) for entry in entries] == [(-4.25, -1.0), (-4.25, -4.25), (-4.25, -4.25)]


def test_only_better_networks_are_published():
    heard, events = Heard(), Events(Clock())
    events.subscribe(heard)
    events.resume(EMPTY, -5.0, -1.0)
    for score in (-6.0, -5.0, -4.0, -4.5, -3.0):
        events.incumbent(EMPTY, score)

    assert [score for _, score in heard.incumbents] == [-4.0, -3.0]


def test_an_interrupt_of_a_listener_reaches_the_others_and_stops_the_run():
    class Impatient(Heard):
        def on_incumbent(self, dag, score):
            raise KeyboardInterrupt

    heard, events = Heard(), Events(Clock())
    events.subscribe(Impatient(), heard)
    events.incumbent(EMPTY, -1.0)

    assert len(heard.incumbents) == 1
    assert events.clock.stop_reason() == "interrupted"


@pytest.mark.parametrize("pause", [0.0, 0.01, 7.0])
def test_a_long_trace_is_thinned_evenly(monkeypatch, pause):
    now = 0.0
    monkeypatch.setattr(limits, "work_clock", lambda: now)
    events, trace = traced(0.0)
    for step in range(5_000):
        now = step * pause
        events.progress(None, -float(step), nodes=step)

    entries = trace.entries(-5_000.0, -4_999.0)

    assert len(entries) <= MOST_ENTRIES
    assert is_monotone(entries)
    assert entries[-2].bound == -4_999.0
    if pause:
        gaps = [after.seconds - before.seconds for before, after in pairwise(entries[:-1])]
        assert len(entries) > MOST_ENTRIES / 4
        assert max(gaps) <= 3 * now / len(entries) + pause
