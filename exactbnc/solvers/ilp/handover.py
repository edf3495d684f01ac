"""From the root to branch-and-cut: the columns that are left, the incumbent among them, the cuts to begin with.

A network cheaper than the root's incumbent uses only families that are alive. These and the incumbent's own become
columns, so the incumbent is a solution of the integer program and the best of its solutions is a best network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactbnc.solvers.bounds.cuts.pool import Cuts
from exactbnc.solvers.bounds.root.root import Root
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.ilp.model.model import Columns


@dataclass(frozen=True, eq=False)
class Beginning:
    """What branch-and-cut starts from: columns, a network among them, cuts, a lower bound on every cost.

    `told` is the score of the best network that the listener knows of.
    """

    columns: Columns
    start: Ints | None = None
    cuts: Cuts | None = None
    cost_bound: float = 0.0
    told: float | None = None


def hand_over(root: Root, columns: Columns) -> Beginning:
    """The beginning after a root, out of the columns of the whole problem."""
    table, chosen = root.table, root.incumbent.chosen
    is_kept = root.is_alive.copy()
    is_kept[chosen] = True
    kept = np.flatnonzero(is_kept)
    left = columns.only(table.family[kept], table.cost[kept].astype(np.float64) * table.unit)
    start = np.searchsorted(kept, chosen)
    bound = min(root.bound, root.incumbent.cost) * table.unit - table.tolerance / 2
    return Beginning(left, start, root.cuts, bound, left.score(start))
