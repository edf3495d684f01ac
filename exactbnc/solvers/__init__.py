"""The solvers and the one verb: `solve(problem)`.

Each solver says of a problem yes, or no with the reason. `auto` takes the tree solver where it fits; otherwise it
splits the problem into components where the constraints allow it, and gives each to dynamic programming if that can
afford it; if not, to the search that suits it (`search`), or to the integer program where there are global rules.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Protocol, cast

from exactbnc.dag import DAG
from exactbnc.limits import Limits
from exactbnc.listener import Listener, Progress
from exactbnc.problem import Problem
from exactbnc.solution import Solution, Status
from exactbnc.solvers.components import Component, assemble, components, restricted
from scorecache.errors import ParameterError

SOLVERS = {
    "tree": "exactbnc.solvers.tree.solver:TreeSolver",
    "dp": "exactbnc.solvers.dp.solver:DPSolver",
    "order": "exactbnc.solvers.order.solver:OrderSolver",
    "ilp": "exactbnc.solvers.ilp.solver:ILPSolver",
}
"""Where each solver lives; it is imported when it is asked for."""

DP_UP_TO = 25
"""Variables of a component up to which `auto` prefers dynamic programming: about two seconds and half a gigabyte."""


SECONDS_AFTER_INTERRUPT = 1.0
"""What the components that are left may still take after Ctrl-C, so that there is a network to write."""


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
) -> Solution:
    """A provably best network of a problem, or the best found within the limits, with its bound."""
    limits = Limits() if limits is None else limits
    start = None if start is None else problem.in_own_order(start)
    if method == "auto":
        return _solve_auto(problem, limits, start, listener, seed)
    solver = make_solver(method)
    refusal = solver.refusal(problem, limits)
    if refusal is not None:
        raise ParameterError(f"the method {method!r} cannot solve this problem: {refusal}")
    if method == "order":  # independent components would multiply its states
        return _solve_split(problem, solver.solve, limits, start, listener, seed)
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
    return _solve_split(problem, _solve_one, limits, start, listener, seed)


def _solve_one(problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int) -> Solution:
    if problem.n_vars <= DP_UP_TO:
        dp = make_solver("dp")
        if dp.refusal(problem, limits) is None:
            return dp.solve(problem, limits, start, listener, seed)
    if make_solver("order").refusal(problem, limits) is not None:
        return make_solver("ilp").solve(problem, limits, start, listener, seed)
    from exactbnc.solvers.search import solve_by_search

    return solve_by_search(problem, limits, start, listener, seed)


def _solve_split(
    problem: Problem,
    solve_part: Callable[[Problem, Limits, DAG | None, Listener | None, int], Solution],
    limits: Limits,
    start: DAG | None,
    listener: Listener | None,
    seed: int,
) -> Solution:
    """Solve component by component, the small ones first: they take no time, and the largest gets all that is left."""
    parts = sorted(components(problem), key=lambda part: len(part.variables))
    if len(parts) == 1:
        return solve_part(problem, limits, start, listener, seed)
    begun = time.monotonic()
    own_limits = replace(limits, gap=limits.gap / len(parts))
    solutions: list[Solution] = []
    for part in parts:
        known = [(other, own.dag, own.score) for other, own in zip(parts, solutions, strict=False)]
        whole = None if listener is None or part is not parts[-1] else _Whole(listener, problem, part, known)
        own_start = None if start is None else restricted(start, part)
        solutions.append(solve_part(part.problem, own_limits, own_start, whole, seed))
        if solutions[-1].stop_reason == "interrupted":
            # a network needs the other components too, but not their proofs
            own_limits = replace(own_limits, seconds=SECONDS_AFTER_INTERRUPT, started=time.monotonic())
    worst = next(
        (
            status
            for status in (Status.INFEASIBLE, Status.UNKNOWN, Status.FEASIBLE)
            if any(solution.status is status for solution in solutions)
        ),
        Status.OPTIMAL,
    )
    dag, score = None, None
    if all(solution.dag is not None for solution in solutions):
        dag = assemble(problem, [(part, cast(DAG, own.dag)) for part, own in zip(parts, solutions, strict=True)])
        score = math.fsum(cast(float, own.score) for own in solutions)
    stops = sorted(
        (own.stop_reason for own in solutions if own.status is not Status.OPTIMAL),
        key=lambda reason: reason != "interrupted",
    )
    return Solution(
        status=worst,
        dag=dag,
        score=score,
        bound=math.fsum(own.bound for own in solutions) if worst is not Status.INFEASIBLE else -math.inf,
        method="+".join(sorted({own.method for own in solutions})),
        stop_reason=stops[0] if stops else "proved",
        tolerance=math.fsum(own.tolerance for own in solutions),
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics={
            **_added([own.statistics for own in solutions]),
            "n_components": len(parts),
            "wall_seconds": time.monotonic() - begun,
        },
    )


def _added(listed: list[Mapping[str, float | int | str]]) -> dict[str, float | int | str]:
    """Counts and seconds summed over components."""
    names = dict.fromkeys(name for statistics in listed for name in statistics)
    return {name: sum(cast(float, statistics.get(name, 0)) for statistics in listed) for name in names}


class _Whole:
    """Tells a listener of the last component as if it were the whole network, the others being solved."""

    def __init__(
        self,
        listener: Listener,
        problem: Problem,
        part: Component,
        known: list[tuple[Component, DAG | None, float | None]],
    ) -> None:
        self._listener = listener
        self._problem = problem
        self._part = part
        self._known = [(other, dag) for other, dag, _ in known if dag is not None]
        self._is_complete = len(self._known) == len(known)
        self._score = math.fsum(score for _, _, score in known if score is not None)

    def on_progress(self, progress: Progress) -> None:
        score = None if progress.score is None else progress.score + self._score
        if self._is_complete:
            self._listener.on_progress(replace(progress, score=score, bound=progress.bound + self._score))

    def on_incumbent(self, dag: DAG, score: float) -> None:
        if self._is_complete:
            whole = assemble(self._problem, [*self._known, (self._part, dag)])
            self._listener.on_incumbent(whole, score + self._score)
