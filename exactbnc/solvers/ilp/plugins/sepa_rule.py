"""Rows of the rules on ancestors and immoralities at fractional points (`exactbnc.solvers.ilp.model.rule_rows`)."""

from __future__ import annotations

from pyscipopt import Sepa
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.ilp.model.rule_rows import violated_rule_rows

NAME = "rule"
PRIORITY = 90
FREQ = 1


class RuleSeparator(Sepa):
    """Hands violated rows of the rules to the LP."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def sepaexeclp(self) -> dict[str, int]:
        """Separate the LP point."""
        context = self.context
        rows = list(violated_rule_rows(context.columns, context.lp_values(), context.rules))
        for row in rows:
            if context.add_cut(row, NAME, is_forced=False):
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED if rows else SCIP_RESULT.DIDNOTFIND}


def include(context: Context) -> None:
    """Add the separator to the model, if there is a rule of its kind."""
    rules = context.rules
    if rules.required_ancestors or rules.forbidden_ancestors or rules.chordal:
        context.model.includeSepa(RuleSeparator(context), NAME, "rules", priority=PRIORITY, freq=FREQ)
        context.model.setParam(f"separating/{NAME}/expbackoff", 1)
