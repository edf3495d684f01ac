"""Cluster cuts with k = 1 and 2 at fractional points: grown, and by exact search where no cluster with k = 1 is grown.

The inequality: sum over v in C and |W' n C| < k of x(v, W) >= k for every cluster C of more than k variables.
"""

from __future__ import annotations

import numpy as np
from pyscipopt import Sepa
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.bounds.cuts.cluster import Bools, Floats, exact_clusters
from exactbnc.solvers.bounds.cuts.grown import grown_clusters
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts, joined
from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.ilp.model.model import packed

NAME = "cluster"
PRIORITY = 100
FREQ = 1
MAX_CLUSTERS = 30
"""Of each k in a round: SCIP takes about ten of the cuts that it is handed, and each costs a tenth of a millisecond."""
ROOT_NODE_CAP = 200_000
TREE_NODE_CAP = 20_000


class ClusterSeparator(Sepa):
    """Hands violated cluster inequalities to the LP, the most violated ones of each k."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def sepaexeclp(self) -> dict[str, int]:
        """Separate the LP point."""
        point = self.context.lp_point()
        of_one = _most_violated(*grown_clusters(point, 1))
        if not len(of_one):
            cap = ROOT_NODE_CAP if self.model.getDepth() == 0 else TREE_NODE_CAP
            of_one, _ = exact_clusters(point, max_clusters=MAX_CLUSTERS, node_cap=cap)
        of_two = _most_violated(*grown_clusters(point, 2))
        cuts = joined(cluster_cuts(packed(of_one), 1), cluster_cuts(packed(of_two), 2))
        return {"result": self.context.add_cuts(cuts, NAME)}


def _most_violated(clusters: Bools, violation: Floats) -> Bools:
    return clusters[np.argsort(-violation, kind="stable")[:MAX_CLUSTERS]]


def include(context: Context) -> None:
    """Add the separator to the model."""
    context.model.includeSepa(ClusterSeparator(context), NAME, "cluster cuts", priority=PRIORITY, freq=FREQ)
    context.model.setParam(f"separating/{NAME}/expbackoff", 1)  # else SCIP calls it at depths 0, 1, 4, 16, ... only
