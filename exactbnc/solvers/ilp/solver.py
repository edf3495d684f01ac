"""Branch and cut: the family variables in SCIP, acyclicity by cluster cuts. It takes every problem."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from pyscipopt import Model

from exactbnc.dag import DAG
from exactbnc.limits import Limits
from exactbnc.listener import Listener
from exactbnc.problem import Problem
from exactbnc.solution import Solution, Status
from exactbnc.solvers.ilp.context import Context
from exactbnc.solvers.ilp.integral import AncestorRules
from exactbnc.solvers.ilp.interrupt import ctrl_c_calls
from exactbnc.solvers.ilp.model import Columns, Ints, Row, columns_of
from exactbnc.solvers.ilp.plugins import cons_acyclic, event_incumbent, event_progress, heur_sink, sepa_cluster
from exactbnc.solvers.ilp.rules import is_contradictory, linear_rows
from exactbnc.solvers.ilp.settings import configure, set_limits
from scorecache.errors import ParameterError

TOLERANCE = 1e-6
"""SCIP's LP bounds rest on tolerances of 1e-7 per row; optimal means optimal to this much, absolute."""

OPTIONAL_PLUGINS: Mapping[str, ModuleType] = {
    "sepa_cluster": sepa_cluster,
    "heur_sink": heur_sink,
    "event_incumbent": event_incumbent,
    "event_progress": event_progress,
}
"""What the optimum does not depend on, in the order of inclusion."""

_STOP_REASONS = {
    "optimal": "proved",
    "infeasible": "infeasible",
    "inforunbd": "infeasible",
    "timelimit": "time",
    "gaplimit": "gap",
    "nodelimit": "nodes",
    "totalnodelimit": "nodes",
    "memlimit": "memory",
    "userinterrupt": "interrupted",
}


class ILPSolver:
    """Exact for every problem; `disabled` names optional plugins to leave out."""

    name = "ilp"

    def __init__(self, disabled: frozenset[str] = frozenset()) -> None:
        unknown = sorted(disabled - set(OPTIONAL_PLUGINS))
        if unknown:
            raise ParameterError(
                f"the optional plugins of the ilp are {', '.join(OPTIONAL_PLUGINS)}. Got {', '.join(unknown)} instead."
            )
        self.disabled = disabled

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Never: every constraint is honoured."""
        return None

    def solve(
        self, problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
    ) -> Solution:
        """A best network; the answer is checked against the constraints before it is handed out."""
        began = time.monotonic()
        columns = columns_of(problem)
        rows = list(linear_rows(problem, columns))
        if any(is_contradictory(row) for row in rows):
            outcome = Outcome("infeasible", None, np.inf, {})
        else:
            search = Search(limits, _usable(problem, columns, start), listener, seed)
            outcome = self._run(problem, columns, rows, search)
        statistics = {**outcome.statistics, "n_columns": columns.n_columns}
        return _solution(problem, columns, outcome, {**statistics, "wall_seconds": time.monotonic() - began})

    def _run(self, problem: Problem, columns: Columns, rows: list[Row], search: Search) -> Outcome:
        model = Model("exactbnc")
        try:
            configure(model, search.seed)
            variables = [model.addVar(vtype="B", obj=cost) for cost in columns.cost.tolist()]
            context = Context(model, columns, variables, AncestorRules.of(problem), search.limits, search.listener)
            for number, row in enumerate(rows):
                if len(row.columns):
                    context.add_row(row, f"row{number}")
            cons_acyclic.include(context)
            for name, plugin in OPTIONAL_PLUGINS.items():
                if name not in self.disabled:
                    plugin.include(context)
            if search.start is not None:
                model.addSol(context.suggest(search.start))
            _optimize(context)
            return _outcome(context, search.start)
        finally:
            # SCIP calls the plugins once more when it is freed, so that must happen while they are alive.
            model.free()


@dataclass(frozen=True, eq=False)
class Search:
    """How to search: when to stop, the columns of a network to begin with, who listens, and the seed."""

    limits: Limits
    start: Ints | None
    listener: Listener | None
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """What SCIP said: its status, the columns of the best network, a lower bound on the cost, counts."""

    status: str
    chosen: Ints | None
    cost_bound: float
    statistics: Mapping[str, float | int | str]


def _optimize(context: Context) -> None:
    """Run SCIP and raise what a callback raised; an interrupt only ends the search."""
    with ctrl_c_calls(context.stop):
        set_limits(context.model, context.limits)
        try:
            context.model.optimize()
        except KeyboardInterrupt as interrupt:
            context.stop(interrupt)
        except Exception:
            if context.failure is None:
                raise
    if context.failure is not None and not isinstance(context.failure, KeyboardInterrupt):
        raise context.failure


def _outcome(context: Context, start: Ints | None) -> Outcome:
    model, columns = context.model, context.columns
    found = columns.chosen(context.values(model.getBestSol())) if model.getNSols() else None
    known = [choice for choice in (found, start) if choice is not None]
    # What callbacks tell SCIP once the search is stopped may not be used for a bound.
    cost_bound = context.cost_bound() if context.cost_bound_when_stopped is None else context.cost_bound_when_stopped
    return Outcome(
        status="userinterrupt" if context.is_stopped else str(model.getStatus()),
        chosen=max(known, key=columns.score, default=None),
        cost_bound=cost_bound,
        statistics={
            "nodes": int(model.getNTotalNodes()),
            "cuts": context.n_cuts,
            "lp_iterations": int(model.getNLPIterations()),
        },
    )


def _solution(
    problem: Problem, columns: Columns, outcome: Outcome, statistics: Mapping[str, float | int | str]
) -> Solution:
    """Turn costs into scores, and make sure that the network is one."""
    if outcome.status not in _STOP_REASONS:
        raise RuntimeError(f"SCIP ended with the unexpected status {outcome.status!r}")
    stop_reason = _STOP_REASONS[outcome.status]
    dag, score = None, None
    bound = float("-inf") if stop_reason == "infeasible" else columns.constant - outcome.cost_bound
    if outcome.chosen is not None:
        dag, score = columns.dag(outcome.chosen), columns.score(outcome.chosen)
        broken = problem.check(dag)
        if broken or stop_reason == "infeasible":
            raise RuntimeError(f"the ilp returned a wrong network, please report this: {'; '.join(broken)}")
        bound = max(bound, score)
    statuses = {"proved": Status.OPTIMAL, "infeasible": Status.INFEASIBLE}
    return Solution(
        status=statuses.get(stop_reason, Status.UNKNOWN if dag is None else Status.FEASIBLE),
        dag=dag,
        score=score,
        bound=bound,
        method=ILPSolver.name,
        stop_reason=stop_reason,
        tolerance=TOLERANCE,
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics=statistics,
    )


def _usable(problem: Problem, columns: Columns, start: DAG | None) -> Ints | None:
    """The columns of a start network that satisfies every constraint, else None."""
    if start is None or set(start.names) != set(problem.names):
        return None
    own = DAG.from_arcs(problem.names, start.arcs)
    return None if problem.check(own) else columns.choice_of(own)
