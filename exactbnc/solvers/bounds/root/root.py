"""What every search begins with: a good network, multipliers, a bound, and the families that are left.

1. Local search over orders finds a network; nothing helps more than a good one.
2. Dual ascent gives the first cluster cuts and multipliers, unless an earlier run left better ones; where there are
   many families, block-coordinate ascent improves them before the LP, whose first rounds are slow then.
3. The LP raises the bound until it is closed or the search that follows would do better; families that no cheaper
   network can use leave. Orders that follow LP points are improved by local search.
4. If it is still open, the local search goes on from the best network.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.limits import Limits
from exactbnc.solvers.bounds.cuts.pool import Cuts, reduced_costs
from exactbnc.solvers.bounds.root.ascent import ascent_cuts
from exactbnc.solvers.bounds.root.block_ascent import solve_root_by_ascent
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.bounds.root.state import Incumbent, Keep, RootResult
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, families_in_order, order_of
from exactbnc.solvers.local_search.orders import Effort, Families, families, improve, search_orders

FIRST_EFFORT = Effort(n_chains=1, kicks_per_var=5)
LEAST_EFFORT = Effort(n_chains=1, kicks_per_var=1)
SECOND_EFFORT = Effort(n_chains=1, kicks_per_var=20)
"""Before the LP, with many variables, and after the LP where a search over orders follows.

The LP finds good networks by itself; so does branch-and-cut, for which the first effort is enough."""
MANY_VARIABLES = 128
MANY_FAMILIES = 100_000
BLOCK_ROUNDS = 20
"""With so many families, and not too many variables, so many rounds of block-coordinate ascent come before the LP."""

Tell = Callable[[Incumbent, int], None]
"""Called with the best network so far and the bound, both as costs."""


@dataclass(frozen=True, eq=False)
class Root:
    """Every network cheaper than the incumbent costs at least `bound` and uses only families that are alive.

    `multipliers` on `cuts` prove the bound over these; closed: there is no cheaper network. Cheaper means by at least
    `least_gain`. The last LP had the rows `lp_cuts`; `seconds` is CPU time by phase.
    """

    table: CostTable
    incumbent: Incumbent
    cuts: Cuts
    multipliers: Ints
    bound: int
    is_alive: NDArray[np.bool_]
    is_closed: bool
    is_interrupted: bool
    least_gain: int
    lp_cuts: Cuts
    seconds: dict[str, float]

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


def find_root(
    table: CostTable,
    order: Ints,
    limits: Limits,
    *,
    seed: int,
    settings: RootSettings,
    tell: Tell,
    earlier: tuple[Cuts, Ints] | None = None,
    keep: Keep | None = None,
) -> Root:
    """The root of a table, from an order in which every variable has a family.

    `earlier` are cuts and multipliers of an earlier run; `keep` hears of those of this one.
    """
    seconds: dict[str, float] = {}
    deadline = _deadline(limits)
    with _timed(seconds, "ascent_seconds"):
        cuts, multipliers = ascent_cuts(table, seed=seed) if earlier is None else earlier
        bound = reduced_costs(table, cuts, multipliers).bound
    with _timed(seconds, "primal_seconds"):
        searched = families(table.child_start, table.masks, table.cost)
        is_large = table.n_vars > MANY_VARIABLES
        effort = LEAST_EFFORT if is_large else FIRST_EFFORT
        incumbent = _searched(table, searched, order, effort, bound, deadline, seed)
        if keep is not None:
            keep(cuts, multipliers)
        tell(incumbent, bound)

    def improved(guess: Ints) -> Ints:
        return improve(searched, guess, seed=seed)[0]

    def is_short() -> bool:
        return limits.memory_left() <= 0

    def on_round(bound: int, incumbent: Incumbent) -> None:
        tell(incumbent, bound)

    result = None
    if table.n_families > MANY_FAMILIES and not is_large and earlier is None:
        with _timed(seconds, "ascent_seconds"):
            result = solve_root_by_ascent(
                table,
                cuts,
                multipliers,
                incumbent,
                settings=settings,
                deadline=deadline,
                seed=seed,
                most_rounds=BLOCK_ROUNDS,
                improve=improved,
                on_round=on_round,
                is_short=is_short,
            )
        cuts, multipliers, incumbent = result.cuts, result.multipliers, result.incumbent
        if keep is not None:
            keep(cuts, multipliers)
    if result is None or not (result.is_closed or result.is_interrupted):
        with _timed(seconds, "lp_seconds"):
            result = solve_root(
                table,
                cuts,
                multipliers,
                incumbent,
                settings=settings,
                deadline=deadline,
                improve=improved,
                on_round=on_round,
                is_short=is_short,
                keep=keep,
            )
    tell(result.incumbent, result.bound)
    root = _root(table, result, settings, seconds)
    if root.is_closed or root.is_interrupted:
        return root
    with _timed(seconds, "primal_seconds"):
        known = order_of(table, root.incumbent.chosen)
        if not is_large and settings.tail == SHORT:
            effort = SECOND_EFFORT
        incumbent = _searched(table, searched, known, effort, root.bound, deadline, seed + 1)
        tell(incumbent, root.bound)
    return root.with_incumbent(incumbent)


def _searched(
    table: CostTable, searched: Families, order: Ints, effort: Effort, target: int, deadline: float, seed: int
) -> Incumbent:
    """The best network that local search finds from an order."""
    found = search_orders(searched, start=order, seed=seed, effort=effort, deadline=deadline, target=target)
    return incumbent_of(table, order if found is None else found.order)


def _deadline(limits: Limits) -> float:
    return math.inf if limits.seconds is None else limits.started + limits.seconds


def _root(table: CostTable, result: RootResult, settings: RootSettings, seconds: dict[str, float]) -> Root:
    return Root(
        table=table,
        incumbent=result.incumbent,
        cuts=result.cuts,
        multipliers=result.multipliers,
        bound=result.bound,
        is_alive=result.is_alive,
        is_closed=result.is_closed,
        is_interrupted=result.is_interrupted,
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
    yield
    seconds[phase] = seconds.get(phase, 0.0) + time.process_time() - clock
