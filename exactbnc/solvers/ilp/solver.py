"""Branch and cut: a root in whole numbers where the problem allows it, then the families that are left in SCIP.

Acyclicity is kept by cluster cuts. It takes every problem; with global rules all families go to SCIP at once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np
from pyscipopt import Model

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.bounds.root.watch import better_order, watched_root
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, cost_table, feasible_order
from exactbnc.solvers.ilp.handover import Beginning, hand_over
from exactbnc.solvers.ilp.model.context import Context
from exactbnc.solvers.ilp.model.cut_rows import cut_rows
from exactbnc.solvers.ilp.model.integral import AncestorRules
from exactbnc.solvers.ilp.model.model import Columns, columns_of
from exactbnc.solvers.ilp.model.rules import is_contradictory, linear_rows
from exactbnc.solvers.ilp.plugins import (
    cons_acyclic,
    event_incumbent,
    event_progress,
    heur_sink,
    prop_order,
    sepa_cluster,
    sepa_facet,
    sepa_two_cluster,
)
from exactbnc.solvers.ilp.settings import configure, set_limits, set_time_limit
from scorecache.errors import ParameterError

TOLERANCE = 1e-6
"""SCIP's LP bounds rest on tolerances of 1e-7 per row; optimal means optimal to this much, absolute."""

BYTES_PER_COLUMN = 5_000
"""What SCIP, its first LPs and Python take for a column at least; measured with 200,000 columns."""

ROOT = "root"
OPTIONAL_PLUGINS: Mapping[str, ModuleType] = {
    "prop_order": prop_order,
    "sepa_cluster": sepa_cluster,
    "sepa_two_cluster": sepa_two_cluster,
    "sepa_facet": sepa_facet,
    "heur_sink": heur_sink,
    "event_incumbent": event_incumbent,
    "event_progress": event_progress,
}
"""What the optimum does not depend on, in the order of inclusion; nor does it depend on the root."""

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

Statistics = Mapping[str, float | int | str]


class ILPSolver:
    """Exact for every problem; `disabled` names optional plugins, or the root, to leave out."""

    name = "ilp"

    def __init__(self, disabled: frozenset[str] = frozenset(), *, settings: RootSettings | None = None) -> None:
        known = (ROOT, *OPTIONAL_PLUGINS)
        unknown = sorted(disabled - set(known))
        if unknown:
            raise ParameterError(
                f"the optional parts of the ilp are {', '.join(known)}. Got {', '.join(unknown)} instead."
            )
        self.disabled = disabled
        self.settings = RootSettings(tail=LONG) if settings is None else settings

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Never: every constraint is honoured."""
        return None

    def solve(
        self, problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
    ) -> Solution:
        """A best network; the answer is checked against the constraints before it is handed out."""
        began = time.monotonic()
        columns = columns_of(problem)
        search = Search(problem, columns, limits, _usable(problem, start), listener, seed)
        table = None if ROOT in self.disabled else _table(problem)
        outcome = self._without_root(search) if table is None else self._with_root(search, table)
        statistics = {**outcome.statistics, "n_columns": columns.n_columns, "wall_seconds": time.monotonic() - began}
        return _solution(problem, outcome, statistics)

    def _without_root(self, search: Search) -> Outcome:
        columns, start = search.columns, search.start
        return self._branch_and_cut(search, Beginning(columns, None if start is None else columns.choice_of(start)))

    def _with_root(self, search: Search, table: CostTable) -> Outcome:
        order = feasible_order(table)
        if order is None:
            return Outcome("infeasible", None, None, -np.inf)
        report = Report(search.problem, table, search.limits, search.listener)
        order = better_order(table, order, search.start)
        settings = replace(self.settings, least_gain=max(self.settings.least_gain, round(TOLERANCE / table.unit)))
        root = watched_root(table, order, search.limits, settings=settings, report=report, seed=search.seed)
        return self._from_root(search, root, report)

    def finish(
        self,
        root: Root,
        report: Report,
        problem: Problem,
        limits: Limits,
        listener: Listener | None,
        seed: int,
        began: float,
    ) -> Solution:
        """Go on from a root; `began` is when the work on it did, by `time.monotonic`."""
        columns = columns_of(problem)
        outcome = self._from_root(Search(problem, columns, limits, None, listener, seed), root, report)
        statistics = {**outcome.statistics, "n_columns": columns.n_columns, "wall_seconds": time.monotonic() - began}
        return _solution(problem, outcome, statistics)

    def _from_root(self, search: Search, root: Root, report: Report) -> Outcome:
        table, incumbent = root.table, root.incumbent
        score, proved = report.score(incumbent), report.bound(min(root.bound, incumbent.cost))
        found = {"nodes": 0, "cuts": root.cuts.n_cuts, "n_alive": int(root.is_alive.sum())}
        statistics = {**root.seconds, "scip_seconds": 0.0, **found}
        tolerance = table.tolerance + (root.least_gain - table.grain) * table.unit
        at_root = Outcome("interrupted", report.dag(incumbent), score, proved, tolerance, statistics)
        if root.is_closed:
            return replace(at_root, stop_reason="proved", bound=score)
        reason = _reason_to_stop(search.limits, (incumbent.cost - root.bound) * table.unit)
        if root.is_interrupted or reason is not None:
            return replace(at_root, stop_reason=reason or "interrupted")
        try:
            outcome = self._branch_and_cut(search, hand_over(root, search.columns))
        except KeyboardInterrupt:  # before SCIP began
            return at_root
        n_cuts = root.cuts.n_cuts + int(outcome.statistics["cuts"])
        return replace(
            outcome,
            tolerance=outcome.tolerance + tolerance,
            statistics={**statistics, **outcome.statistics, "cuts": n_cuts},
        )

    def _branch_and_cut(self, search: Search, beginning: Beginning) -> Outcome:
        clock = time.process_time()
        columns = beginning.columns
        rows = list(linear_rows(search.problem, columns))
        if any(is_contradictory(row) for row in rows):
            return Outcome("infeasible", None, None, -np.inf)
        if BYTES_PER_COLUMN * columns.n_columns > search.limits.memory_left():
            return _outcome_without_search(beginning, "memory")
        model = Model("exactbnc")
        try:
            configure(model, search.seed)
            variables = [model.addVar(vtype="B", obj=cost) for cost in columns.cost.tolist()]
            rules = AncestorRules.of(search.problem)
            context = Context(model, columns, variables, rules, search.limits, search.listener)
            context.least_cost, context.incumbent = beginning.cost_bound, beginning.told
            for number, row in enumerate(rows):
                if len(row.columns):
                    context.add_row(row, f"row{number}")
            if beginning.cuts is not None:
                for number, row in enumerate(cut_rows(columns, beginning.cuts)):
                    if len(row.columns):
                        context.add_row(row, f"cut{number}", is_redundant=True)
            cons_acyclic.include(context)
            for name, plugin in OPTIONAL_PLUGINS.items():
                if name not in self.disabled:
                    plugin.include(context)
            if beginning.start is not None:
                model.addSol(context.suggest(beginning.start))
            _optimize(context)
            return _outcome(context, beginning.start, clock)
        finally:
            # SCIP calls the plugins once more when it is freed, so that must happen while they are alive.
            model.free()


@dataclass(frozen=True, eq=False)
class Search:
    """What to search and how: when to stop, a network to begin with, who listens, and the seed."""

    problem: Problem
    columns: Columns
    limits: Limits
    start: DAG | None
    listener: Listener | None
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """Why the search ended, the best network, its score, and an upper bound on every score."""

    stop_reason: str
    dag: DAG | None
    score: float | None
    bound: float
    tolerance: float = TOLERANCE
    statistics: Statistics = field(default_factory=dict)


def _optimize(context: Context) -> None:
    """Run SCIP and raise what a callback raised; an interrupt only ends the search.

    SCIP looks at the time of day, inside a long LP too; where that was set forward, the search goes on.
    """
    model, limits = context.model, context.limits
    with ctrl_c_calls(context.stop):
        set_limits(model, limits)
        try:
            model.optimize()
            while not context.is_stopped and model.getStatus() == "timelimit" and limits.seconds_left() > 0:
                set_time_limit(model, limits)
                model.optimize()
        except KeyboardInterrupt as interrupt:
            context.stop(interrupt)
        except Exception:
            if context.failure is None:
                raise
    if context.failure is not None and not isinstance(context.failure, KeyboardInterrupt):
        raise context.failure


def _outcome_without_search(beginning: Beginning, stop_reason: str) -> Outcome:
    columns, start = beginning.columns, beginning.start
    return Outcome(
        stop_reason=stop_reason,
        dag=None if start is None else columns.dag(start),
        score=None if start is None else columns.score(start),
        bound=columns.constant - beginning.cost_bound,
        statistics={"nodes": 0, "cuts": 0, "n_alive": columns.n_columns},
    )


def _outcome(context: Context, start: Ints | None, clock: float) -> Outcome:
    model, columns = context.model, context.columns
    status = context.limit_reached or ("userinterrupt" if context.is_stopped else str(model.getStatus()))
    if status not in _STOP_REASONS:
        raise RuntimeError(f"SCIP ended with the unexpected status {status!r}")
    found = columns.chosen(context.values(model.getBestSol())) if model.getNSols() else None
    chosen = max((choice for choice in (found, start) if choice is not None), key=columns.score, default=None)
    # What callbacks tell SCIP once the search is stopped may not be used for a bound.
    cost_bound = context.cost_bound() if context.cost_bound_when_stopped is None else context.cost_bound_when_stopped
    return Outcome(
        stop_reason=_STOP_REASONS[status],
        dag=None if chosen is None else columns.dag(chosen),
        score=None if chosen is None else columns.score(chosen),
        bound=columns.constant - cost_bound,
        statistics={
            "nodes": int(model.getNTotalNodes()),
            "cuts": context.n_cuts,
            "lp_iterations": int(model.getNLPIterations()),
            "n_alive": columns.n_columns,
            "scip_seconds": time.process_time() - clock,
        },
    )


def _solution(problem: Problem, outcome: Outcome, statistics: Statistics) -> Solution:
    """Make sure that the network is one."""
    is_infeasible = outcome.stop_reason == "infeasible"
    bound = -np.inf if is_infeasible else outcome.bound
    if outcome.dag is not None and outcome.score is not None:
        broken = problem.check(outcome.dag)
        if broken or is_infeasible:
            raise RuntimeError(f"the ilp returned a wrong network, please report this: {'; '.join(broken)}")
        bound = max(bound, outcome.score)
    statuses = {"proved": Status.OPTIMAL, "infeasible": Status.INFEASIBLE}
    return Solution(
        status=statuses.get(outcome.stop_reason, Status.UNKNOWN if outcome.dag is None else Status.FEASIBLE),
        dag=outcome.dag,
        score=outcome.score,
        bound=bound,
        method=ILPSolver.name,
        stop_reason=outcome.stop_reason,
        tolerance=outcome.tolerance,
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics=statistics,
    )


def _table(problem: Problem) -> CostTable | None:
    """The table of a problem; None if it has none, because of global rules or scores too far apart."""
    try:
        return cost_table(problem)
    except ParameterError:
        return None


def _reason_to_stop(limits: Limits, gap: float) -> str | None:
    """Why the search is over after the root; None if it is not."""
    if gap <= limits.gap:
        return "gap"
    return "time" if limits.seconds_left() <= 0 else None


def _usable(problem: Problem, start: DAG | None) -> DAG | None:
    """A start network that satisfies every constraint, else None."""
    if start is None or set(start.names) != set(problem.names):
        return None
    own = DAG.from_arcs(problem.names, start.arcs)
    return None if problem.check(own) else own
