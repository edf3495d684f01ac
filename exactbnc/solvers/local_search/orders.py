"""A good network by local search over the orders of the variables.

Given an order, every child takes its cheapest family among its predecessors, and the cost of the order is

    cost(order) = sum over v of min { cost(v, W) : W before v in the order }

(Teyssier and Koller 2005, "Ordering-based search"). The neighbours of an order are its insertions: one variable taken
out and put at another place (Alonso-Barba et al. 2011; Lee and van Beek 2017, "Metaheuristics for score-and-search
Bayesian network structure learning"). The search is a series of chains: climb from a randomised greedy order to a local
optimum, kick it and climb again, until kicks no longer help.

Families are given in compressed rows: those of child v are `child_start[v]:child_start[v + 1]`, cheapest first; family
f costs `cost[f]` and needs the variables in `masks[f]` before the child (variable u is bit u % 64 of word u // 64).
Costs are exact integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.limits import Clock
from exactbnc.solvers.costs.bits import members_of
from exactbnc.solvers.local_search import _orders_kernels as kernels
from exactbnc.solvers.local_search._orders_kernels import Families, Walk, list_pairs
from exactbnc.solvers.local_search._orders_kicks import greedy_order, hop

__all__ = ["Effort", "Families", "FoundOrder", "LongSearch", "families", "improve", "search_orders"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_CHUNK = 200_000  # families and pairs looked at before a kernel returns: some hundredths of a second at most
_PIECE = 10_000_000  # of a longer search
_TEMPERATURES = (0.03, 0.1)  # of the chains in turn, in parts of the mean cost of a child
_FIRST_NOISE, _NOISE = 0.3, 1.0  # of the first greedy order and of the later ones
_PENALTIES = 1 << 61  # what the penalties of all children may come to; costs and penalties stay below 2**62
_UNKNOWN = 1 << 62
_SEED_STEP = 0x9E3779B97F4A7C15  # odd, so that different seeds give different states


@dataclass(frozen=True)
class Effort:
    """The number of chains; a chain ends after `kicks_per_var` kicks per variable in a row without improvement."""

    n_chains: int = 10
    kicks_per_var: int = 20


_USUAL_EFFORT = Effort()
_NO_LIMIT = Clock()


@dataclass(frozen=True, eq=False)
class FoundOrder:
    """The best order found, the row of the family that each variable takes, what it costs, and the chains begun."""

    order: Ints
    chosen: Ints
    cost: int
    n_chains: int
    n_kicks: int

    def __post_init__(self) -> None:
        for array in (self.order, self.chosen):
            array.flags.writeable = False


def families(child_start: Ints, masks: Words, cost: Ints) -> Families:
    """The families with what the search looks up in them; may be shared between threads.

    A last family without members stands for having none. It costs more than any choice of families, as far as the sum
    of all such penalties fits a machine word.
    """
    n_vars = len(child_start) - 1
    starts = (child_start + np.arange(n_vars + 1)).astype(np.int64)
    is_given = np.ones(len(cost) + n_vars, dtype=np.bool_)
    is_given[starts[1:] - 1] = False
    highest = sum(int(cost[a:b].max(initial=0)) for a, b in pairwise(child_start))
    costs = np.full(len(is_given), min(highest + 1, _PENALTIES // max(n_vars, 1)), dtype=np.int64)
    costs[is_given] = cost
    all_masks = np.zeros((len(is_given), masks.shape[1]), dtype=np.uint64)
    all_masks[is_given] = masks
    member_start, members = members_of(all_masks)
    return Families(starts, costs, member_start, members, *list_pairs(starts, member_start, members))


def improve(
    table: Families, order: Ints, *, seed: int = 0, check: Callable[[], None] | None = None
) -> tuple[Ints, int | None]:
    """Climb by insertions until none lowers the cost; the cost is None if a child is still without a family.

    `check` is called between pieces of the work; it may raise.
    """
    walk = _walk(table, seed)
    walk.order[:] = order
    kernels.enter(table, walk)
    while not kernels.climb(table, walk, _CHUNK):
        if check is not None:
            check()
    return walk.order, int(walk.tally[kernels.TOTAL]) if _is_feasible(table, walk) else None


def search_orders(
    table: Families,
    *,
    seed: int = 0,
    effort: Effort = _USUAL_EFFORT,
    start: Ints | None = None,
    target: int = 0,
    clock: Clock = _NO_LIMIT,
) -> FoundOrder | None:
    """The best order that the search finds; None if no order gives every child a family.

    It ends at a cost of `target` or less, when the clock says so or after all chains. Without a limit that is reached,
    the same seed gives the same order. The first chain begins at `start`, if there is one and it
    gives every child a family.
    """
    n_vars = len(table.child_start) - 1
    target = max(target, 0)
    walk = _walk(table, seed)
    if start is None or not _enter(table, walk, start):
        is_feasible = _enter(table, walk, greedy_order(table, walk.random, _FIRST_NOISE))
        if not is_feasible:
            return None
    kernels.note_best(table, walk)
    n_chains = 0
    while n_chains < effort.n_chains and not _is_over(walk, target, clock):
        if n_chains > 0:
            _enter(table, walk, greedy_order(table, walk.random, _NOISE))
        _hop(table, walk, effort.kicks_per_var * n_vars, _temperature(walk, n_chains), target, clock)
        n_chains += 1
    _enter(table, walk, walk.best_order.copy())
    return FoundOrder(
        order=walk.best_order,
        chosen=walk.chosen - np.arange(n_vars),
        cost=int(walk.tally[kernels.BEST]),
        n_chains=n_chains,
        n_kicks=int(walk.tally[kernels.N_KICKS]),
    )


class LongSearch:
    """The search beside another one: it resumes from where it stopped, as much work at a time as it is given.

    It begins at a greedy order, not at a known network: that is often a local optimum that chains do not leave. A chain
    ends after `kicks_per_var` kicks per variable that do not improve it, and another one begins. Work is counted in
    families and pairs looked at, 20 to 100 million a second: the same calls find the same orders on any machine.
    """

    def __init__(self, table: Families, *, seed: int = 0, kicks_per_var: int = 30) -> None:
        self._table = table
        self._n_kicks = kicks_per_var * (len(table.child_start) - 1)
        self._walk = _walk(table, seed)
        self.n_chains = 0
        self._begin(_FIRST_NOISE)

    @property
    def cost(self) -> int:
        """Of the best order; more than any order's if none was found that gives every child a family."""
        return int(self._walk.tally[kernels.BEST])

    @property
    def order(self) -> Ints:
        """A copy of the best order."""
        return self._walk.best_order.copy()

    @property
    def n_kicks(self) -> int:
        return int(self._walk.tally[kernels.N_KICKS])

    def resume(self, work: int, check: Callable[[], None] | None = None) -> None:
        """Do about that much work; `check` is called between pieces of it and may raise."""
        tally = self._walk.tally
        end = int(tally[kernels.WORK]) + work
        while tally[kernels.WORK] < end:
            if check is not None:
                check()
            temperature = _temperature(self._walk, self.n_chains - 1)
            piece = min(end - int(tally[kernels.WORK]), _PIECE)
            if hop(self._table, self._walk, self._n_kicks, temperature, 0, piece):
                if tally[kernels.BEST] <= 0:
                    return
                self._begin(_NOISE)

    def _begin(self, noise: float) -> None:
        """A new chain from a greedy order."""
        self.n_chains += 1
        _enter(self._table, self._walk, greedy_order(self._table, self._walk.random, noise))
        kernels.note_best(self._table, self._walk)
        self._walk.tally[[kernels.KEPT, kernels.CHAIN_BEST]] = _UNKNOWN
        self._walk.tally[kernels.N_IDLE] = 0


def _temperature(walk: Walk, chain: int) -> float:
    """Of a chain of that number: the chains differ in how much worse a kick may end than it began."""
    return _TEMPERATURES[chain % len(_TEMPERATURES)] * float(walk.tally[kernels.BEST]) / len(walk.order)


def _hop(table: Families, walk: Walk, n_kicks: int, temperature: float, target: int, clock: Clock) -> None:
    """One chain from the order in hand."""
    walk.tally[[kernels.KEPT, kernels.CHAIN_BEST]] = _UNKNOWN
    walk.tally[kernels.N_IDLE] = 0
    is_done = False
    while not is_done and not _is_over(walk, target, clock):
        is_done = hop(table, walk, n_kicks, temperature, target, _CHUNK)


def _is_over(walk: Walk, target: int, clock: Clock) -> bool:
    return bool(walk.tally[kernels.BEST] <= target) or clock.stop_reason() is not None


def _walk(table: Families, seed: int) -> Walk:
    n_vars, n_pairs = len(table.child_start) - 1, len(table.pair_child)

    def ints(n: int) -> Ints:
        return np.zeros(n, dtype=np.int64)

    tally = ints(kernels.N_KICKS + 1)
    tally[[kernels.KEPT, kernels.BEST, kernels.CHAIN_BEST]] = _UNKNOWN
    return Walk(
        order=ints(n_vars),
        rank=ints(n_vars),
        chosen=ints(n_vars),
        stamp=ints(n_vars),
        flip=ints(n_pairs),
        flip_stamp=ints(n_pairs),
        queue=ints(n_vars),
        is_queued=np.zeros(n_vars, dtype=np.bool_),
        change=ints(n_vars),
        kept_order=ints(n_vars),
        kept_rank=ints(n_vars),
        kept_chosen=ints(n_vars),
        kept_stamp=ints(n_vars),
        best_order=ints(n_vars),
        tally=tally,
        random=np.array([(seed + 1) * _SEED_STEP % (1 << 64) or 1], dtype=np.uint64),
    )


def _enter(table: Families, walk: Walk, order: Ints) -> bool:
    """Start the walk at an order; does every child have a family there?"""
    walk.order[:] = order
    kernels.enter(table, walk)
    return _is_feasible(table, walk)


def _is_feasible(table: Families, walk: Walk) -> bool:
    return not np.any(walk.chosen + 1 == table.child_start[1:])
