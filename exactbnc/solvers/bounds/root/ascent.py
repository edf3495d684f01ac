"""Multipliers without an LP: dual ascent at the empty prefix, from several orders of the variables.

Which minimal cluster is found depends on the order in which variables are tried; the best of a few random orders is
kept (`exactbnc.solvers.bounds.ascent`).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from exactbnc.run.solver import Run
from exactbnc.run.worker import Worker
from exactbnc.solvers.bounds.ascent._kernels import ascend_from
from exactbnc.solvers.bounds.ascent.arrange import arrange
from exactbnc.solvers.bounds.ascent.layout import MEMBERS, RAISED, make_workspace
from exactbnc.solvers.bounds.cuts.pool import Cuts, cluster_cuts, no_cuts
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable

N_TRIES = 5
ENDLESS = 1 << 61
"""More than any sum of costs, so that an ascent ends only where it must."""
MANY_VARIABLES = 128
"""With more of them one try takes seconds, and the LP does better."""


def ascent_cuts(table: CostTable, run: Run) -> tuple[Cuts, Ints]:
    """Cluster cuts and their multipliers; together they bound the cost of every network from below."""
    arranged = arrange(table, np.ones(table.n_families, dtype=np.bool_), no_cuts(table.n_words), np.zeros(0, np.int64))
    workspace = make_workspace(arranged)
    nothing = np.zeros((1, table.n_words), dtype=np.int64)
    random = np.random.default_rng(run.seed)
    best, best_left = np.zeros((0, MEMBERS + table.n_words), dtype=np.int64), ENDLESS
    with Worker(run, workspace.stop) as worker:
        for _ in range(N_TRIES if table.n_vars <= MANY_VARIABLES else 1):
            run.check()
            ascend = partial(ascend_from, arranged, workspace, nothing, ENDLESS, random.permutation(table.n_vars))
            left, n_raises = worker(ascend)
            if left < best_left:
                best, best_left = workspace.raises[:n_raises].copy(), left
    masks, which = np.unique(best[:, MEMBERS:], axis=0, return_inverse=True)
    multipliers = np.zeros(len(masks), dtype=np.int64)
    np.add.at(multipliers, which.ravel(), best[:, RAISED])
    return cluster_cuts(np.ascontiguousarray(masks).view(np.uint64), 1), multipliers
