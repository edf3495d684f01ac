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

from exactbnc.limits import Limits
from exactbnc.listener import Listener
from exactbnc.solvers.ilp.integral import AncestorRules
from exactbnc.solvers.ilp.model import Columns, Floats, Ints, Row


@dataclass(eq=False)
class Context:
    """One solve."""

    model: Model
    columns: Columns
    variables: list[Variable]
    ancestor_rules: AncestorRules
    limits: Limits
    listener: Listener | None
    n_cuts: int = 0
    incumbent: float | None = None
    is_stopped: bool = False
    failure: BaseException | None = None
    cost_bound_when_stopped: float | None = None

    @cached_property
    def transformed(self) -> list[Variable]:
        """The variables of the problem that SCIP solves; asked for first after presolving."""
        return [self.model.getTransformedVar(variable) for variable in self.variables]

    def lp_values(self) -> Floats:
        """The columns' values at the current LP solution."""
        return np.array([variable.getLPSol() for variable in self.transformed], dtype=np.float64)

    def values(self, solution: Any) -> Floats:
        """The columns' values in a given solution."""
        return np.array([solution[variable] for variable in self.variables], dtype=np.float64)

    def pseudo_values(self) -> Floats:
        """The columns' values at the current LP or pseudo solution, whichever SCIP enforces."""
        return np.array([self.model.getSolVal(None, variable) for variable in self.variables], dtype=np.float64)

    def cost_bound(self) -> float:
        """A lower bound on the cost of every network; costs are never negative."""
        return max(0.0, float(self.model.getDualbound()))

    def add_cut(self, row: Row, name: str, *, is_forced: bool) -> bool:
        """Hand a globally valid row to the LP; True if it shows that the node is infeasible."""
        if not len(row.columns):
            return True
        cut = self.model.createEmptyRowUnspec(name, lhs=row.lhs, rhs=row.rhs, local=False, removable=True)
        self.model.cacheRowExtensions(cut)
        for column, coefficient in zip(row.columns.tolist(), row.coefficients.tolist(), strict=True):
            self.model.addVarToRow(cut, self.transformed[column], coefficient)
        self.model.flushRowExtensions(cut)
        is_infeasible = bool(self.model.addCut(cut, is_forced))
        self.model.releaseRow(cut)
        self.n_cuts += 1
        return is_infeasible

    def add_row(self, row: Row, name: str) -> None:
        """Add a row as a linear constraint."""
        terms = zip(row.coefficients.tolist(), row.columns.tolist(), strict=True)
        total = quicksum(coefficient * self.variables[column] for coefficient, column in terms)
        if row.lhs is not None and row.lhs == row.rhs:
            self.model.addCons(total == row.lhs, name=name)
            return
        if row.lhs is not None:
            self.model.addCons(total >= row.lhs, name=name)
        if row.rhs is not None:
            self.model.addCons(total <= row.rhs, name=name)

    def suggest(self, chosen: Ints, heuristic: Any = None) -> Any:
        """A SCIP solution with these columns at 1."""
        solution = self.model.createSol(heuristic)
        for column in chosen.tolist():
            self.model.setSolVal(solution, self.variables[column], 1.0)
        return solution

    def stop(self, failure: BaseException | None = None) -> None:
        """End the search soon; the first exception is kept."""
        if not self.is_stopped:
            self.is_stopped = True
            self.failure = failure
            self.cost_bound_when_stopped = self.cost_bound()
        self.model.interruptSolve()


def guarded(result: int | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a plugin's callback; `result` is what SCIP hears after an exception and once the search is to end."""

    def decorate(callback: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(callback)
        def call(self: Any, *arguments: Any) -> Any:
            context: Context = self.context
            try:
                if not context.is_stopped:
                    return callback(self, *arguments)
                context.stop()
            except BaseException as failure:  # KeyboardInterrupt too: it must not cross SCIP's frames
                context.stop(failure)
            return {} if result is None else {"result": result}

        return call

    return decorate
