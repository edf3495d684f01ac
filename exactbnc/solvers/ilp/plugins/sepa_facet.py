"""Facets of four variables at fractional points, when other separators found nothing (`bounds.cuts.facets`).

The inequality: sum over v in C of a(v, W' n C) x(v, W) >= rho for every facet (a, rho) and four variables C.
"""

from __future__ import annotations

from pyscipopt import Sepa
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.bounds.cuts.facets import violated_facets
from exactbnc.solvers.bounds.cuts.pool import facet_cuts
from exactbnc.solvers.ilp.model.context import Context, guarded

NAME = "facet"
PRIORITY = 80
FREQ = 1
MAX_FACETS = 30
"""In a round, as of the clusters (`sepa_cluster`)."""
IS_DELAYED = True


class FacetSeparator(Sepa):
    """Hands the most violated facets to the LP."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def sepaexeclp(self) -> dict[str, int]:
        """Separate the LP point."""
        violated = violated_facets(self.context.lp_point(), max_facets=MAX_FACETS, check=self.context.run.check)
        n_words = self.context.columns.masks.shape[1]
        return {"result": self.context.add_cuts(facet_cuts(violated.members, violated.facet, n_words), NAME)}


def include(context: Context) -> None:
    """Add the separator to the model."""
    context.model.includeSepa(
        FacetSeparator(context), NAME, "facets of four variables", priority=PRIORITY, freq=FREQ, delay=IS_DELAYED
    )
    context.model.setParam(f"separating/{NAME}/expbackoff", 1)  # else SCIP calls it at depths 0, 1, 4, 16, ... only
