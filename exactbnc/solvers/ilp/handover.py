"""From the root to branch-and-cut: the columns that are left, the incumbent among them, the cuts to begin with.

A network cheaper than the root's incumbent uses only families that are alive. These and the incumbent's own become
columns, so the incumbent is a solution of the integer program and the best of its solutions is a best network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactbnc.limits import Limits
from exactbnc.solvers.graph import Ints
from exactbnc.solvers.ilp.model import Columns
from exactbnc.solvers.interrupt import ctrl_c_calls
from exactbnc.solvers.root.cuts import Cuts
from exactbnc.solvers.root.lp import Incumbent, RootSettings
from exactbnc.solvers.root.report import Report
from exactbnc.solvers.root.root import Root, find_root, incumbent_of
from exactbnc.solvers.table import CostTable


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
    left = columns.only(table.family[kept], table.cost[kept] * table.unit)
    start = np.searchsorted(kept, chosen)
    bound = min(root.bound, root.incumbent.cost) * table.unit - table.tolerance / 2
    return Beginning(left, start, root.cuts, bound, left.score(start))


class RootWatch:
    """Runs the root; Ctrl-C, or a KeyboardInterrupt of the listener, keeps the best network and bound."""

    def __init__(self, table: CostTable, order: Ints, report: Report) -> None:
        self.table = table
        self.order = order
        self.incumbent = incumbent_of(table, order)
        self.bound = 0
        self._report = report
        self._is_interrupted = False

    def run(self, limits: Limits, settings: RootSettings, seed: int) -> Root | None:
        """The root; None if it was interrupted."""
        try:
            with ctrl_c_calls(self._interrupt):
                return find_root(self.table, self.order, limits, seed=seed, settings=settings, tell=self._tell)
        except KeyboardInterrupt:
            return None

    def _interrupt(self) -> None:
        self._is_interrupted = True

    def _tell(self, incumbent: Incumbent, bound: int) -> None:
        if incumbent.cost < self.incumbent.cost:
            self.incumbent = incumbent
        self.bound = max(self.bound, bound)
        self._report.tell(incumbent, bound)
        if self._is_interrupted:
            raise KeyboardInterrupt
