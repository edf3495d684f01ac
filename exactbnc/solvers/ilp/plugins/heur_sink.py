"""Networks from LP points: the order by sinks of `exactbnc.solvers.local_search.sink`, after every LP."""

from __future__ import annotations

from pyscipopt import Heur
from pyscipopt.scip import PY_SCIP_HEURTIMING as SCIP_HEURTIMING
from pyscipopt.scip import PY_SCIP_LPSOLSTAT as SCIP_LPSOLSTAT
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.local_search.sink import best_families, sink_order

NAME = "sink"
PRIORITY = 10_000
FREQ = 1
TIMING = SCIP_HEURTIMING.DURINGLPLOOP | SCIP_HEURTIMING.AFTERLPNODE


class SinkHeuristic(Heur):
    """Suggests a network that follows the LP point, where it is cheaper than the incumbent."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def heurexec(self, heurtiming: int, nodeinfeasible: bool) -> dict[str, int]:
        """Round the LP point."""
        context, columns = self.context, self.context.columns
        if self.model.getLPSolstat() != SCIP_LPSOLSTAT.OPTIMAL:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        order = sink_order(columns.child_start, columns.before_start, columns.before, context.lp_values())
        if order is None:
            return {"result": SCIP_RESULT.DIDNOTFIND}
        chosen = best_families(columns.child_start, columns.before_start, columns.before, order)
        if chosen is None or float(columns.cost[chosen].sum()) >= self.model.getPrimalbound():
            return {"result": SCIP_RESULT.DIDNOTFIND}
        if any(context.transformed[column].getUbGlobal() < 0.5 for column in chosen.tolist()):
            return {"result": SCIP_RESULT.DIDNOTFIND}
        if context.is_local:  # SCIP does not store what is better by less than its tolerances
            context.publish(chosen)
        is_stored = self.model.trySol(context.suggest(chosen, self), printreason=False)
        return {"result": SCIP_RESULT.FOUNDSOL if is_stored else SCIP_RESULT.DIDNOTFIND}


def include(context: Context) -> None:
    """Add the heuristic to the model."""
    context.model.includeHeur(
        SinkHeuristic(context), NAME, "order by sinks", "s", priority=PRIORITY, freq=FREQ, timingmask=TIMING
    )
