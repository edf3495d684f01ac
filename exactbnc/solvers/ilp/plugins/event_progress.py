"""Publishes how far the search is, after cuts, LPs and nodes."""

from __future__ import annotations

from typing import Any

from pyscipopt import Eventhdlr
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE

from exactbnc.solvers.ilp.model.context import Context, guarded

NAME = "progress"


class ProgressEvents(Eventhdlr):
    """Called for cuts, solved LPs and nodes."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(None)
    def eventinit(self) -> None:
        """Subscribe."""
        # an LP counts as solved only after its last round of cuts, so a long root shows through the cuts
        self.model.catchEvent(SCIP_EVENTTYPE.ROWADDEDSEPA, self)
        self.model.catchEvent(SCIP_EVENTTYPE.LPSOLVED, self)
        self.model.catchEvent(SCIP_EVENTTYPE.NODESOLVED, self)

    @guarded(None)
    def eventexec(self, event: Any) -> None:
        """Report, unless the last report is recent."""
        events, context = self.context.run.events, self.context
        if events.is_due():
            bound = context.columns.constant - context.cost_bound()
            if events.score is not None:
                bound = max(bound, events.score)
            events.progress(events.score, bound, nodes=int(self.model.getNTotalNodes()), cuts=context.n_cuts)


def include(context: Context) -> None:
    """Add the event handler to the model."""
    context.model.includeEventhdlr(ProgressEvents(context), NAME, "publishes progress")
