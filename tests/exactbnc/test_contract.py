"""The solver contract: tree, dp, order, ilp, auto and enumeration agree on status and score, under every constraint."""

import itertools

import numpy as np
import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import make_solver, solve
from scorecache import ScoreCache
from tests.exactbnc.random_problems import best_score, random_problem

N_PROBLEMS, N_BATCHES, N_SHORT = 2000, 20, 4
"""Random problems, in batches; the short run takes the first few batches, the extended one all."""


def disagreements(seed):
    """What went wrong on one random problem, in words."""
    cache, constraints = random_problem(seed)
    expected = best_score(cache, constraints)
    try:
        problem = Problem(cache, constraints)
    except InfeasibleError:
        return [] if expected is None else [f"seed {seed}: called contradictory, but {expected} is possible"]
    faults = []
    for method in ("tree", "dp", "order", "ilp", "auto"):
        if method != "auto" and make_solver(method).refusal(problem, Limits()) is not None:
            continue
        solution = solve(problem, solver=method)
        if expected is None:
            if solution.status is not Status.INFEASIBLE:
                faults.append(f"seed {seed}: {method} says {solution.status} {solution.score}, none exists")
            continue
        if solution.status is not Status.OPTIMAL or abs(solution.score - expected) > 1e-9 * max(1.0, abs(expected)):
            faults.append(f"seed {seed}: {method} says {solution.status} {solution.score}, the best is {expected}")
            continue
        broken = problem.check(solution.dag)
        if broken:
            faults.append(f"seed {seed}: {method}'s network: {broken}")
        if abs(problem.score(solution.dag) - solution.score) > 1e-9:
            faults.append(f"seed {seed}: {method}'s score is not its network's")
    return faults


BATCHES = [pytest.param(b, marks=() if b < N_SHORT else pytest.mark.extended) for b in range(N_BATCHES)]


@pytest.mark.parametrize("batch", BATCHES)
def test_solvers_agree_with_enumeration(batch):
    seeds = range(batch * N_PROBLEMS // N_BATCHES, (batch + 1) * N_PROBLEMS // N_BATCHES)

    assert [fault for seed in seeds for fault in disagreements(seed)] == []


class Best:
    """The best score that a listener hears of."""

    def __init__(self):
        self.score = -np.inf

    def on_progress(self, progress):
        self.on_incumbent(None, -np.inf if progress.score is None else progress.score)

    def on_incumbent(self, dag, score):
        self.score = max(self.score, score)


def unit_problem(rng, max_parents):
    """A problem whose scores differ by a few units of 1e-8."""
    n = int(rng.integers(3, 7))
    parents = [
        [own for k in range(max_parents + 1) for own in itertools.combinations([u for u in range(n) if u != v], k)]
        for v in range(n)
    ]
    families = [[(round(-10 - 1e-8 * int(rng.integers(10)), 8), own) for own in sets] for sets in parents]
    return Problem(ScoreCache.from_families([f"v{v}" for v in range(n)], families))


@pytest.mark.parametrize("method", ["tree", "dp", "order", "ilp", "auto"])
def test_no_solver_returns_less_than_it_has_met_not_even_by_a_unit_of_a_score_file(method):
    rng = np.random.default_rng(8)
    for _ in range(20):
        problem = unit_problem(rng, max_parents=1 if method == "tree" else 2)
        best, heard = solve(problem, solver="order"), Best()

        solution = solve(problem, solver=method, start=best.dag, listener=heard)
        unaided = solve(problem, solver=method, listener=heard)

        assert solution.status is Status.OPTIMAL
        assert solution.score == pytest.approx(best.score, abs=1e-9)
        assert heard.score <= solution.score + 1e-12
        assert unaided.score >= best.score - unaided.tolerance - 1e-9
