"""What is known at the root, whatever finds the multipliers: cuts, the best multipliers on them, families, incumbent.

Multipliers are whole, so that they give reduced costs and a bound over all families in exact arithmetic
(`exactbnc.solvers.bounds.cuts.pool`). A family with bound + reduced cost >= the incumbent's cost is in no better
network: it is dropped for good. From then on the bound holds for networks that are better than the incumbent, and is
taken over the families that are left. Costs are multiples of the table's grain, so "better" means by at least that
much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Bools, Floats, Point
from exactbnc.solvers.bounds.cuts.facets import coefficient_table
from exactbnc.solvers.bounds.cuts.pool import Cuts, Reduced, joined, no_cuts, reduced_costs, right_hand_sides
from exactbnc.solvers.bounds.root.settings import RootSettings
from exactbnc.solvers.costs.bits import members_of
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, Words
from exactbnc.solvers.local_search.sink import best_families, sink_order
from scorecache.system.compiled import kernel

SUPPORT_TOL = 1e-7
"""A family with less than this is not in the support of a point."""
INTEGRAL_TOL = 1e-6
SMALL_SHARE = 0.01
"""The least multipliers are left out if they are together worth no more than this share of the gap."""
LARGEST_SUM = 2.0**61
"""What multipliers may add up to over a network, so that nothing leaves 64 bits."""


class Incumbent(NamedTuple):
    """The best network known: per child a family of the table, and their cost."""

    chosen: Ints
    cost: int


@dataclass(frozen=True, eq=False)
class RootResult:
    """What the root LP proved: every network cheaper than the incumbent costs at least `bound`; closed: there is none.

    Such networks use only the families in `is_alive`; `multipliers` > 0 on `cuts` give `bound` over these. The last LP
    had the rows `lp_cuts`.
    """

    cuts: Cuts
    multipliers: Ints
    bound: int
    is_alive: Bools
    lp_cuts: Cuts
    incumbent: Incumbent
    is_closed: bool
    n_rounds: int


@dataclass(frozen=True)
class Hooks:
    """What is called on the way: `improve` turns an order that follows an LP point into a better one by local search.

    `on_round` gets the bound and the incumbent after each round, `on_cuts` the cuts in use and their multipliers.
    """

    improve: Callable[[Ints], Ints] | None = None
    on_round: Callable[[int, Incumbent], None] | None = None
    on_cuts: Callable[[Cuts, Ints], None] | None = None


NO_HOOKS = Hooks()


class RootState:
    """All cuts found, the best multipliers on them, what is left of the table, the incumbent."""

    def __init__(
        self,
        table: CostTable,
        incumbent: Incumbent,
        settings: RootSettings,
        run: Run,
        hooks: Hooks,
    ) -> None:
        self.table, self.incumbent, self.settings, self.run = table, incumbent, settings, run
        self.hooks = hooks
        self.start, self.members = members_of(table.masks)
        self.smallest = smallest_families(self.start, table.child_start)
        self.live, self.live_index = table, np.arange(table.n_families)
        self.cuts = self.lp_cuts = no_cuts(table.n_words)
        self.multipliers = np.zeros(0, dtype=np.int64)
        self.largest_sums = np.zeros(0)
        self.bound = -(2**62)
        self.x = np.zeros(table.n_families)
        self.x[incumbent.chosen] = 1.0
        self.n_rounds = 0
        self.is_proved = False

    @property
    def least_useless(self) -> int:
        """The least cost that is not better than the incumbent's; costs are multiples of the table's grain."""
        return self.incumbent.cost - max(self.table.grain, self.settings.least_gain) + 1

    @property
    def gap(self) -> int:
        return self.least_useless - self.bound

    @property
    def is_closed(self) -> bool:
        return self.is_proved or self.gap <= 0

    def add_cuts(self, cuts: Cuts) -> None:
        """More cuts, with multipliers of 0."""
        self.cuts = joined(self.cuts, cuts)
        self.largest_sums = np.concatenate([self.largest_sums, largest_sums(cuts)])
        self.multipliers = np.concatenate([self.multipliers, np.zeros(cuts.n_cuts, dtype=np.int64)])

    def take(self, multipliers: Ints) -> Reduced:
        """Reduced costs of the families that are left, with multipliers on all cuts; the best multipliers are kept."""
        reduced = reduced_costs(self.live, self.cuts, multipliers)
        if reduced.bound > self.bound:
            self.bound, self.multipliers = reduced.bound, multipliers
        return reduced

    def fix(self, evaluated: list[Reduced]) -> None:
        """Drop the families that one of the bounds rules out; a child without a family is a proof."""
        if self.is_closed:
            return
        is_kept = np.all([reduced.bound + reduced.cost < self.least_useless for reduced in evaluated], axis=0)
        if len(np.unique(self.live.child[is_kept])) < self.table.n_vars:
            self.is_proved = True
        elif not is_kept.all():
            self.live = self.live.without(~is_kept)
            self.live_index = self.live_index[is_kept]

    def look_for_network(self, families: Ints, x: Floats) -> None:
        """Offer the network that a point is, or one from an order that follows the point."""
        table = self.table
        chosen = families[x > 1.0 - INTEGRAL_TOL]
        if len(chosen) == table.n_vars:
            chosen = chosen[np.argsort(table.child[chosen])]
            if is_acyclic(table.masks, chosen):
                self.offer(chosen)
                return
        listed = np.union1d(families, self.smallest)  # families are sorted by child
        child_start = np.searchsorted(table.child[listed], np.arange(table.n_vars + 1))
        order = sink_order(child_start, *rows_of(self.start, self.members, listed), self.x[listed])
        if order is not None:
            order = order if self.hooks.improve is None else self.hooks.improve(order)
            found = best_families(table.child_start, self.start, self.members, order)
            if found is not None:
                self.offer(found)

    def offer(self, chosen: Ints) -> None:
        """Keep a network if it is cheaper than the incumbent."""
        cost = int(self.table.cost[chosen].sum())
        if cost < self.incumbent.cost:
            self.incumbent = Incumbent(chosen, cost)

    def point(self, families: Ints, x: Floats) -> Point:
        """The point for the separators."""
        is_used = x > SUPPORT_TOL
        used = families[is_used]
        return Point(self.table.n_vars, self.table.child[used], x[is_used], *rows_of(self.start, self.members, used))

    def worth_keeping(self) -> Bools:
        """Which multipliers stay: leaving out one lowers the bound by at most lambda rho, and many are tiny."""
        loss = right_hand_sides(self.cuts) * self.multipliers
        order = np.argsort(loss, kind="stable")
        is_kept = np.empty(len(loss), dtype=np.bool_)
        is_kept[order] = np.cumsum(loss[order]) > max(0, int(SMALL_SHARE * self.gap))
        return is_kept

    def result(self, is_used: Bools) -> RootResult:
        """What was proved, by these of the multipliers."""
        cuts, multipliers = self.cuts.chosen(is_used), self.multipliers[is_used]
        reduced = reduced_costs(self.live, cuts, multipliers)
        self.fix([reduced])
        reduced = reduced_costs(self.live, cuts, multipliers)
        is_alive = np.zeros(self.table.n_families, dtype=np.bool_)
        is_alive[self.live_index] = True
        return RootResult(
            cuts,
            multipliers,
            reduced.bound,
            is_alive,
            self.lp_cuts,
            self.incumbent,
            self.is_closed,
            self.n_rounds,
        )


def largest_sums(cuts: Cuts) -> Floats:
    """At least what one unit on each cut can add up to over the families of a network."""
    n_members = np.unpackbits(cuts.masks.view(np.uint8), axis=1).sum(axis=1)
    return np.asarray(n_members * float(coefficient_table().max()))


def smallest_families(start: Ints, child_start: Ints) -> Ints:
    """Per child the family with the fewest members."""
    sizes = np.diff(start)
    return np.array([first + np.argmin(sizes[first:last]) for first, last in pairwise(child_start.tolist())])


def rows_of(start: Ints, members: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Some of the rows."""
    sizes = start[rows + 1] - start[rows]
    chosen_start = np.concatenate([[0], np.cumsum(sizes)])
    position = np.arange(chosen_start[-1]) + np.repeat(start[rows] - chosen_start[:-1], sizes)
    return chosen_start, members[position]


@kernel
def is_among_first(child: Ints, n_vars: int, most: int) -> Bools:
    """Marks the first `most` entries of every child."""
    n_seen = np.zeros(n_vars, dtype=np.int64)
    is_first = np.zeros(len(child), dtype=np.bool_)
    for i in range(len(child)):
        is_first[i] = n_seen[child[i]] < most
        n_seen[child[i]] += 1
    return is_first


@kernel
def is_acyclic(masks: Words, chosen: Ints) -> bool:
    """Can the children of these families, one each, be put in order?"""
    n_vars = len(chosen)
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    is_placed = np.zeros(n_vars, dtype=np.bool_)
    n_placed, n_before = 0, -1
    while n_placed > n_before:
        n_before = n_placed
        for v in range(n_vars):
            if is_placed[v]:
                continue
            fits = True
            for w in range(masks.shape[1]):
                fits &= (masks[chosen[v], w] & ~placed[w]) == 0
            if fits:
                placed[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                is_placed[v] = True
                n_placed += 1
    return n_placed == n_vars
