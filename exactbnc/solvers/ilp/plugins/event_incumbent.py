"""Publishes every better network."""

from __future__ import annotations

from typing import Any

from pyscipopt import Eventhdlr
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE

from exactbnc.solvers.ilp.model.context import Context, guarded

NAME = "incumbent"


class IncumbentEvents(Eventhdlr):
    """Called for new best solutions."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(None)
    def eventinit(self) -> None:
        """Subscribe."""
        self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

    @guarded(None)
    def eventexec(self, event: Any) -> None:
        """Report the network."""
        chosen = self.context.columns.chosen(self.context.values(self.model.getBestSol()))
        if chosen is not None:
            self.context.publish(chosen)


def include(context: Context) -> None:
    """Add the event handler to the model."""
    context.model.includeEventhdlr(IncumbentEvents(context), NAME, "publishes better networks")
