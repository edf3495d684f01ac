"""Fixes the families that no acyclic network below the node can use, and ends nodes without a network.

A family (v, W) goes unless all of W' can be placed before v by families that are possible at the node
(`exactbnc.solvers.bounds.cuts.consistency`).
"""

from __future__ import annotations

import numpy as np
from pyscipopt import Prop
from pyscipopt.scip import PY_SCIP_PROPTIMING as SCIP_PROPTIMING
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.bounds.cuts.consistency import consistent_families
from exactbnc.solvers.ilp.model.context import Context, guarded

NAME = "order"
PRIORITY = -10
"""After SCIP's own: those fix the other families of a child first."""
FREQ = 1


class OrderPropagator(Prop):
    """Reads the local bounds, and fixes columns to 0; the same bounds are not looked at twice."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.last = np.zeros(0, dtype=np.bool_)

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def propexec(self, proptiming: int) -> dict[str, int]:
        """Propagate the node."""
        context, columns = self.context, self.context.columns
        is_possible = context.is_possible()
        if np.array_equal(is_possible, self.last):
            return {"result": SCIP_RESULT.DIDNOTFIND}
        is_consistent = consistent_families(columns.child_start, columns.masks, is_possible)
        if is_consistent is None:
            return {"result": SCIP_RESULT.CUTOFF}
        self.last = is_consistent
        ruled_out = np.flatnonzero(is_possible & ~is_consistent).tolist()
        for column in ruled_out:
            is_infeasible, _ = self.model.tightenVarUb(context.transformed[column], 0.0)
            if is_infeasible:
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.REDUCEDDOM if ruled_out else SCIP_RESULT.DIDNOTFIND}


def include(context: Context) -> None:
    """Add the propagator to the model."""
    context.model.includeProp(
        OrderPropagator(context),
        NAME,
        "families that fit into no order",
        presolpriority=0,
        presolmaxrounds=0,
        proptiming=SCIP_PROPTIMING.BEFORELP,
        priority=PRIORITY,
        freq=FREQ,
        delay=False,
    )
