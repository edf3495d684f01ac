"""The constraint handler that every answer must pass: acyclic, and every rule kept that is not linear.

    sum over v in C and W' n C = {} of x(v, W) >= 1 for every cluster C

is enforced on integral points only, by a cluster per cycle, together with the other rows of
`exactbnc.solvers.ilp.model.integral`. Correctness rests here alone: fractional points are cut by optional plugins.
"""

from __future__ import annotations

from typing import Any

from pyscipopt import Conshdlr
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.ilp.model.integral import violated_rows
from exactbnc.solvers.ilp.model.model import Floats, Row

NAME = "acyclic"
ENFORCE_PRIORITY = -10
"""After integrality: only integral points are enforced."""
CHECK_PRIORITY = -10


class AcyclicHandler(Conshdlr):
    """Checks and enforces on integral points; SCIP knows it by its locks."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.INFEASIBLE)
    def consenfolp(self, constraints: Any, nusefulconss: int, solinfeasible: bool) -> dict[str, int]:
        """Cut off the LP point by all rows that it violates."""
        rows = self._violated(self.context.lp_values())
        if rows is None:
            return {"result": SCIP_RESULT.INFEASIBLE}
        is_infeasible = False
        for row in rows:
            is_infeasible |= self.context.add_cut(row, NAME, is_forced=True)
        if is_infeasible:
            return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED if rows else SCIP_RESULT.FEASIBLE}

    @guarded(SCIP_RESULT.INFEASIBLE)
    def consenfops(
        self, constraints: Any, nusefulconss: int, solinfeasible: bool, objinfeasible: bool
    ) -> dict[str, int]:
        """There is no LP to cut: the violated rows become constraints."""
        rows = self._violated(self.context.pseudo_values())
        if rows is None:
            return {"result": SCIP_RESULT.INFEASIBLE}
        for row in rows:
            if not len(row.columns):
                return {"result": SCIP_RESULT.CUTOFF}
            self.context.add_row(row, NAME)
        return {"result": SCIP_RESULT.CONSADDED if rows else SCIP_RESULT.FEASIBLE}

    @guarded(SCIP_RESULT.INFEASIBLE)
    def conscheck(
        self,
        constraints: Any,
        solution: Any,
        checkintegrality: bool,
        checklprows: bool,
        printreason: bool,
        completely: bool,
    ) -> dict[str, int]:
        """Judge the solution that is passed in."""
        rows = self._violated(self.context.values(solution))
        return {"result": SCIP_RESULT.FEASIBLE if rows == [] else SCIP_RESULT.INFEASIBLE}

    def conslock(self, constraint: Any, locktype: int, nlockspos: int, nlocksneg: int) -> None:
        """Rounding any column up or down may break a rule."""
        both = nlockspos + nlocksneg
        for variable in self.context.variables:
            self.model.addVarLocksType(variable, locktype, both, both)

    def _violated(self, values: Floats) -> list[Row] | None:
        """The violated rows; None for a fractional point."""
        chosen = self.context.columns.chosen(values)
        if chosen is None:
            return None
        return list(violated_rows(self.context.columns, self.context.rules, chosen))


def include(context: Context) -> None:
    """Add the handler to the model."""
    context.model.includeConshdlr(
        AcyclicHandler(context),
        NAME,
        "acyclicity, precedence, ancestors and shape",
        enfopriority=ENFORCE_PRIORITY,
        chckpriority=CHECK_PRIORITY,
        sepafreq=-1,
        propfreq=-1,
        needscons=False,
    )
