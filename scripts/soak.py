"""Solve random problems of 26 to 45 variables, which nobody can enumerate, by every search, and see that they agree.

    python scripts/soak.py [--problems 200] [--seed 0] [--time-limit 20]

A problem is a table drawn from a random network, scored with a random score, with random constraints on families and
orders. Branch and cut, the search over orders, the same with an LP at every state, and `auto` solve it. What is proved
must be equal up to the tolerances, no network may be better than a bound, every network must keep the constraints and
have the score that is reported, and a certificate of the best one must be accepted. A problem is replayed by
`--seed NUMBER --problems 1`. The exit code is 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from exactbnc import Constraints, Limits, Problem, Solution, solve, verify
from exactbnc.errors import InfeasibleError
from exactbnc.problem.constraints import Pair
from exactbnc.proof.certify import BetterNetworkError, certify
from exactbnc.run.solution import Status
from exactbnc.solvers.order import solver as order_solver
from scorecache import Dataset, build_cache
from scorecache.scores import BIC, BDeu

FEWEST, MOST = 26, 45
"""Variables: dynamic programming ends below, and beyond too few problems are proved in time."""
ROUNDING = 1e-9
SEARCHES = {"ilp": "ilp", "order": "order", "order with LPs": "order", "auto": "auto"}


def random_table(rng: np.random.Generator, n_vars: int) -> Dataset:
    """Rows drawn from a random network whose variables have at most three parents."""
    n_rows, arities = int(rng.integers(50, 1000)), rng.integers(2, 4, size=n_vars)
    codes = np.zeros((n_rows, n_vars), dtype=np.int64)
    for v in range(n_vars):
        parents = rng.choice(v, size=min(v, int(rng.integers(0, 4))), replace=False)
        _, configuration = np.unique(codes[:, parents], axis=0, return_inverse=True)
        tables = rng.dirichlet(np.full(arities[v], 0.5), size=int(configuration.max()) + 1)
        reached = rng.random(n_rows)[:, None] > np.cumsum(tables, axis=1)[configuration.ravel()]
        codes[:, v] = np.minimum(reached.sum(axis=1), arities[v] - 1)
    order = rng.permutation(n_vars)
    names = [f"v{v}" for v in range(n_vars)]
    return Dataset.from_codes(codes[:, order].T, arities[order].tolist(), names=names)


def random_constraints(rng: np.random.Generator, names: tuple[str, ...]) -> Constraints:
    """Constraints on single families and on orders, in half of the problems."""

    def pairs(most: int) -> list[Pair]:
        drawn = [rng.choice(names, size=2, replace=False).tolist() for _ in range(int(rng.integers(0, most + 1)))]
        return [(first, second) for first, second in drawn]

    if rng.random() < 0.5:
        return Constraints()
    shuffled = rng.permutation(names).tolist()
    return Constraints(
        forbidden_arcs=pairs(4),
        required_arcs=pairs(1),
        order=pairs(2),
        tiers=[shuffled[:5], shuffled[5:12]] if rng.random() < 0.3 else (),
        edge_penalty=0.5 if rng.random() < 0.2 else 0.0,
    )


def random_problem(seed: int) -> Problem | None:
    """The problem with that number; None if its constraints contradict each other."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(FEWEST, MOST + 1)))
    score = BIC() if rng.random() < 0.5 else BDeu(ess=float(rng.choice([0.1, 1.0, 10.0])))
    constraints = random_constraints(rng, table.names)
    cache = build_cache(table, score, max_parents=int(rng.integers(2, 4)))
    try:
        return Problem(cache, constraints)
    except InfeasibleError:
        return None


@contextmanager
def lps_at_every_state() -> Iterator[None]:
    """The search over orders begins again with LPs as soon as it can."""
    with patch.multiple(order_solver, LARGE_LAYER=0, MUCH_WORK=-1.0, WORK_BEFORE_LPS=1000):
        yield


def solved(problem: Problem, name: str, seconds: float) -> Solution:
    """What one search says."""
    limits = Limits(seconds=seconds)
    if name == "order with LPs":
        with lps_at_every_state():
            return solve(problem, solver=SEARCHES[name], limits=limits)
    return solve(problem, solver=SEARCHES[name], limits=limits)


def faults_of(problem: Problem, seconds: float) -> tuple[list[str], int]:
    """What is wrong, in words, and how many of the searches proved their network."""
    found = {name: solved(problem, name, seconds) for name in SEARCHES}
    proved = {name: solution for name, solution in found.items() if solution.status is Status.OPTIMAL}
    faults = []
    networks = {name: own for name, own in found.items() if own.dag is not None}
    if networks and any(own.status is Status.INFEASIBLE for own in found.values()):
        faults.append("infeasible or not: " + ", ".join(f"{name} {own.status}" for name, own in found.items()))
    best = max((own.score for own in networks.values()), default=-np.inf)
    for name, own in networks.items():
        if broken := problem.check(own.dag):
            faults.append(f"{name}: the network breaks {broken}")
        if abs(problem.score(own.dag) - own.score) > ROUNDING * abs(own.score):
            faults.append(f"{name}: the score {own.score} is not the network's")
        slack = own.tolerance + ROUNDING * abs(best)
        if best > own.bound + slack or (name in proved and best > own.score + slack):
            faults.append(f"{name}: {own.status} {own.score} with bound {own.bound}, and there is {best}")
    if proved:
        faults += certificate_faults(problem, max(proved.values(), key=lambda own: own.score), seconds)
    return faults, len(proved)


def certificate_faults(problem: Problem, solution: Solution, seconds: float) -> list[str]:
    """Does the checker accept the proof? There may be none: the limit, or too long."""
    try:
        certificate = certify(problem, solution.dag, limits=Limits(seconds=seconds))
    except BetterNetworkError as better:
        gain = problem.score(better.dag) - solution.score
        return [] if gain <= solution.tolerance + ROUNDING else [f"the certificate's search: {better}"]
    if certificate is None:
        return []
    verified = verify(problem, solution.dag, certificate)
    slack = solution.tolerance + ROUNDING * abs(solution.score)
    return (
        [] if abs(float(verified.bound) - solution.score) <= slack else [f"verified {verified.bound}: {solution.score}"]
    )


def run(numbers: range, seconds: float) -> int:
    """Report the faults; returns how many there are."""
    n_faults = n_proved = n_solved = 0
    begun = time.process_time()
    for number in numbers:
        problem = random_problem(number)
        if problem is None:
            continue
        faults, proved = faults_of(problem, seconds)
        n_faults, n_proved, n_solved = n_faults + len(faults), n_proved + proved, n_solved + 1
        for fault in faults:
            print(f"--seed {number} --problems 1: {fault}", flush=True)
    share = f"{n_proved} of {n_solved * len(SEARCHES)} solutions proved"
    print(f"{n_solved} problems, {share}, {n_faults} faults, {time.process_time() - begun:,.0f} s of CPU", flush=True)
    return n_faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first problem")
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="SECONDS", help="for each search")
    options = parser.parse_args()
    sys.exit(int(run(range(options.seed, options.seed + options.problems), options.time_limit) > 0))
