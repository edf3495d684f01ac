"""Branch and cut in SCIP on one problem, a turn at a time.

What callbacks return to SCIP once the search is stopped may not be used for a bound.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
from pyscipopt import Model

from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Statistics
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.pool import Cuts
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.ilp.model.context import Context
from exactbnc.solvers.ilp.model.cut_rows import cut_rows
from exactbnc.solvers.ilp.model.integral import NetworkRules
from exactbnc.solvers.ilp.model.model import Columns, Row, is_contradictory, linear_rows
from exactbnc.solvers.ilp.plugins import (
    branch_arc,
    cons_acyclic,
    event_incumbent,
    event_progress,
    heur_sink,
    prop_order,
    sepa_cluster,
    sepa_facet,
    sepa_rule,
)
from exactbnc.solvers.ilp.settings import configure, set_limits, set_time_limit

BYTES_PER_COLUMN = 5_000
"""What SCIP, its first LPs and Python take for a column at least; measured with 200,000 columns."""

OPTIONAL_PLUGINS: Mapping[str, ModuleType] = {
    "prop_order": prop_order,
    "sepa_cluster": sepa_cluster,
    "sepa_facet": sepa_facet,
    "sepa_rule": sepa_rule,
    "heur_sink": heur_sink,
    "branch_arc": branch_arc,
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


class BranchAndCut:
    """SCIP on one problem: `advance` as often as it pays, then `found`; the model is freed at the end."""

    def __init__(
        self, problem: Problem, beginning: Beginning, run: Run, disabled: frozenset[str] = frozenset()
    ) -> None:
        clock = time.process_time()
        self.beginning = beginning
        self.n_nodes = 0
        self._has_begun = False  # SCIP answers few questions before
        self._run = run
        self._reason: str | None = None
        self._context: Context | None = None
        rows = list(linear_rows(problem, beginning.columns))
        if any(is_contradictory(row) for row in rows):
            self._reason = "infeasible"
        elif BYTES_PER_COLUMN * beginning.columns.n_columns > run.limits.memory_left():
            self._reason = "memory"
        else:
            self._context = _context(problem, beginning, run, rows, disabled)
        self._seconds = time.process_time() - clock

    def close(self) -> None:
        """Free the model."""
        # SCIP calls the plugins once more when it is freed, so that must happen while they are alive.
        if self._context is not None:
            self._context.model.free()
            self._context = None

    def advance(self, n_nodes: int | None = None) -> str | None:
        """Search that many nodes more, None: to the end; why the search ended, None if there is more to do."""
        if self._reason is not None or self._context is None:
            return self._reason
        clock = time.process_time()
        own = self._run.limits.nodes
        most = min((limit for limit in (own, n_nodes and self.n_nodes + n_nodes) if limit is not None), default=None)
        self._has_begun = True
        _optimize(self._context, most)
        self.n_nodes = int(self._context.model.getNTotalNodes())
        self._seconds += time.process_time() - clock
        reason = _stop_reason(self._context)
        self._reason = None if reason == "nodes" and (own is None or self.n_nodes < own) else reason
        return self._reason

    def offer(self, chosen: Ints) -> None:
        """A better network, by its columns, for the turns to come."""
        if self._context is not None and self._has_begun and self._reason is None:
            self._context.model.trySol(self._context.suggest(chosen), printreason=False)

    @property
    def n_iterations(self) -> int:
        """Simplex iterations so far."""
        return int(self._context.model.getNLPIterations()) if self._context is not None and self._has_begun else 0

    @property
    def cost_bound(self) -> float:
        """A lower bound on the cost of every network better than the best known."""
        if self._context is None or not self._has_begun:
            return self.beginning.cost_bound
        at_stop = self._context.cost_bound_when_stopped
        return self._context.cost_bound() if at_stop is None else at_stop

    def found(self) -> Found:
        """The best network and bound so far."""
        columns, context, start = self.beginning.columns, self._context, self.beginning.start
        if context is None:
            if self._reason == "infeasible":
                return Found("infeasible", None, -np.inf)
            return Found("memory", start, columns.constant - self.cost_bound, columns)
        model = context.model
        best = columns.chosen(context.values(model.getBestSol())) if model.getNSols() else None
        chosen = max((choice for choice in (best, start) if choice is not None), key=columns.score, default=None)
        statistics = Statistics(
            nodes=self.n_nodes,
            cuts=context.n_cuts,
            lp_iterations=self.n_iterations,
            n_alive=columns.n_columns,
            scip_seconds=self._seconds,
        )
        return Found(self._reason or "nodes", chosen, columns.constant - self.cost_bound, columns, statistics)


def _context(problem: Problem, beginning: Beginning, run: Run, rows: list[Row], disabled: frozenset[str]) -> Context:
    """A model with everything in it."""
    columns, model = beginning.columns, Model("exactbnc")
    try:
        configure(model, run.seed)
        variables = [model.addVar(vtype="B", obj=cost) for cost in columns.cost.tolist()]
        context = Context(model, columns, variables, NetworkRules.of(problem), run)
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
            if name not in disabled:
                plugin.include(context)
        if beginning.start is not None:
            model.addSol(context.suggest(beginning.start))
    except BaseException:
        model.free()
        raise
    return context


def _optimize(context: Context, most_nodes: int | None) -> None:
    """Run SCIP and raise what a callback raised; an interrupt only ends the search.

    SCIP looks at the time of day, inside a long LP too; where that was set forward, the search continues.
    """
    model, clock = context.model, context.run.clock
    set_limits(model, context.run, most_nodes)
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


def _stop_reason(context: Context) -> str:
    if context.stop_reason is not None or context.is_stopped:
        return context.stop_reason or "interrupted"
    status = str(context.model.getStatus())
    if status not in _STOP_REASONS:
        raise RuntimeError(f"SCIP ended with the unexpected status {status!r}")
    return _STOP_REASONS[status]
