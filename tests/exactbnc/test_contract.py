"""The solver contract: tree, dp, order, ilp, auto and enumeration agree on status and score, under every constraint."""

import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import make_solver, solve
from tests.exactbnc.random_problems import best_score, random_problem

N_PROBLEMS, N_BATCHES = 2000, 20


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


@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_solvers_agree_with_enumeration(batch):
    seeds = range(batch * N_PROBLEMS // N_BATCHES, (batch + 1) * N_PROBLEMS // N_BATCHES)

    assert [fault for seed in seeds for fault in disagreements(seed)] == []
