"""A search that is stopped and resumed ends with the same optimum, and never knows less than it saved."""

import json
import math

import numpy as np
import pytest

from exactbnc.checkpoint.checkpoint import Checkpoint
from exactbnc.checkpoint.file import CheckpointError, read_checkpoint
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run import events
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.bounds.root.root import find_root
from exactbnc.solvers.solve import make_solver, solve
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from tests.exactbnc.random_problems import best_score, random_problem


class Breaker:
    """A listener that breaks the search off at the event with that number."""

    def __init__(self, at):
        self.left = at

    def on_progress(self, progress):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def on_incumbent(self, dag, score):
        self.on_progress(None)


def dense_problem(seed, n=14, per_child=60, **constraints):
    """Random families of up to three parents; larger sets score better, as in real score files."""
    rng = np.random.default_rng(seed)
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = {()}
        while len(sets) < per_child:
            sets.add(tuple(sorted(rng.choice(others, size=int(rng.integers(1, 4)), replace=False).tolist())))
        families.append([(round(-100 + 10 * len(s) ** 0.5 * rng.random(), 6), s) for s in sorted(sets)])
    return Problem(ScoreCache.from_families([f"v{i}" for i in range(n)], families), Constraints(**constraints))


def solve_in_pieces(problem, path, method, breaks):
    """Break off after the given numbers of events, then run to the end; what was known after each piece."""
    known = []
    for at in breaks:
        try:
            solution = solve(problem, solver=method, listener=Breaker(at), checkpoint=Checkpoint(path, every=0.0))
        except KeyboardInterrupt:  # before there was a network
            continue
        finally:
            saved = read_checkpoint(path, problem)
            known.append((-math.inf if saved.score is None else saved.score, saved.bound))
        assert solution.bound <= saved.bound + 1e-9
    return known, solve(problem, solver=method, checkpoint=Checkpoint(path, every=0.0))


@pytest.mark.parametrize("method", ["auto", "dp", "order", "ilp"])
def test_pieces_of_a_search_end_with_the_optimum_under_constraints(method, tmp_path, monkeypatch):
    monkeypatch.setattr(events, "SECONDS_BETWEEN", 0.0)
    n_solved = 0
    for seed in range(60):
        cache, constraints = random_problem(seed)
        try:
            problem = Problem(cache, constraints)
        except InfeasibleError:
            continue
        expected = best_score(cache, constraints)
        if expected is None or (method != "auto" and make_solver(method).refusal(problem, Limits()) is not None):
            continue
        n_solved += 1

        known, solution = solve_in_pieces(problem, tmp_path / f"{seed}.ckpt", method, [seed % 4, seed % 3 + 1])

        assert solution.status is Status.OPTIMAL
        assert solution.score == pytest.approx(expected, abs=1e-6)
        assert problem.check(solution.dag) == []
        for score, bound in known:
            assert score <= expected + 1e-6
            assert bound >= expected - 1e-6
    assert n_solved > 8


@pytest.mark.parametrize("method", ["order", "ilp"])
@pytest.mark.parametrize("constraints", [{}, {"order": [("v0", "v1")], "forbidden_arcs": [("v2", "v3")]}])
def test_pieces_of_a_longer_search_know_more_and_more(method, constraints, tmp_path, monkeypatch):
    monkeypatch.setattr(events, "SECONDS_BETWEEN", 0.0)
    problem = dense_problem(1, **constraints)
    expected = solve(problem, solver="dp").score

    known, solution = solve_in_pieces(problem, tmp_path / "run.ckpt", method, [1, 3, 2, 6])

    assert len(known) == 4
    assert [score for score, _ in known] == sorted(score for score, _ in known)
    assert [bound for _, bound in known] == sorted((bound for _, bound in known), reverse=True)
    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(expected, abs=1e-6)


def test_the_root_resumes_with_the_saved_network_cuts_and_multipliers(tmp_path, monkeypatch):
    problem, path = dense_problem(2), tmp_path / "run.ckpt"
    given, orders = [], []

    def spied(table, order, run, *, settings, report):
        given.append(report.known_cuts())
        orders.append(tuple(order.tolist()))
        return find_root(table, order, run, settings=settings, report=report)

    monkeypatch.setattr("exactbnc.solvers.order.solver.find_root", spied)
    first = solve(problem, solver="order", limits=Limits(nodes=1), checkpoint=path)
    saved = read_checkpoint(path, problem)
    second = solve(problem, solver="order", limits=Limits(nodes=1), checkpoint=path)

    assert first.stop_reason == second.stop_reason == "nodes"
    assert given[0] is None
    assert orders[1] == saved.dag.order
    cuts, multipliers = given[1]
    (kept,) = saved.cuts
    assert cuts.n_cuts == kept.cuts.n_cuts > 10
    np.testing.assert_array_equal(multipliers, kept.multipliers)
    assert multipliers.sum() > 0
    assert second.bound <= first.bound


def test_cuts_of_a_component_come_back_to_it(tmp_path):
    """Two dense components side by side, and what one method saved taken up by another that does not split."""
    one = dense_problem(3, n=11, per_child=40).cache
    shifted = [
        [(score, tuple(p + shift for p in parents)) for score, parents in one.families(v)]
        for shift in (0, 11)
        for v in range(11)
    ]
    problem, path = Problem(ScoreCache.from_families([f"v{i}" for i in range(22)], shifted)), tmp_path / "run.ckpt"

    solve(problem, solver="order", limits=Limits(nodes=1), checkpoint=path)
    saved = read_checkpoint(path, problem)

    assert sorted(priced.variables for priced in saved.cuts) == [tuple(range(11)), tuple(range(11, 22))]
    best = 2 * solve(dense_problem(3, n=11, per_child=40), solver="dp").score
    assert saved.bound >= best - 1e-6
    for method in ("order", "ilp"):
        going_on = tmp_path / f"{method}.ckpt"
        going_on.write_bytes(path.read_bytes())
        assert solve(problem, solver=method, checkpoint=going_on).score == pytest.approx(best, abs=1e-6)


def test_a_finished_run_answers_at_once_and_says_where_the_bound_is_from(tmp_path, monkeypatch):
    problem, path = dense_problem(4, n=9, per_child=20), tmp_path / "run.ckpt"
    first = solve(problem, solver="ilp", checkpoint=path)
    monkeypatch.setattr("exactbnc.solvers.solve.make_solver", lambda name: pytest.fail(f"{name} was asked again"))

    again = solve(problem, solver="ilp", checkpoint=path)

    assert first.statistics.bound_from is None
    assert again.statistics.bound_from == "checkpoint"
    assert (again.status, again.stop_reason, again.method) == (Status.OPTIMAL, "proved", "ilp")
    assert (again.dag, again.score, again.tolerance) == (first.dag, first.score, first.tolerance)
    assert again.trace[-1].score == first.score


def test_the_bound_of_the_file_is_kept_and_named(tmp_path):
    problem, path = dense_problem(2), tmp_path / "run.ckpt"
    first = solve(problem, solver="order", limits=Limits(nodes=1), checkpoint=path)

    second = solve(problem, solver="order", limits=Limits(seconds=0), checkpoint=path)

    assert first.status is second.status is Status.FEASIBLE
    assert second.bound == first.bound
    assert second.score == first.score
    assert second.statistics.bound_from == "checkpoint"


def test_a_run_that_goes_on_tells_the_saved_bound_and_score_from_its_first_word(tmp_path, monkeypatch):
    monkeypatch.setattr(events, "SECONDS_BETWEEN", 0.0)
    problem, path = dense_problem(2), tmp_path / "run.ckpt"
    saved = solve(problem, solver="order", limits=Limits(nodes=1), checkpoint=path)
    told = []

    class Ear:
        def on_progress(self, progress):
            told.append((progress.score, progress.bound))

        def on_incumbent(self, dag, score):
            pass

    solve(problem, solver="order", checkpoint=path, listener=Ear())

    assert told[0] == (saved.score, saved.bound)
    assert len(told) > 1
    assert all(score >= saved.score and bound <= saved.bound for score, bound in told)


def test_a_gap_that_the_file_has_reached_needs_no_search(tmp_path):
    problem, path = dense_problem(2), tmp_path / "run.ckpt"
    first = solve(problem, solver="order", limits=Limits(nodes=1), checkpoint=path)

    second = solve(problem, limits=Limits(gap=first.gap + 1.0, seconds=0), checkpoint=path)

    assert (second.status, second.stop_reason) == (Status.FEASIBLE, "gap")
    assert second.bound == first.bound


def test_the_better_start_counts(tmp_path):
    problem, path = dense_problem(6), tmp_path / "run.ckpt"
    best = solve(problem, solver="dp")
    empty = DAG.from_arcs(problem.names, [])

    poor = solve(problem, solver="dp", start=empty, limits=Limits(seconds=0), checkpoint=path)
    good = solve(problem, solver="dp", start=best.dag, limits=Limits(seconds=0), checkpoint=path)
    kept = solve(problem, solver="dp", start=empty, limits=Limits(seconds=0), checkpoint=path)

    assert poor.score == pytest.approx(problem.score(empty))
    assert good.score == kept.score == pytest.approx(best.score)


def test_a_network_above_the_saved_bound_shows_that_the_file_is_wrong(tmp_path):
    problem, path = dense_problem(7, n=9, per_child=20), tmp_path / "run.ckpt"
    empty = DAG.from_arcs(problem.names, [])
    solve(problem, solver="dp", start=empty, limits=Limits(seconds=0), checkpoint=path)
    forge(path, bound=problem.score(empty) + 0.5)

    with pytest.raises(CheckpointError, match=r"is wrong, a network scores .*: remove the file"):
        solve(problem, solver="order", checkpoint=path)


def forge(path, **changed):
    """Change keys of a checkpoint's header, or whole arrays."""
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    header.update({key: value for key, value in changed.items() if key in header})
    arrays.update({key: np.asarray(value) for key, value in changed.items() if key not in header})
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def test_a_disk_that_cannot_be_written_leaves_the_answer(tmp_path, monkeypatch):
    problem = dense_problem(8, n=9, per_child=20)

    def full(*targets):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("exactbnc.checkpoint.file.atomic_write", full)
    solution = solve(problem, solver="order", checkpoint=Checkpoint(tmp_path / "run.ckpt", every=0.0))

    assert solution.status is Status.OPTIMAL
    assert solution.statistics.checkpoint == "not written: No space left on device"


def test_an_infeasible_problem_leaves_no_checkpoint(tmp_path):
    problem, path = Problem(ScoreCache.from_families("AB", [[(-1.0, (1,))], [(-1.0, (0,))]])), tmp_path / "run.ckpt"

    assert solve(problem, solver="ilp", checkpoint=path).status is Status.INFEASIBLE
    assert not path.exists()


def test_seconds_between_checkpoints_are_not_negative():
    with pytest.raises(ParameterError, match=r"at least 0\. Got -1 instead"):
        Checkpoint("run.ckpt", every=-1)
