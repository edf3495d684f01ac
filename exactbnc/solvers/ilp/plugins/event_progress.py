"""Tells the listener how far the search is, after cuts, LPs and nodes, now and then; looks at time and memory too."""

from __future__ import annotations

import time
from typing import Any

from pyscipopt import Eventhdlr
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE

from exactbnc.run.events import Progress
from exactbnc.solvers.ilp.model.context import Context, guarded

NAME = "progress"
SECONDS_BETWEEN = 0.25


class ProgressEvents(Eventhdlr):
    """Hears of cuts, solved LPs and nodes."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.last = float("-inf")

    @guarded(None)
    def eventinit(self) -> None:
        """Subscribe."""
        # an LP counts as solved only after its last round of cuts, so a long root is heard through the cuts
        self.model.catchEvent(SCIP_EVENTTYPE.ROWADDEDSEPA, self)
        self.model.catchEvent(SCIP_EVENTTYPE.LPSOLVED, self)
        self.model.catchEvent(SCIP_EVENTTYPE.NODESOLVED, self)

    @guarded(None)
    def eventexec(self, event: Any) -> None:
        """Report, unless the last report is recent."""
        context, now = self.context, time.monotonic()
        if now - self.last < SECONDS_BETWEEN:
            return
        self.last = now
        # SCIP waits in vain where the time of day was set back
        if context.limits.seconds_left() <= 0:
            context.limit_reached = "timelimit"
            context.stop()
        # SCIP counts its own memory alone; the LPs and what Python holds come on top
        elif context.limits.memory_left() <= 0:
            context.limit_reached = "memlimit"
            context.stop()
        if context.listener is None:
            return
        bound = context.columns.constant - context.cost_bound()
        if context.incumbent is not None:
            bound = max(bound, context.incumbent)
        seconds = now - context.limits.started
        n_nodes = int(self.model.getNTotalNodes())
        context.listener.on_progress(Progress(seconds, context.incumbent, bound, n_nodes, context.n_cuts))


def include(context: Context) -> None:
    """Add the event handler to the model."""
    context.model.includeEventhdlr(ProgressEvents(context), NAME, "tells the listener of progress")
