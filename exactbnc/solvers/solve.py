"""The solvers and the one verb: `solve(problem)`.

Each solver says of a problem yes, or no with the reason. `auto` takes the tree solver where it fits; otherwise it
splits the problem into components where the constraints allow it, and gives each to dynamic programming if that can
afford it; if not, to the search that suits it (`search`), or to the integer program where there are global rules.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution
from exactbnc.run.solver import Outcome, Run, SolveFunction, Solver, attempt
from exactbnc.run.trace import Trace
from exactbnc.solvers.costs.graph import loose_bound
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

DP_AT_ONCE = 19
"""Variables of a component up to which `auto` takes dynamic programming at once: hundredths of a second."""
DP_UP_TO = 25
"""Up to these it is affordable, two seconds and half a gigabyte, and `search` says when it is the best choice."""


def solve(
    problem: Problem,
    *,
    solver: str | Solver = "auto",
    limits: Limits | None = None,
    start: DAG | None = None,
    listener: Listener | Sequence[Listener] | None = None,
    seed: int = 0,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
    method: str | Solver | None = None,
) -> Solution:
    """Find a provably best network of a problem, or the best within the limits, with its bound.

    Parameters
    ----------
    problem
        Scores and constraints.
    solver
        "auto", "tree", "dp", "order", "ilp", or a `Solver`.
    limits
        When to stop; the clock starts now.
    start
        A network to begin with.
    listener
        Is called with better networks and with bounds; or several listeners.
    seed
        Of everything that is random.
    checkpoint
        A file that the run is saved to from time to time; if it exists, the run resumes from it.
    method
        The former name of `solver`; deprecated.

    Returns
    -------
    Solution
        The best network met, its score and a bound on every network's.

    Raises
    ------
    ParameterError
        If the solver cannot solve such a problem.
    KeyboardInterrupt
        If the run was interrupted before there was a network.

    Examples
    --------
    >>> from scorecache import ScoreCache
    >>> cache = ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]])
    >>> solution = solve(Problem(cache))
    >>> solution.score, solution.dag.arcs, solution.stop_reason
    (-2.0, (('a', 'b'),), 'proved')
    """
    if not isinstance(problem, Problem):
        raise ParameterError(f"solve takes a Problem, such as Problem(cache). Got {type(problem).__name__} instead.")
    if problem.is_class_minimal and (start is not None or checkpoint is not None):
        raise ParameterError("class-minimal networks take no start network and no checkpoint")
    run = Run.of(limits, start=None if start is None else problem.in_own_order(start), seed=seed)
    if not problem.is_class_minimal:  # whose bound is on the networks with as few class parameters
        run.events.bound = loose_bound(problem)
    trace = Trace(run.events)
    listeners = [*listener] if isinstance(listener, Sequence) else [] if listener is None else [listener]
    function, name = _function(solver_given(solver, method))
    with ctrl_c_calls(run.clock.interrupt):
        if checkpoint is None:
            run.events.subscribe(*listeners)
            run.publish_start(problem)
            outcome = attempt(function, problem, run, name)
        else:
            from exactbnc.checkpoint.checkpoint import Checkpoint, solve_with_checkpoint

            if not isinstance(checkpoint, Checkpoint):
                checkpoint = Checkpoint(checkpoint)
            outcome = solve_with_checkpoint(checkpoint, function, name, problem, run, listeners)
    if outcome.stop_reason == "interrupted" and outcome.dag is None:
        raise KeyboardInterrupt
    return Solution(
        status=outcome.status,
        dag=outcome.dag,
        score=outcome.score,
        bound=outcome.bound,
        method=outcome.method,
        stop_reason=outcome.stop_reason,
        tolerance=outcome.tolerance,
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics=replace(outcome.statistics, wall_seconds=run.clock.elapsed()),
        trace=trace.entries(outcome.score, outcome.bound),
    )


def solver_given(solver: str | Solver, method: str | Solver | None) -> str | Solver:
    """The solver, also where it was given by the former name of the argument."""
    if method is None:
        return solver
    warnings.warn("method= is now called solver=", DeprecationWarning, stacklevel=3)
    return method


def make_solver(name: str) -> Solver:
    """The solver of that name."""
    if name not in SOLVERS:
        raise ParameterError(f"the solver must be one of auto, {', '.join(SOLVERS)}. Got {name!r} instead.")
    module, attribute = SOLVERS[name].split(":")
    return cast(Solver, getattr(import_module(module), attribute)())


def _function(choice: str | Solver) -> tuple[SolveFunction, str]:
    """The function of a solver, and its name."""
    if not isinstance(choice, str):
        return choice.solve, choice.name
    if choice == "auto":
        return _solve_auto, choice

    def function(problem: Problem, run: Run) -> Outcome:
        solver = make_solver(choice)
        refusal = solver.refusal(problem, run.limits)
        if refusal is not None:
            is_limit = solver.refusal(problem, replace(run.limits, memory=None)) is None
            error = MemoryLimitError if is_limit else ParameterError
            raise error(f"the solver {choice!r} cannot solve this problem: {refusal}")
        if choice == "order":  # independent components would multiply its states
            return solve_split(problem, solver.solve, run)
        return solver.solve(problem, run)

    return function, choice


def _solve_auto(problem: Problem, run: Run) -> Outcome:
    if problem.is_class_minimal:
        from exactbnc.solvers.minimal import MinimalSolver

        return MinimalSolver().solve(problem, run)
    tree = make_solver("tree")
    if tree.refusal(problem, run.limits) is None:
        return tree.solve(problem, run)
    if problem.global_rules:
        return _solve_one(problem, run)
    return solve_split(problem, _solve_one, run)


def _solve_one(problem: Problem, run: Run) -> Outcome:
    """Solve a component."""
    dp = make_solver("dp")
    takes_dp = problem.n_vars <= DP_UP_TO and dp.refusal(problem, run.limits) is None
    if takes_dp and problem.n_vars <= DP_AT_ONCE:
        return dp.solve(problem, run)
    if make_solver("order").refusal(problem, run.limits) is not None:
        return (dp if takes_dp else make_solver("ilp")).solve(problem, run)
    from exactbnc.solvers.search import solve_by_search

    return solve_by_search(problem, run, dp=dp if takes_dp else None)
