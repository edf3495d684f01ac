"""The solvers and the one verb: `solve(problem)`.

Each solver says of a problem yes, or no with the reason. `auto` takes the tree solver where it fits; otherwise it
splits the problem into components where the constraints allow it, and gives each to dynamic programming if that can
afford it; if not, to the search that suits it (`search`), or to the integer program where there are global rules.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.run.trace import Recorder
from exactbnc.solvers.costs.loose import loose_bound
from exactbnc.solvers.split import solve_split
from scorecache.errors import MemoryLimitError, ParameterError

if TYPE_CHECKING:
    from exactbnc.checkpoint.checkpoint import Checkpoint

SOLVERS = {
    "tree": "exactbnc.solvers.tree.solver:TreeSolver",
    "dp": "exactbnc.solvers.dp.solver:DPSolver",
    "order": "exactbnc.solvers.order.solver:OrderSolver",
    "ilp": "exactbnc.solvers.ilp.solver:ILPSolver",
}
"""Where each solver lives; it is imported when it is asked for."""

DP_UP_TO = 25
"""Variables of a component up to which `auto` prefers dynamic programming: about two seconds and half a gigabyte."""


class Solver(Protocol):
    """One way to find a best network."""

    name: str

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why this solver cannot take the problem; None if it can."""

    def solve(
        self, problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
    ) -> Solution:
        """A best network, or the best found when a limit was reached."""


def solve(
    problem: Problem,
    *,
    method: str = "auto",
    limits: Limits | None = None,
    start: DAG | None = None,
    listener: Listener | None = None,
    seed: int = 0,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
) -> Solution:
    """A provably best network of a problem, or the best found within the limits, with its bound.

    With a checkpoint the search is saved to that file now and then, and goes on from it if it is there.
    """
    if not isinstance(problem, Problem):
        raise ParameterError(f"solve takes a Problem, such as Problem(cache). Got {type(problem).__name__} instead.")
    limits = Limits() if limits is None else limits
    start = None if start is None else problem.in_own_order(start)
    recorder = Recorder(loose_bound(problem), listener, limits.started)

    def run(start: DAG | None, heard: Listener) -> Solution:
        try:
            solution = _solve(problem, method, limits, start, heard, seed)
        except (KeyboardInterrupt, MemoryError) as stop:
            reason = "memory" if isinstance(stop, MemoryError) else "interrupted"
            if recorder.dag is None and reason == "interrupted":
                raise
            solution = _stopped(problem, method, recorder, reason)
        return _with_all_that_was_told(solution, recorder)

    if checkpoint is None:
        return run(start, recorder)
    from exactbnc.checkpoint.checkpoint import Checkpoint, go_on

    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    return go_on(checkpoint, problem, limits, start, recorder, run)


def _stopped(problem: Problem, method: str, known: Recorder, reason: str) -> Solution:
    """What is left of a search that was broken off where it could not end by itself."""
    return Solution(
        status=Status.UNKNOWN if known.dag is None else Status.FEASIBLE,
        dag=known.dag,
        score=known.score,
        bound=known.bound,
        method=method,
        stop_reason=reason,
        tolerance=0.0,
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
    )


def _with_all_that_was_told(solution: Solution, known: Recorder) -> Solution:
    """The solution with the best bound and network told on the way, which a search may forget, and the trace."""
    if solution.status in (Status.FEASIBLE, Status.UNKNOWN):
        dag, score, status = solution.dag, solution.score, solution.status
        if known.score is not None and (score is None or known.score > score):
            dag, score, status = known.dag, known.score, Status.FEASIBLE
        bound = max(-math.inf if score is None else score, min(solution.bound, known.bound))
        solution = replace(solution, status=status, dag=dag, score=score, bound=bound)
    return replace(solution, trace=known.trace(solution))


def _solve(problem: Problem, method: str, limits: Limits, start: DAG | None, listener: Listener, seed: int) -> Solution:
    if method == "auto":
        return _solve_auto(problem, limits, start, listener, seed)
    solver = make_solver(method)
    refusal = solver.refusal(problem, limits)
    if refusal is not None:
        is_limit = solver.refusal(problem, replace(limits, memory=None)) is None
        error = MemoryLimitError if is_limit else ParameterError
        raise error(f"the method {method!r} cannot solve this problem: {refusal}")
    if method == "order":  # independent components would multiply its states
        return solve_split(problem, solver.solve, limits, start, listener, seed)
    return solver.solve(problem, limits, start, listener, seed)


def make_solver(name: str) -> Solver:
    """The solver of that name."""
    if name not in SOLVERS:
        raise ParameterError(f"the method must be one of auto, {', '.join(SOLVERS)}. Got {name!r} instead.")
    module, attribute = SOLVERS[name].split(":")
    return cast(Solver, getattr(import_module(module), attribute)())


def _solve_auto(problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int) -> Solution:
    tree = make_solver("tree")
    if tree.refusal(problem, limits) is None:
        return tree.solve(problem, limits, start, listener, seed)
    if problem.global_rules:
        return _solve_one(problem, limits, start, listener, seed)
    return solve_split(problem, _solve_one, limits, start, listener, seed)


def _solve_one(problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int) -> Solution:
    if problem.n_vars <= DP_UP_TO:
        dp = make_solver("dp")
        if dp.refusal(problem, limits) is None:
            return dp.solve(problem, limits, start, listener, seed)
    if make_solver("order").refusal(problem, limits) is not None:
        return make_solver("ilp").solve(problem, limits, start, listener, seed)
    from exactbnc.solvers.search import solve_by_search

    return solve_by_search(problem, limits, start, listener, seed)
