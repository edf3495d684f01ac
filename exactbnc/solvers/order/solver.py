"""The solver `order`: a root, then layers of order prefixes; every number that decides is whole, so optimal is proved.

It takes constraints on single families and orders; global rules are left to the ilp.
"""

from __future__ import annotations

import time
from dataclasses import replace

from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.bounds.ascent.layout import arrange
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root, incumbent_of
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, better_order, cost_table, feasible_order
from exactbnc.solvers.local_search.orders import LongSearch, families
from exactbnc.solvers.order.layers import Search
from scorecache.errors import ParameterError
from scorecache.scoring.progress import n_threads
from scorecache.system.memory import available_memory

SHARE_OF_AVAILABLE = 0.6
"""Of the memory now available, the part that the layers may take."""

WORK_PER_RAISE = 60
"""Families and pairs that the local search beside the layers looks at per raise: about a tenth of the time."""
MANY_RAISES = 1_000_000
WORK_LATER = 6
"""And after this many raises: by then it has mostly found what it can."""
LEAST_WORK = 200_000
"""Some milliseconds; it is not called for less."""


class OrderSolver:
    """The search over orders with `n_threads` (None: one per core); the answer does not depend on it."""

    name = "order"

    def __init__(self, *, n_threads: int | None = None, settings: RootSettings | None = None) -> None:
        self.n_threads = n_threads
        self.settings = RootSettings(tail=SHORT) if settings is None else settings

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why the search cannot take the problem; None if it can."""
        try:
            cost_table(problem, keep_dominated=True)
        except ParameterError as error:
            return str(error)
        return None

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A best network, proved in whole numbers; where a limit comes first, the best found and its bound."""
        table = cost_table(problem)
        order = feasible_order(table)
        if order is None:
            return Outcome(self.name, "infeasible")
        report = Report(problem, table, run.events)
        root = find_root(table, better_order(table, order, run.start), run, settings=self.settings, report=report)
        return self.finish(root, report, run)

    def finish(self, root: Root, report: Report, run: Run) -> Outcome:
        """Continue from a root."""
        clock = time.process_time()
        search, reason = self._search(root, report, run)
        incumbent, bound, n_states = root.incumbent, root.bound, 0
        if search is not None:
            incumbent = root.incumbent if search.order is None else incumbent_of(root.table, search.order)
            bound, n_states = search.bound, search.n_states
        statistics = replace(root.statistics(), search_seconds=time.process_time() - clock, states=n_states)
        return report.outcome(
            incumbent,
            bound,
            method=self.name,
            stop_reason=reason,
            least_gain=root.least_gain,
            statistics=statistics,
        )

    def _search(self, root: Root, report: Report, run: Run) -> tuple[Search | None, str]:
        """The layers below a root, None if there is nothing to search, and why the search ended."""
        if root.is_closed or root.stop_reason is not None:
            return None, root.stop_reason or "proved"
        table = arrange(root.table, root.is_alive, root.cuts, root.multipliers)
        search = Search(table, root.incumbent.cost, root.bound, root.least_gain, _Beside(root.table, run))
        stopper = _Stopper(run, root.table.unit)
        best = root.incumbent

        def publish() -> None:
            nonlocal best
            if search.order is not None and search.best < best.cost:
                best = incumbent_of(root.table, search.order)
            report.progress(best, search.bound, search.n_states)

        try:
            if not stopper.stops(search, 0):
                search.search(run, n_threads(self.n_threads), lambda n_bytes: stopper.stops(search, n_bytes), publish)
        except Stopped as stop:
            return search, stop.reason
        return search, "proved" if search.is_complete else stopper.reason


class _Beside:
    """Local search beside the layers, in proportion to the raises made there: a better network makes them smaller."""

    def __init__(self, table: CostTable, run: Run) -> None:
        self._table = table
        self._run = run
        self._n_done = 0
        self._search: LongSearch | None = None

    def __call__(self, n_raises: int) -> tuple[int, Ints] | None:
        work = WORK_PER_RAISE * min(n_raises, MANY_RAISES) + WORK_LATER * max(0, n_raises - MANY_RAISES) - self._n_done
        if work < LEAST_WORK:
            return None
        if self._search is None:
            listed = families(self._table.child_start, self._table.masks, self._table.cost)
            self._search = LongSearch(listed, seed=self._run.seed)
        self._search.resume(work, self._run.check)
        self._n_done += work
        return self._search.cost, self._search.order


class _Stopper:
    """Knows when a search must end, and why."""

    def __init__(self, run: Run, unit: float) -> None:
        self._run = run
        self._unit = unit
        self._memory = min(SHARE_OF_AVAILABLE * available_memory(), run.limits.memory_left())
        self.reason = "time"

    def stops(self, search: Search, n_bytes: int) -> bool:
        """Is it time to end, with that much memory needed for the layers?"""
        limits = self._run.limits
        reason = self._run.clock.stop_reason()
        if reason is None and (n_bytes > self._memory or limits.memory_left(n_bytes) <= 0):
            reason = "memory"
        if reason is None and limits.nodes is not None and search.n_states >= limits.nodes:
            reason = "nodes"
        if reason is None and (search.best - search.bound) * self._unit <= limits.gap:
            reason = "gap"
        self.reason = reason or self.reason
        return reason is not None
