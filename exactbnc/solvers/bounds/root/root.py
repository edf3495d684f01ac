"""What every search begins with: a good network, multipliers, a bound, and the families that are left.

1. Local search over orders finds a network; nothing helps more than a good one.
2. Dual ascent gives the first cluster cuts and multipliers, unless an earlier run left better ones; where there are
   many families, the volume algorithm improves them before the LP, whose first rounds are slow then.
3. The LP raises the bound until it is closed or the search that follows would do better; families that no cheaper
   network can use leave. Orders that follow LP points are improved by local search.
4. If it is still open, the local search continues from the best network.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.limits import Stopped
from exactbnc.run.solution import Statistics
from exactbnc.run.solver import Run
from exactbnc.run.worker import Worker
from exactbnc.solvers.bounds.ascent._kernels import ascend_from
from exactbnc.solvers.bounds.ascent.layout import MEMBERS, RAISED, arrange, make_workspace
from exactbnc.solvers.bounds.cuts.pool import Cuts, cluster_cuts, no_cuts, reduced_costs
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.bounds.root.state import Hooks, Incumbent, RootResult
from exactbnc.solvers.bounds.root.volume import solve_root_by_volume
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, families_in_order, order_of
from exactbnc.solvers.local_search.orders import Effort, Families, families, improve, search_orders

FIRST_EFFORT = Effort(n_chains=1, kicks_per_var=5)
LEAST_EFFORT = Effort(n_chains=1, kicks_per_var=1)
SECOND_EFFORT = Effort(n_chains=1, kicks_per_var=20)
"""Before the LP, with many variables, and after the LP where a search over orders follows.

The LP finds good networks by itself; so does branch-and-cut, for which the first effort is enough."""
MANY_VARIABLES = 128
"""With more of them one dual ascent takes seconds, and the LP does better."""
N_TRIES = 5
"""Orders in which dual ascent tries the variables: which minimal cluster it finds depends on that; the best is kept.

Only one where it takes seconds: with many variables, and with many families, where better multipliers follow."""
ENDLESS = 1 << 61
"""More than any sum of costs, so that an ascent ends only where it must."""
MANY_FAMILIES = 100_000
FAMILIES_PER_ROUND = 10_000
"""With more than MANY_FAMILIES, and not too many variables, the volume algorithm precedes the LP, for one round per
FAMILIES_PER_ROUND at most: the more families there are, the slower is the LP."""


@dataclass(frozen=True, eq=False)
class Root:
    """Every network cheaper than the incumbent costs at least `bound` and uses only families that are alive.

    `multipliers` on `cuts` prove the bound over these; closed: there is no cheaper network. Cheaper means by at least
    `least_gain`. The last LP had the rows `lp_cuts`; `seconds` is CPU time by phase. `stop_reason` says why the work at
    the root ended early, None if it did not.
    """

    table: CostTable
    incumbent: Incumbent
    cuts: Cuts
    multipliers: Ints
    bound: int
    is_alive: NDArray[np.bool_]
    is_closed: bool
    stop_reason: str | None
    least_gain: int
    lp_cuts: Cuts
    seconds: dict[str, float]

    def statistics(self) -> Statistics:
        """What the work at the root took and left."""
        return Statistics(
            ascent_seconds=self.seconds.get("ascent_seconds"),
            primal_seconds=self.seconds.get("primal_seconds"),
            lp_seconds=self.seconds.get("lp_seconds"),
            cuts=self.cuts.n_cuts,
            n_alive=int(self.is_alive.sum()),
        )

    def with_incumbent(self, incumbent: Incumbent) -> Root:
        """The root with a better network: more families go."""
        if incumbent.cost >= self.incumbent.cost:
            return self
        alive = np.flatnonzero(self.is_alive)
        left = self.table.without(~self.is_alive)
        reduced = reduced_costs(left, self.cuts, self.multipliers)
        stays = reduced.bound + reduced.cost <= incumbent.cost - self.least_gain
        is_alive = np.zeros_like(self.is_alive)
        is_alive[alive[stays]] = True
        is_closed = len(np.unique(left.child[stays])) < self.table.n_vars
        return replace(self, incumbent=incumbent, is_alive=is_alive, is_closed=is_closed)


def find_root(table: CostTable, order: Ints, run: Run, *, settings: RootSettings, report: Report | None = None) -> Root:
    """The root of a table, from an order in which every variable has a family.

    Where the run has to stop first, it has the best network and bound so far, and no cuts.
    """
    rooting = _Rooting(table, order, run, settings, report)
    try:
        return rooting.root()
    except Stopped as stop:
        return rooting.unfinished(stop.reason)


class _Rooting:
    """The work at one root: the steps above, and the best network and bound on the way."""

    def __init__(self, table: CostTable, order: Ints, run: Run, settings: RootSettings, report: Report | None) -> None:
        self.table, self.order, self.run, self.settings, self.report = table, order, run, settings, report
        self.incumbent, self.bound = incumbent_of(table, order), 0
        self.seconds: dict[str, float] = {}

    def root(self) -> Root:
        table, run, seconds = self.table, self.run, self.seconds
        self._publish(0, self.incumbent)
        earlier = None if self.report is None else self.report.known_cuts()
        on_cuts = None if self.report is None else self.report.cuts
        is_large = table.n_vars > MANY_VARIABLES
        with _timed(seconds, "ascent_seconds"):
            cuts, multipliers = ascent_cuts(table, run) if earlier is None else earlier
            bound = reduced_costs(table, cuts, multipliers).bound
        with _timed(seconds, "primal_seconds"):
            run.check()
            searched = families(table.child_start, table.masks, table.cost)
            effort = LEAST_EFFORT if is_large else FIRST_EFFORT
            incumbent = self._searched(searched, self.order, effort, bound, run.seed)
            if on_cuts is not None:
                on_cuts(cuts, multipliers)
            self._publish(bound, incumbent)

        def improved(guess: Ints) -> Ints:
            return improve(searched, guess, seed=run.seed, check=run.check)[0]

        result = None
        if table.n_families > MANY_FAMILIES and not is_large and earlier is None:
            with _timed(seconds, "ascent_seconds"):
                result = solve_root_by_volume(
                    table,
                    cuts,
                    multipliers,
                    incumbent,
                    run,
                    settings=self.settings,
                    most_rounds=table.n_families // FAMILIES_PER_ROUND + 1,
                    hooks=Hooks(improved, self._publish),
                )
            cuts, multipliers, incumbent = result.cuts, result.multipliers, result.incumbent
            if on_cuts is not None:
                on_cuts(cuts, multipliers)
        if result is None or not result.is_closed:
            with _timed(seconds, "lp_seconds"):
                result = solve_root(
                    table,
                    cuts,
                    multipliers,
                    incumbent,
                    run,
                    settings=self.settings,
                    hooks=Hooks(improved, self._publish, on_cuts),
                )
        self._publish(result.bound, result.incumbent)
        root = _root(table, result, self.settings, seconds)
        if root.is_closed:
            return root
        with _timed(seconds, "primal_seconds"):
            known = order_of(table, root.incumbent.chosen)
            if not is_large and self.settings.tail == SHORT:
                effort = SECOND_EFFORT
            incumbent = self._searched(searched, known, effort, root.bound, run.seed + 1)
            self._publish(root.bound, incumbent)
        return root.with_incumbent(incumbent)

    def unfinished(self, reason: str) -> Root:
        table = self.table
        return Root(
            table=table,
            incumbent=self.incumbent,
            cuts=no_cuts(table.n_words),
            multipliers=np.zeros(0, dtype=np.int64),
            bound=self.bound,
            is_alive=np.ones(table.n_families, dtype=np.bool_),
            is_closed=False,
            stop_reason=reason,
            least_gain=table.grain,
            lp_cuts=no_cuts(table.n_words),
            seconds=self.seconds,
        )

    def _publish(self, bound: int, incumbent: Incumbent) -> None:
        if incumbent.cost < self.incumbent.cost:
            self.incumbent = incumbent
        self.bound = max(self.bound, bound)
        if self.report is not None:
            self.report.progress(incumbent, bound)

    def _searched(self, searched: Families, order: Ints, effort: Effort, target: int, seed: int) -> Incumbent:
        """The best network that local search finds from an order."""
        clock = self.run.clock
        found = search_orders(searched, start=order, seed=seed, effort=effort, clock=clock, target=target)
        return incumbent_of(self.table, order if found is None else found.order)


def _root(table: CostTable, result: RootResult, settings: RootSettings, seconds: dict[str, float]) -> Root:
    return Root(
        table=table,
        incumbent=result.incumbent,
        cuts=result.cuts,
        multipliers=result.multipliers,
        bound=result.bound,
        is_alive=result.is_alive,
        is_closed=result.is_closed,
        stop_reason=None,
        least_gain=max(table.grain, settings.least_gain),
        lp_cuts=result.lp_cuts,
        seconds=seconds,
    )


def incumbent_of(table: CostTable, order: Ints) -> Incumbent:
    """The network of an order in which every variable has a family."""
    chosen = families_in_order(table, order)
    return Incumbent(chosen, int(table.cost[chosen].sum()))


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    """Note the CPU seconds of a phase."""
    clock = time.process_time()
    try:
        yield
    finally:
        seconds[phase] = seconds.get(phase, 0.0) + time.process_time() - clock


def ascent_cuts(table: CostTable, run: Run) -> tuple[Cuts, Ints]:
    """Cluster cuts and their multipliers; together they bound the cost of every network from below."""
    arranged = arrange(table, np.ones(table.n_families, dtype=np.bool_), no_cuts(table.n_words), np.zeros(0, np.int64))
    workspace = make_workspace(arranged)
    nothing = np.zeros((1, table.n_words), dtype=np.int64)
    random = np.random.default_rng(run.seed)
    best, best_left = np.zeros((0, MEMBERS + table.n_words), dtype=np.int64), ENDLESS
    with Worker(run, workspace.stop) as worker:
        is_quick = table.n_vars <= MANY_VARIABLES and table.n_families <= MANY_FAMILIES
        for _ in range(N_TRIES if is_quick else 1):
            run.check()
            ascend = partial(ascend_from, arranged, workspace, nothing, ENDLESS, random.permutation(table.n_vars))
            left, n_raises = worker(ascend)
            if left < best_left:
                best, best_left = workspace.raises[:n_raises].copy(), left
    masks, which = np.unique(best[:, MEMBERS:], axis=0, return_inverse=True)
    multipliers = np.zeros(len(masks), dtype=np.int64)
    np.add.at(multipliers, which.ravel(), best[:, RAISED])
    return cluster_cuts(np.ascontiguousarray(masks).view(np.uint64), 1), multipliers
