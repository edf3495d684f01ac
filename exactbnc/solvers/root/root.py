"""What every search begins with: a good network, multipliers, a bound, and the families that are left.

1. Local search over orders finds a network; nothing helps more than a good one.
2. Dual ascent gives the first cluster cuts and multipliers.
3. The LP raises the bound until it is closed or the search that follows would do better; families that no cheaper
   network can use leave.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.limits import Limits
from exactbnc.primal.orders import families, improve, search_orders
from exactbnc.solvers.graph import Ints
from exactbnc.solvers.root.ascent import ascent_cuts
from exactbnc.solvers.root.cuts import Cuts, reduced_costs
from exactbnc.solvers.root.lp import Incumbent, RootSettings, solve_root
from exactbnc.solvers.table import CostTable, families_in_order

Tell = Callable[[Incumbent, int], None]
"""Called with the best network so far and the bound, both as costs."""


@dataclass(frozen=True, eq=False)
class Root:
    """Every network cheaper than the incumbent costs at least `bound` and uses only families that are alive.

    `multipliers` on `cuts` prove the bound over these; closed: there is no cheaper network. The last LP had the rows
    `lp_cuts` and the solution `x`; `seconds` is CPU time by phase.
    """

    table: CostTable
    incumbent: Incumbent
    cuts: Cuts
    multipliers: Ints
    bound: int
    is_alive: NDArray[np.bool_]
    is_closed: bool
    lp_cuts: Cuts
    x: NDArray[np.float64]
    seconds: dict[str, float]


def find_root(
    table: CostTable, order: Ints, limits: Limits, *, seed: int, settings: RootSettings, tell: Tell
) -> Root:
    """The root of a table, from an order in which every variable has a family."""
    seconds: dict[str, float] = {}
    deadline = math.inf if limits.seconds is None else limits.started + limits.seconds
    with _timed(seconds, "ascent_seconds"):
        cuts, multipliers = ascent_cuts(table, seed=seed)
        bound = reduced_costs(table, cuts, multipliers).bound
    with _timed(seconds, "primal_seconds"):
        searched = families(table.child_start, table.masks, table.cost)
        found = search_orders(searched, start=order, seed=seed, deadline=deadline, target=bound)
        incumbent = incumbent_of(table, order if found is None else found.order)
        tell(incumbent, bound)
    with _timed(seconds, "lp_seconds"):
        result = solve_root(
            table,
            cuts,
            multipliers,
            incumbent,
            settings=settings,
            deadline=deadline,
            improve=lambda guess: improve(searched, guess, seed=seed)[0],
            on_round=lambda bound, incumbent: tell(incumbent, bound),
        )
        tell(result.incumbent, result.bound)
    return Root(
        table=table,
        incumbent=result.incumbent,
        cuts=result.cuts,
        multipliers=result.multipliers,
        bound=result.bound,
        is_alive=result.is_alive,
        is_closed=result.is_closed,
        lp_cuts=result.lp_cuts,
        x=result.x,
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
    seconds[phase] = time.process_time() - clock
