"""A root that Ctrl-C, or a listener's KeyboardInterrupt, ends early without losing what was found."""

from __future__ import annotations

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.limits import Limits
from exactbnc.solvers.bounds.cuts.pool import no_cuts
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root, incumbent_of
from exactbnc.solvers.bounds.root.settings import RootSettings
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, families_in_order


def watched_root(
    table: CostTable, order: Ints, limits: Limits, *, settings: RootSettings, report: Report, seed: int
) -> Root:
    """The root, told to the report; where it was interrupted, the best network and bound so far."""
    watch = _Watch(table, order, report)
    try:
        with ctrl_c_calls(watch.interrupt):
            return find_root(
                table,
                order,
                limits,
                seed=seed,
                settings=settings,
                tell=watch.tell,
                earlier=report.known_cuts(),
                keep=report.keep_cuts,
            )
    except KeyboardInterrupt:
        return watch.unfinished()


def better_order(table: CostTable, order: Ints, start: DAG | None) -> Ints:
    """The order of a start network if every variable has a family in it, else the order given."""
    if start is None:
        return order
    own = np.array(start.order, dtype=np.int64)
    return own if np.all(families_in_order(table, own) >= 0) else order


class _Watch:
    """Remembers the best network and bound, and ends the root soon after an interrupt."""

    def __init__(self, table: CostTable, order: Ints, report: Report) -> None:
        self._table = table
        self._report = report
        self._incumbent = incumbent_of(table, order)
        self._bound = 0
        self._is_interrupted = False

    def interrupt(self) -> None:
        self._is_interrupted = True

    def tell(self, incumbent: Incumbent, bound: int) -> None:
        if incumbent.cost < self._incumbent.cost:
            self._incumbent = incumbent
        self._bound = max(self._bound, bound)
        self._report.tell(incumbent, bound)
        if self._is_interrupted:
            raise KeyboardInterrupt

    def unfinished(self) -> Root:
        """A root without cuts; its bound is one that was told."""
        return Root(
            table=self._table,
            incumbent=self._incumbent,
            cuts=no_cuts(self._table.n_words),
            multipliers=np.zeros(0, dtype=np.int64),
            bound=self._bound,
            is_alive=np.ones(self._table.n_families, dtype=np.bool_),
            is_closed=False,
            is_interrupted=True,
            least_gain=self._table.grain,
            lp_cuts=no_cuts(self._table.n_words),
            seconds={},
        )
