"""What the plugins of one solve share: the SCIP model, its variables, counters, and the first exception.

SCIP swallows what a callback raises. `guarded` keeps it, stops the search, and the solver raises it after `optimize()`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

import numpy as np
from pyscipopt import Model, Variable, quicksum
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT
from pyscipopt.scip import PY_SCIP_STAGE as SCIP_STAGE

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Bools, Point
from exactbnc.solvers.bounds.cuts.pool import Cuts
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.ilp.model.cut_rows import cut_rows
from exactbnc.solvers.ilp.model.integral import NetworkRules
from exactbnc.solvers.ilp.model.model import Columns, Floats, Row, is_contradictory, rows_of

SUPPORT = 1e-6
"""Columns below this value are taken as 0."""


@dataclass(eq=False)
class Context:
    """One solve; `is_local`: every acyclic choice of columns is a network that satisfies the constraints."""

    model: Model
    columns: Columns
    variables: list[Variable]
    rules: NetworkRules
    run: Run
    is_local: bool = True
    n_cuts: int = 0
    least_cost: float = 0.0
    is_stopped: bool = False
    stop_reason: str | None = None
    failure: BaseException | None = None
    cost_bound_when_stopped: float | None = None

    @cached_property
    def transformed(self) -> list[Variable]:
        """The variables of the problem that SCIP solves; asked for first after presolving."""
        return [self.model.getTransformedVar(variable) for variable in self.variables]

    def lp_values(self) -> Floats:
        """The columns' values at the current LP solution."""
        return np.array([variable.getLPSol() for variable in self.transformed], dtype=np.float64)

    def lp_point(self) -> Point:
        """The columns with positive value at the current LP solution, with the members of W'."""
        columns, values = self.columns, self.lp_values()
        positive = np.flatnonzero(values > SUPPORT)
        start, members = rows_of(columns.before_start, columns.before, positive)
        return Point(columns.n_vars, columns.child[positive], values[positive], start, members)

    def is_possible(self) -> Bools:
        """Which columns may be 1 at the current node."""
        return np.array([variable.getUbLocal() for variable in self.transformed], dtype=np.float64) > 0.5

    def values(self, solution: Any) -> Floats:
        """The columns' values in a given solution."""
        return np.array([solution[variable] for variable in self.variables], dtype=np.float64)

    def pseudo_values(self) -> Floats:
        """The columns' values at the current LP or pseudo solution, whichever SCIP enforces."""
        return np.array([self.model.getSolVal(None, variable) for variable in self.variables], dtype=np.float64)

    def cost_bound(self) -> float:
        """A lower bound on the cost of every network better than the incumbent."""
        return max(self.least_cost, float(self.model.getDualbound()))

    def add_cuts(self, cuts: Cuts, name: str) -> int:
        """Hand violated cuts to the LP; what a separator answers SCIP."""
        for row in cut_rows(self.columns, cuts):
            if self.add_cut(row, name, is_forced=False):
                return int(SCIP_RESULT.CUTOFF)
        return int(SCIP_RESULT.SEPARATED if cuts.n_cuts else SCIP_RESULT.DIDNOTFIND)

    def add_cut(self, row: Row, name: str, *, is_forced: bool) -> bool:
        """Hand a globally valid row to the LP; True if it shows that the node is infeasible."""
        if not len(row.columns):
            return is_contradictory(row)
        cut = self.model.createEmptyRowUnspec(name, lhs=row.lhs, rhs=row.rhs, local=False, removable=True)
        self.model.cacheRowExtensions(cut)
        for column, coefficient in zip(row.columns.tolist(), row.coefficients.tolist(), strict=True):
            self.model.addVarToRow(cut, self.transformed[column], coefficient)
        self.model.flushRowExtensions(cut)
        is_infeasible = bool(self.model.addCut(cut, is_forced))
        self.model.releaseRow(cut)
        self.n_cuts += 1
        return is_infeasible

    def add_row(self, row: Row, name: str, *, is_redundant: bool = False) -> None:
        """Add a row as a linear constraint; a redundant one helps LPs and propagation, and answers are not checked."""
        terms = zip(row.coefficients.tolist(), row.columns.tolist(), strict=True)
        total = quicksum(coefficient * self.variables[column] for coefficient, column in terms)
        is_needed = not is_redundant
        how: dict[str, Any] = {"name": name, "enforce": is_needed, "check": is_needed, "removable": is_redundant}
        if row.lhs is not None and row.lhs == row.rhs:
            self.model.addCons(total == row.lhs, **how)
            return
        if row.lhs is not None:
            self.model.addCons(total >= row.lhs, **how)
        if row.rhs is not None:
            self.model.addCons(total <= row.rhs, **how)

    def suggest(self, chosen: Ints, heuristic: Any = None) -> Any:
        """A SCIP solution with these columns at 1."""
        solution = self.model.createSol(heuristic)
        for column in chosen.tolist():
            self.model.setSolVal(solution, self.variables[column], 1.0)
        return solution

    def publish(self, chosen: Ints) -> None:
        """Publish the network of one column per variable, if it is better than the best so far."""
        events, score = self.run.events, self.columns.score(chosen)
        if events.score is None or score > events.score:
            events.incumbent(self.columns.dag(chosen), score)

    def stop_if_due(self) -> None:
        """End the search if the run has to stop."""
        self.stop_reason = self.stop_reason or self.run.stop_reason()
        if self.stop_reason is not None:
            self.stop()

    def stop(self, failure: BaseException | None = None) -> None:
        """End the search soon; the first exception is kept."""
        if not self.is_stopped:
            self.is_stopped = True
            self.failure = failure
            self.cost_bound_when_stopped = self.cost_bound()
        if self.model.getStage() != SCIP_STAGE.INITSOLVE:  # then SCIP cannot be interrupted; the next callback does it
            self.model.interruptSolve()


def guarded(result: int | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a plugin's callback; `result` is what SCIP hears after an exception and once the search is to end."""

    def decorate(callback: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(callback)
        def call(self: Any, *arguments: Any) -> Any:
            context: Context = self.context
            try:
                context.stop_if_due()
                if not context.is_stopped:
                    return callback(self, *arguments)
            except BaseException as failure:  # KeyboardInterrupt too: it must not cross SCIP's frames
                context.stop(failure)
            return {} if result is None else {"result": result}

        return call

    return decorate
