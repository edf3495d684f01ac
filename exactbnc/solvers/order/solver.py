"""The solver `order`: a root, then layers of order prefixes; every number that decides is whole, so optimal is proved.

It takes constraints on single families and orders; global rules are left to the ilp.
"""

from __future__ import annotations

import time

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution
from exactbnc.solvers.bounds.ascent.arrange import arrange
from exactbnc.solvers.bounds.root.report import Report, infeasible
from exactbnc.solvers.bounds.root.root import Root, incumbent_of
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.bounds.root.watch import better_order, watched_root
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, cost_table, feasible_order
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
"""And after so many raises: by then it has mostly found what it can."""
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
            cost_table(problem)
        except ParameterError as error:
            return str(error)
        return None

    def solve(
        self, problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
    ) -> Solution:
        """A best network, proved in whole numbers; where a limit comes first, the best found and its bound."""
        began = time.monotonic()
        table = cost_table(problem)
        order = feasible_order(table)
        if order is None:
            return infeasible(problem, self.name, began)
        report = Report(problem, table, limits, listener)
        order = better_order(table, order, start)
        root = watched_root(table, order, limits, settings=self.settings, report=report, seed=seed)
        return self.finish(root, report, limits, began, seed=seed)

    def finish(self, root: Root, report: Report, limits: Limits, began: float, *, seed: int = 0) -> Solution:
        """Go on from a root; `began` is when the work on it did, by `time.monotonic`."""
        table = root.table
        stopper = _Stopper(limits, table.unit, is_interrupted=root.is_interrupted)
        search = self._search(root, report, stopper, seed)
        incumbent = root.incumbent if search.order is None else incumbent_of(table, search.order)
        score = report.score(incumbent)
        return report.solution(
            incumbent,
            bound=score if search.is_complete else report.bound(min(search.bound, incumbent.cost)),
            method=self.name,
            stop_reason="proved" if search.is_complete else stopper.reason,
            tolerance=table.tolerance + (root.least_gain - table.grain) * table.unit,
            statistics={
                **root.seconds,
                "states": search.n_states,
                "cuts": root.cuts.n_cuts,
                "n_alive": int(root.is_alive.sum()),
                "wall_seconds": time.monotonic() - began,
            },
        )

    def _search(self, root: Root, report: Report, stopper: _Stopper, seed: int) -> Search:
        """The layers below a root, none if it is closed."""
        clock = time.process_time()
        table = arrange(root.table, root.is_alive, root.cuts, root.multipliers)
        search = Search(table, root.incumbent.cost, root.bound, root.least_gain, _Beside(root.table, seed))
        if root.is_closed:
            search.is_complete = True
        elif not stopper.stops(search, 0):
            best = root.incumbent

            def tell() -> None:
                nonlocal best
                if search.order is not None and search.best < best.cost:
                    best = incumbent_of(root.table, search.order)
                report.tell(best, search.bound, search.n_states)

            with ctrl_c_calls(stopper.interrupt):
                search.run(n_threads(self.n_threads), lambda n_bytes: stopper.stops(search, n_bytes), tell)
        root.seconds["search_seconds"] = time.process_time() - clock
        return search


class _Beside:
    """Local search beside the layers, in proportion to the raises made there: a better network makes them smaller."""

    def __init__(self, table: CostTable, seed: int) -> None:
        self._table = table
        self._seed = seed
        self._n_done = 0
        self._search: LongSearch | None = None

    def __call__(self, n_raises: int) -> tuple[int, Ints] | None:
        work = WORK_PER_RAISE * min(n_raises, MANY_RAISES) + WORK_LATER * max(0, n_raises - MANY_RAISES) - self._n_done
        if work < LEAST_WORK:
            return None
        if self._search is None:
            listed = families(self._table.child_start, self._table.masks, self._table.cost)
            self._search = LongSearch(listed, seed=self._seed)
        self._search.go_on(work)
        self._n_done += work
        return self._search.cost, self._search.order


class _Stopper:
    """Knows when a search must end, and why."""

    def __init__(self, limits: Limits, unit: float, *, is_interrupted: bool) -> None:
        self._limits = limits
        self._unit = unit
        self._is_interrupted = is_interrupted
        self._memory = min(SHARE_OF_AVAILABLE * available_memory(), limits.memory_left())
        self.reason = "time"

    def interrupt(self) -> None:
        self._is_interrupted = True

    def stops(self, search: Search, n_bytes: int) -> bool:
        """Is it time to end, with that much memory needed for the layers?"""
        limits = self._limits
        reasons = {
            "interrupted": self._is_interrupted,
            "time": limits.seconds_left() <= 0,
            "memory": n_bytes > self._memory or limits.memory_left(n_bytes) <= 0,
            "nodes": limits.nodes is not None and search.n_states >= limits.nodes,
            "gap": (search.best - search.bound) * self._unit <= limits.gap,
        }
        self.reason = next((reason for reason, holds in reasons.items() if holds), self.reason)
        return any(reasons.values())
