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
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Statistics
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.bounds.cuts.pool import Cuts
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, better_order, cost_table, feasible_order
from exactbnc.solvers.ilp.model.context import Context
from exactbnc.solvers.ilp.model.cut_rows import cut_rows
from exactbnc.solvers.ilp.model.integral import AncestorRules
from exactbnc.solvers.ilp.model.model import Columns, columns_of, is_contradictory, linear_rows
from exactbnc.solvers.ilp.plugins import (
    cons_acyclic,
    event_incumbent,
    event_progress,
    heur_sink,
    prop_order,
    sepa_cluster,
    sepa_facet,
)
from exactbnc.solvers.ilp.settings import configure, set_limits, set_time_limit
from scorecache.errors import ParameterError

TOLERANCE = 1e-6
"""SCIP's LP bounds have tolerances of 1e-7 per row; optimal means optimal up to this absolute difference."""

BYTES_PER_COLUMN = 5_000
"""What SCIP, its first LPs and Python take for a column at least; measured with 200,000 columns."""

ROOT = "root"
OPTIONAL_PLUGINS: Mapping[str, ModuleType] = {
    "prop_order": prop_order,
    "sepa_cluster": sepa_cluster,
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

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A best network; the answer is checked against the constraints before it is returned."""
        columns = columns_of(problem)
        table = None if ROOT in self.disabled else _table(problem)
        if table is None:
            start = _usable(problem, run.start)
            chosen = None if start is None else columns.choice_of(start)
            found = self._branch_and_cut(problem, Beginning(columns, chosen), run)
            return _outcome(problem, columns, found)
        order = feasible_order(table)
        if order is None:
            return Outcome(self.name, "infeasible")
        report = Report(problem, table, run.events)
        order = better_order(table, order, run.start)
        settings = replace(self.settings, least_gain=max(self.settings.least_gain, round(TOLERANCE / table.unit)))
        root = find_root(table, order, run, settings=settings, report=report)
        return self.finish(root, report, problem, run)

    def finish(self, root: Root, report: Report, problem: Problem, run: Run) -> Outcome:
        """Continue from a root."""
        gap = (root.incumbent.cost - root.bound) * root.table.unit
        reason = "proved" if root.is_closed else root.stop_reason or _reason_to_stop(run, gap)
        n_columns = len(problem.families.scores)
        at_root = replace(root.statistics(), scip_seconds=0.0, nodes=0, n_columns=n_columns)
        outcome = report.outcome(
            root.incumbent,
            root.bound,
            method=self.name,
            stop_reason=reason or "interrupted",
            least_gain=root.least_gain,
            statistics=at_root,
        )
        if reason is not None:
            return outcome
        columns = columns_of(problem)
        found = self._branch_and_cut(problem, _from_root(root, columns), run)
        added = found.statistics
        below = _outcome(problem, columns, found)
        statistics = replace(
            at_root,
            nodes=added.nodes,
            cuts=root.cuts.n_cuts + (added.cuts or 0),
            lp_iterations=added.lp_iterations,
            n_alive=added.n_alive,
            scip_seconds=added.scip_seconds,
        )
        return replace(below, tolerance=below.tolerance + outcome.tolerance, statistics=statistics)

    def _branch_and_cut(self, problem: Problem, beginning: Beginning, run: Run) -> Found:
        clock = time.process_time()
        columns = beginning.columns
        rows = list(linear_rows(problem, columns))
        if any(is_contradictory(row) for row in rows):
            return Found("infeasible", None, -np.inf)
        if BYTES_PER_COLUMN * columns.n_columns > run.limits.memory_left():
            return Found("memory", beginning.start, columns.constant - beginning.cost_bound, columns)
        model = Model("exactbnc")
        try:
            configure(model, run.seed)
            variables = [model.addVar(vtype="B", obj=cost) for cost in columns.cost.tolist()]
            context = Context(model, columns, variables, AncestorRules.of(problem), run)
            context.is_local = not problem.global_rules
            context.least_cost = beginning.cost_bound
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
            return _found(context, beginning.start, clock)
        finally:
            # SCIP calls the plugins once more when it is freed, so that must happen while they are alive.
            model.free()


@dataclass(frozen=True, eq=False)
class Beginning:
    """What branch-and-cut starts from: columns, a network among them, cuts, a lower bound on every cost."""

    columns: Columns
    start: Ints | None = None
    cuts: Cuts | None = None
    cost_bound: float = 0.0


@dataclass(frozen=True, eq=False)
class Found:
    """What branch-and-cut ended with: the columns of the best network, and an upper bound on every score."""

    stop_reason: str
    chosen: Ints | None
    bound: float
    columns: Columns | None = None
    statistics: Statistics = field(default_factory=Statistics)


def _from_root(root: Root, columns: Columns) -> Beginning:
    """The beginning after a root, out of the columns of the whole problem.

    A network cheaper than the root's incumbent uses only families that are alive. These and the incumbent's own become
    columns, so the incumbent is a solution of the integer program and the best of its solutions is a best network.
    """
    table, chosen = root.table, root.incumbent.chosen
    is_kept = root.is_alive.copy()
    is_kept[chosen] = True
    kept = np.flatnonzero(is_kept)
    left = columns.only(table.family[kept], table.cost[kept].astype(np.float64) * table.unit)
    bound = min(root.bound, root.incumbent.cost) * table.unit - table.tolerance / 2
    return Beginning(left, np.searchsorted(kept, chosen), root.cuts, bound)


def _optimize(context: Context) -> None:
    """Run SCIP and raise what a callback raised; an interrupt only ends the search.

    SCIP looks at the time of day, inside a long LP too; where that was set forward, the search continues.
    """
    model, clock = context.model, context.run.clock
    set_limits(model, context.run)
    try:
        model.optimize()
        while not context.is_stopped and model.getStatus() == "timelimit" and clock.seconds_left() > 0:
            set_time_limit(model, clock)
            model.optimize()
    except KeyboardInterrupt as interrupt:
        context.stop(interrupt)
    except Exception:
        if context.failure is None:
            raise
    if context.failure is not None and not isinstance(context.failure, KeyboardInterrupt):
        raise context.failure


def _found(context: Context, start: Ints | None, clock: float) -> Found:
    model, columns = context.model, context.columns
    reason = context.stop_reason or ("interrupted" if context.is_stopped else None)
    if reason is None:
        status = str(model.getStatus())
        if status not in _STOP_REASONS:
            raise RuntimeError(f"SCIP ended with the unexpected status {status!r}")
        reason = _STOP_REASONS[status]
    best = columns.chosen(context.values(model.getBestSol())) if model.getNSols() else None
    chosen = max((choice for choice in (best, start) if choice is not None), key=columns.score, default=None)
    # What callbacks return to SCIP once the search is stopped may not be used for a bound.
    cost_bound = context.cost_bound() if context.cost_bound_when_stopped is None else context.cost_bound_when_stopped
    statistics = Statistics(
        nodes=int(model.getNTotalNodes()),
        cuts=context.n_cuts,
        lp_iterations=int(model.getNLPIterations()),
        n_alive=columns.n_columns,
        scip_seconds=time.process_time() - clock,
    )
    return Found(reason, chosen, columns.constant - cost_bound, columns, statistics)


def _outcome(problem: Problem, columns: Columns, found: Found) -> Outcome:
    """Make sure that the network is one."""
    statistics = replace(found.statistics, n_columns=columns.n_columns)
    is_infeasible = found.stop_reason == "infeasible"
    if found.chosen is None:
        return Outcome(ILPSolver.name, found.stop_reason, None, None, found.bound, TOLERANCE, statistics)
    own = columns if found.columns is None else found.columns
    dag, score = own.dag(found.chosen), own.score(found.chosen)
    broken = problem.check(dag)
    if broken or is_infeasible:
        raise RuntimeError(f"the ilp returned a wrong network, please report this: {'; '.join(broken)}")
    return Outcome(ILPSolver.name, found.stop_reason, dag, score, max(found.bound, score), TOLERANCE, statistics)


def _table(problem: Problem) -> CostTable | None:
    """The table of a problem; None if it has none, because of global rules or scores too far apart."""
    try:
        return cost_table(problem)
    except ParameterError:
        return None


def _reason_to_stop(run: Run, gap: float) -> str | None:
    """Why the search is over after the root; None if it is not."""
    return "gap" if gap <= run.limits.gap else run.clock.stop_reason()


def _usable(problem: Problem, start: DAG | None) -> DAG | None:
    """A start network that satisfies every constraint, else None."""
    if start is None or set(start.names) != set(problem.names):
        return None
    own = DAG.from_arcs(problem.names, start.arcs)
    return None if problem.check(own) else own
