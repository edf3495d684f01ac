"""Tells the listener of every better network."""

from __future__ import annotations

from typing import Any

from pyscipopt import Eventhdlr
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE

from exactbnc.solvers.ilp.model.context import Context, guarded

NAME = "incumbent"


class IncumbentEvents(Eventhdlr):
    """Hears of new best solutions."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(None)
    def eventinit(self) -> None:
        """Subscribe."""
        self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

    @guarded(None)
    def eventexec(self, event: Any) -> None:
        """Report the network."""
        context, columns = self.context, self.context.columns
        chosen = columns.chosen(context.values(self.model.getBestSol()))
        if chosen is None or (context.incumbent is not None and columns.score(chosen) <= context.incumbent):
            return
        context.incumbent = columns.score(chosen)
        if context.listener is not None:
            context.listener.on_incumbent(columns.dag(chosen), context.incumbent)


def include(context: Context) -> None:
    """Add the event handler to the model."""
    context.model.includeEventhdlr(IncumbentEvents(context), NAME, "tells the listener of better networks")
