"""Cluster cuts with k = 2 at fractional points, by growth from every arc (`exactbnc.solvers.bounds.cuts.two_cluster`).

The inequality: sum over v in C and |W' n C| < 2 of x(v, W) >= 2 for every cluster C of at least three variables.
"""

from __future__ import annotations

import numpy as np
from pyscipopt import Sepa
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.bounds.cuts.pool import cluster_cuts
from exactbnc.solvers.bounds.cuts.two_cluster import grown_clusters
from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.ilp.model.model import packed

NAME = "two_cluster"
PRIORITY = 90
FREQ = 1
MAX_CLUSTERS = 100


class TwoClusterSeparator(Sepa):
    """Hands the most violated inequalities to the LP."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def sepaexeclp(self) -> dict[str, int]:
        """Separate the LP point."""
        clusters, violation = grown_clusters(self.context.lp_point(), 2)
        worst = np.argsort(-violation, kind="stable")[:MAX_CLUSTERS]
        return {"result": self.context.add_cuts(cluster_cuts(packed(clusters[worst]), 2), NAME)}


def include(context: Context) -> None:
    """Add the separator to the model."""
    context.model.includeSepa(TwoClusterSeparator(context), NAME, "2-cluster cuts", priority=PRIORITY, freq=FREQ)
    context.model.setParam(f"separating/{NAME}/expbackoff", 1)  # else SCIP calls it at depths 0, 1, 4, 16, ... only
