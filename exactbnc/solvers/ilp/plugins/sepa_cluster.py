"""Cluster cuts at fractional points: greedy growth first, the exact search when that finds none.

The inequality: sum over v in C and W' n C = {} of x(v, W) >= 1 for every cluster C.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pyscipopt import Sepa
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.cuts.cluster import Point, exact_clusters, greedy_clusters
from exactbnc.solvers.ilp.context import Context, guarded
from exactbnc.solvers.ilp.integral import cluster_row
from exactbnc.solvers.ilp.model import Columns, Floats

NAME = "cluster"
PRIORITY = 100
FREQ = 1
MAX_CLUSTERS = 100
ROOT_NODE_CAP = 200_000
TREE_NODE_CAP = 20_000
SUPPORT = 1e-6
"""Columns below this value are taken as 0."""


class ClusterSeparator(Sepa):
    """Hands violated cluster inequalities to the LP."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def sepaexeclp(self) -> dict[str, int]:
        """Separate the LP point."""
        point = support(self.context.columns, self.context.lp_values())
        clusters = greedy_clusters(point)
        if not len(clusters):
            cap = ROOT_NODE_CAP if self.model.getDepth() == 0 else TREE_NODE_CAP
            clusters, _ = exact_clusters(point, max_clusters=MAX_CLUSTERS, node_cap=cap)
        for cluster in clusters:
            row = cluster_row(self.context.columns, np.flatnonzero(cluster))
            if self.context.add_cut(row, NAME, is_forced=False):
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED if len(clusters) else SCIP_RESULT.DIDNOTFIND}


def support(columns: Columns, values: Floats) -> Point:
    """The columns with positive value, with the members of W'."""
    positive = np.flatnonzero(values > SUPPORT)
    sizes = np.diff(columns.before_start)[positive]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries: Any = np.repeat(columns.before_start[positive] - start[:-1], sizes) + np.arange(start[-1])
    return Point(columns.n_vars, columns.child[positive], values[positive], start, columns.before[entries])


def include(context: Context) -> None:
    """Add the separator to the model."""
    context.model.includeSepa(ClusterSeparator(context), NAME, "cluster cuts", priority=PRIORITY, freq=FREQ)
