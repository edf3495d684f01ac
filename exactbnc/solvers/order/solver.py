"""The solver `order`: a root, then layers of order prefixes; every number that decides is whole, so optimal is proved.

It takes constraints on single families and orders; global rules are left to the ilp.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.bounds.ascent.layout import arrange
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root, incumbent_of
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, better_order, cost_table, feasible_order, order_of
from exactbnc.solvers.local_search.orders import LongSearch, families
from exactbnc.solvers.order.layers import PRICED_PER_RAISE, Search
from exactbnc.solvers.order.relaxation import Priced, Relaxation
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
WORK_BEFORE_LPS = 30_000_000
"""A second, once, where the search will be long: LPs cost more than networks that are better."""
LEAST_WORK = 200_000
"""Some milliseconds; it is not called for less."""

SECONDS_PER_RAISE = 1e-5
SECONDS_PER_FAMILY = 2e-8
"""What a raise and a family that is looked at take, roughly; measured on sponge.BDeu.3 and soybean.BDeu.3."""
LARGE_LAYER = 5_000
MUCH_WORK = 500.0
"""From a layer of that size on, where more than that much work is left by the forecast, the layers begin again with an
LP at every state."""
MOST_FAMILIES = 20_000
"""With more families left the LP of a state takes a second and more."""
LEAST_LAYERS, LEAST_WITH_LPS = 3, 4
"""From this many layers on, their growth says how many more states there will be; with LPs it falls sooner."""
SHARE_OF_FALL, SHARE_WITH_LPS = 0.75, 1.0
SLOWEST_DECAY = 0.95
MOST_STATES = 1e9
"""A layer of this size is never searched."""


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
        with closing(LayerSearch(root, report, run, n_threads=self.n_threads)) as layers:
            return layers.outcome(layers.advance() or "proved")


class LayerSearch:
    """The layers below a root, a turn at a time."""

    name = OrderSolver.name

    def __init__(
        self, root: Root, report: Report, run: Run, *, n_threads: int | None = None, may_relax: bool = True
    ) -> None:
        self.root, self.incumbent = root, root.incumbent
        self._report, self._run = report, run
        self._n_threads = n_threads
        self._may_relax = may_relax  # with an LP at every state
        self._before = 0.0, 0  # work and states before the layers began again
        self._beside: _Beside | None = None
        self._search: Search | None = None
        self._rounds: Generator[int] | None = None
        self._stopper = _Stopper(run, root.table.unit)
        self._seconds = 0.0

    def close(self) -> None:
        """Give back the layers."""
        if self._rounds is not None:
            self._rounds.close()

    def offer(self, incumbent: Incumbent) -> None:
        """Take a network that is better than the best known here."""
        if incumbent.cost < self.incumbent.cost:
            self.incumbent = incumbent
            if self._search is None:
                self.root = self.root.with_incumbent(incumbent)
            else:
                self._search.take(incumbent.cost, order_of(self.root.table, incumbent.chosen))

    @property
    def work(self) -> float:
        """What was done so far, in seconds of a usual machine; counted, so that runs can be repeated."""
        if self._search is None:
            return 0.0
        search = self._search
        n_raises = search.n_raises + search.n_priced / PRICED_PER_RAISE
        return SECONDS_PER_RAISE * n_raises + SECONDS_PER_FAMILY * search.n_looked_at

    def forecast(self) -> float:
        """The work that is left, if layers go on to grow by a ratio that falls nearly as fast as it last did."""
        search = self._search
        if search is None or len(search.sizes) < (LEAST_LAYERS if search.relaxation is None else LEAST_WITH_LPS):
            return self.work
        first, second, third = search.sizes[-3:]
        ratio = third / second
        share = SHARE_OF_FALL if search.relaxation is None else SHARE_WITH_LPS
        decay = min(1.0 - share * (1.0 - ratio * first / second), SLOWEST_DECAY)
        size, n_states = float(third), 0.0
        while 1.0 <= size < MOST_STATES:
            n_states += size
            ratio *= decay
            size *= ratio
        work, n_done = self.work - self._before[0], search.n_states - self._before[1]
        return n_states * work / max(1, n_done) if size < MOST_STATES else math.inf

    def advance(self, work: float = math.inf) -> str | None:
        """Continue for that much work: why the search ended, None if there is more to do."""
        if self.root.is_closed or self.root.stop_reason is not None:
            return self.root.stop_reason or "proved"
        clock, until = time.process_time(), self.work + work
        try:
            return self._advance(until)
        except Stopped as stop:
            return stop.reason
        finally:
            self._seconds += time.process_time() - clock

    def _advance(self, until: float) -> str | None:
        if self._search is None or self._rounds is None:
            root = self.root
            table = arrange(root.table, root.is_alive, root.cuts, root.multipliers)
            self._beside = _Beside(root.table, self._run)
            self._search = Search(table, self.incumbent.cost, root.bound, root.least_gain, self._beside)
            self._rounds = self._search.rounds(self._run, n_threads(self._n_threads), self._publish)
            if self._stopper.stops(self._search, 0):
                return self._stopper.reason
        while True:
            for n_bytes in self._rounds:
                if self._stopper.stops(self._search, n_bytes):
                    return "proved" if self._search.is_complete else self._stopper.reason
                if self._explodes(self._search):
                    break
                if self.work >= until:
                    return None
            else:
                return "proved"
            self._rounds = self._begun_again(self._search)

    def _explodes(self, search: Search) -> bool:
        """Is an LP at every state worth its time?"""
        if not self._may_relax or search.relaxation is not None or search.sizes[-1] <= LARGE_LAYER:
            return False
        return len(search.table.rows) <= MOST_FAMILIES and self.forecast() > MUCH_WORK

    def _begun_again(self, search: Search) -> Generator[int]:
        """The layers from the first one on, with an LP at every state."""
        if self._rounds is not None:
            self._rounds.close()
        if self._beside is not None:
            search.take(*self._beside.search(WORK_BEFORE_LPS))
        priced = Priced(self.root.cuts, self.root.multipliers)
        search.relaxation = Relaxation(self.root.table, search.table, priced, self._run)
        self._before = self.work, search.n_states
        return search.rounds(self._run, n_threads(self._n_threads), self._publish)

    def _publish(self) -> None:
        search = self._search
        if search is None:
            return
        if search.order is not None and search.best < self.incumbent.cost:
            self.incumbent = incumbent_of(self.root.table, search.order)
        self._report.progress(self.incumbent, search.bound, search.n_states)

    def outcome(self, reason: str) -> Outcome:
        """The best network and bound, where the search ended for that reason."""
        search, root = self._search, self.root
        return self._report.outcome(
            self.incumbent,
            root.bound if search is None else search.bound,
            method=self.name,
            stop_reason=reason,
            least_gain=root.least_gain,
            statistics=replace(root.statistics(), **{"search_seconds": 0.0, "states": 0, **self.counted()}),
        )

    def counted(self) -> dict[str, Any]:
        """Statistics of the turns."""
        return {} if self._search is None else {"search_seconds": self._seconds, "states": self._search.n_states}


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
        self._n_done += work
        return self.search(work)

    def search(self, work: int) -> tuple[int, Ints]:
        """Continue for that much work: the best order found so far, and what it costs."""
        if self._search is None:
            listed = families(self._table.child_start, self._table.masks, self._table.cost)
            self._search = LongSearch(listed, seed=self._run.seed)
        self._search.resume(work, self._run.check)
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
