"""Cluster cuts at fractional points: greedy growth first, the exact search when that finds none.

The inequality: sum over v in C and W' n C = {} of x(v, W) >= 1 for every cluster C.
"""

from __future__ import annotations

from pyscipopt import Sepa
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.bounds.cuts.cluster import exact_clusters, greedy_clusters
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts
from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.ilp.model.model import packed

NAME = "cluster"
PRIORITY = 100
FREQ = 1
MAX_CLUSTERS = 100
ROOT_NODE_CAP = 200_000
TREE_NODE_CAP = 20_000


class ClusterSeparator(Sepa):
    """Hands violated cluster inequalities to the LP."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def sepaexeclp(self) -> dict[str, int]:
        """Separate the LP point."""
        point = self.context.lp_point()
        clusters = greedy_clusters(point)
        if not len(clusters):
            cap = ROOT_NODE_CAP if self.model.getDepth() == 0 else TREE_NODE_CAP
            clusters, _ = exact_clusters(point, max_clusters=MAX_CLUSTERS, node_cap=cap)
        return {"result": self.context.add_cuts(cluster_cuts(packed(clusters), 1), NAME)}


def include(context: Context) -> None:
    """Add the separator to the model."""
    context.model.includeSepa(ClusterSeparator(context), NAME, "cluster cuts", priority=PRIORITY, freq=FREQ)
    context.model.setParam(f"separating/{NAME}/expbackoff", 1)  # else SCIP calls it at depths 0, 1, 4, 16, ... only
