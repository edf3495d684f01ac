"""The root LP: cutting planes and column generation, with bounds that do not rest on the LP solver.

    min sum cost(v, W) x(v, W),   sum_W x(v, W) = 1 for every v,   sum a x >= rho for every cut,   x >= 0

HiGHS solves it over few families. Its duals, rounded to whole multipliers, give reduced costs and a bound over all
families in exact arithmetic (`exactbnc.solvers.root.cuts`); only these count. Families of negative reduced cost enter.
A family with bound + reduced cost >= the incumbent's cost is in no better network: it is dropped for good. From then on
the bound holds for networks that are better than the incumbent, and is taken over the families that are left. Costs are
multiples of the table's grain, so "better" means by at least that much.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from exactbnc.cuts.cluster import Bools, Floats, Point
from exactbnc.cuts.facets import coefficient_table
from exactbnc.primal.sink import best_families, sink_order
from exactbnc.solvers._bits import popcount, trailing_zeros
from exactbnc.solvers.graph import Ints
from exactbnc.solvers.interrupt import ctrl_c_calls
from exactbnc.solvers.root._highs import DUAL_TOL, ColumnLP, Solved
from exactbnc.solvers.root.cuts import Cuts, Reduced, joined, no_cuts, reduced_costs, right_hand_sides
from exactbnc.solvers.root.separation import ALL_SEPARATORS, Separators, separate
from exactbnc.solvers.table import CostTable, Words

SUPPORT_TOL = 1e-7
"""A family with less than this is not in the support of a point."""
INTEGRAL_TOL = 1e-6
STEPS = (0.3, 0.6)
"""Where bounds are taken on the way from the best multipliers to the LP's: these jump, points between do not."""
PATIENCE = 10
"""So many rounds more may pass before the bound leaves the given one: the first LPs lack families."""
MANY_DEAD = 0.1
"""Fixed families leave the LP when they are this share of it."""
SMALL_SHARE = 0.01
"""The least multipliers are left out if they are together worth no more than this share of the gap."""
ANY_NUMBER = 1 << 62
"""Of clusters: facets are separated beside them however many there are."""
LARGEST_SUM = 2.0**61
"""What multipliers may add up to over a network, so that nothing leaves 64 bits."""


@dataclass(frozen=True)
class Tail:
    """Stop when less than `share` of the gap was closed per round over `n_rounds` rounds.

    While the gap is more than `widest` of the incumbent's cost, LONG decides instead.
    """

    share: float
    n_rounds: int
    widest: float = math.inf


LONG = Tail(0.002, 10)
"""Branch-and-cut follows."""
SHORT = Tail(0.02, 3, widest=0.05)
"""A search over orders follows: it gains little from a better bound, unless the gap is so wide that it will be long."""


@dataclass(frozen=True)
class RootSettings:
    """When to stop, what to separate, and how many families the LP starts with and takes up per child."""

    tail: Tail = LONG
    separators: Separators = ALL_SEPARATORS
    first_families: int = 30
    more_families: int = 5
    slack_rounds: int = 1
    least_gain: int = 1
    """In the table's unit: a network is better than the incumbent if it is cheaper by at least so much."""


DEFAULT_SETTINGS = RootSettings()


class Incumbent(NamedTuple):
    """The best network known: per child a family of the table, and their cost."""

    chosen: Ints
    cost: int


@dataclass(frozen=True, eq=False)
class RootResult:
    """What the root LP proved: every network cheaper than the incumbent costs at least `bound`; closed: there is none.

    Such networks use only the families in `is_alive`; `multipliers` > 0 on `cuts` give `bound` over these. The last LP
    had the rows `lp_cuts` and the solution `x`, over all families of the table.
    """

    cuts: Cuts
    multipliers: Ints
    bound: int
    is_alive: Bools
    lp_cuts: Cuts
    incumbent: Incumbent
    is_closed: bool
    x: Floats
    n_rounds: int
    n_columns: int
    seconds: dict[str, float]
    is_interrupted: bool


Improve = Callable[[Ints], Ints]
"""From an order that follows an LP point to a better one: a local search."""
OnRound = Callable[[int, Incumbent], None]
"""Called with the bound and the incumbent."""
Keep = Callable[[Cuts, Ints], None]
"""Called with the cuts in use and the best multipliers on them."""
IsShort = Callable[[], bool]
"""Is the memory used up?"""


def solve_root(
    table: CostTable,
    cuts: Cuts,
    multipliers: Ints,
    incumbent: Incumbent,
    *,
    settings: RootSettings = DEFAULT_SETTINGS,
    deadline: float = math.inf,
    improve: Improve | None = None,
    on_round: OnRound | None = None,
    keep: Keep | None = None,
    is_short: IsShort | None = None,
) -> RootResult:
    """Raise the bound of `multipliers` on `cuts` until it is closed, the tail is flat or `time.monotonic()` is late."""
    root = _Root(table, incumbent, settings, deadline, improve, is_short)
    with ctrl_c_calls(root.stop):
        root.run(cuts, multipliers, on_round, keep)
    return root.result()


class _Root:
    """The loop's state: all cuts found, the best multipliers on them, what is left of the table, the incumbent."""

    def __init__(
        self,
        table: CostTable,
        incumbent: Incumbent,
        settings: RootSettings,
        deadline: float,
        improve: Improve | None,
        is_short: IsShort | None = None,
    ) -> None:
        self.table, self.incumbent, self.settings, self.deadline = table, incumbent, settings, deadline
        self.improve = improve
        self.is_short = is_short
        self.start, self.members = _members(table.masks)
        self.smallest = _smallest(self.start, table.child_start)
        self.live, self.live_index = table, np.arange(table.n_families)
        self.cuts = self.lp_cuts = no_cuts(table.n_words)
        self.multipliers = np.zeros(0, dtype=np.int64)
        self.largest_sums = np.zeros(0)
        self.bound = -(2**62)
        self.x = np.zeros(table.n_families)
        self.x[incumbent.chosen] = 1.0
        self.n_rounds, self.n_columns = 0, 0
        self.seconds: dict[str, float] = {}
        self.is_interrupted = self.is_proved = False

    def stop(self) -> None:
        self.is_interrupted = True

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started

    @property
    def least_useless(self) -> int:
        """The least cost that is not better than the incumbent's; costs are multiples of the table's grain."""
        return self.incumbent.cost - max(self.table.grain, self.settings.least_gain) + 1

    @property
    def gap(self) -> int:
        return self.least_useless - self.bound

    @property
    def is_over(self) -> bool:
        is_stopped = self.is_interrupted or time.monotonic() >= self.deadline
        return is_stopped or self.is_closed or (self.is_short is not None and self.is_short())

    @property
    def is_closed(self) -> bool:
        return self.is_proved or self.gap <= 0

    def run(self, cuts: Cuts, multipliers: Ints, on_round: OnRound | None, keep: Keep | None) -> None:
        """Bound and fix by the given multipliers, then rounds: solve, bound and fix, price, separate.

        When the tail is flat, or nothing is found, facets are separated in every round until it is flat again: greedy
        clusters may go on for long without moving a bound that facets move at once.
        """
        self._add_cuts(cuts)
        reduced = self._take(multipliers)
        if self.is_over:
            return
        gaps, first_bound = [self.gap], self.bound
        lp = ColumnLP(self.table, self._first_families(reduced))
        self._fix([reduced])
        lp.add_cuts(cuts)
        rows, n_slack = np.arange(cuts.n_cuts), np.zeros(cuts.n_cuts, dtype=np.int64)
        separators = self.settings.separators
        thorough = replace(separators, few_clusters=ANY_NUMBER)
        while not self.is_over:
            with self._timed("lp"):
                solved = lp.solve(self.deadline, lambda: self.is_interrupted)
            if solved is None:
                break
            self.n_rounds, self.n_columns, self.lp_cuts = self.n_rounds + 1, len(lp.families), lp.cuts
            self.x[:] = 0.0
            self.x[lp.families] = solved.x
            with self._timed("primal"):
                self._look_for_network(lp.families, solved.x)
            with self._timed("price"):
                entering = self._price(lp.families, rows, solved.multipliers)
            if keep is not None:
                self._hand_out(rows, keep)
            if on_round is not None:
                on_round(self.bound, self.incumbent)
            gaps.append(self.gap)
            if self.is_over:
                break
            if self._is_flat(gaps, self.bound > first_bound):
                if separators == thorough:
                    break
                separators, gaps = thorough, gaps[-1:]
            with self._timed("separation"):
                point = self._point(lp.families, solved.x)
                found = separate(point, self.table.n_words, separators)
                if not found.n_cuts and not len(entering) and separators != thorough:
                    separators, gaps = thorough, gaps[-1:]
                    found = separate(point, self.table.n_words, separators)
            if not found.n_cuts and not len(entering):
                break
            with self._timed("lp"):
                n_slack = np.where(solved.multipliers > 0.0, 0, n_slack + 1)
                is_old = n_slack > self.settings.slack_rounds
                lp.drop_cuts(is_old)
                lp.drop_families(self._is_superfluous(lp.families, solved))
                lp.add_families(entering)
                lp.add_cuts(found)
            rows = np.concatenate([rows[~is_old], self.cuts.n_cuts + np.arange(found.n_cuts)])
            n_slack = np.concatenate([n_slack[~is_old], np.zeros(found.n_cuts, dtype=np.int64)])
            self._add_cuts(found)

    def _hand_out(self, rows: Ints, keep: Keep) -> None:
        is_used = self.multipliers > 0
        is_used[rows] = True
        keep(self.cuts.chosen(is_used), self.multipliers[is_used])

    def _add_cuts(self, cuts: Cuts) -> None:
        self.cuts = joined(self.cuts, cuts)
        self.largest_sums = np.concatenate([self.largest_sums, largest_sums(cuts)])
        self.multipliers = np.concatenate([self.multipliers, np.zeros(cuts.n_cuts, dtype=np.int64)])

    def _take(self, multipliers: Ints) -> Reduced:
        """Reduced costs of the families that are left, with multipliers on all cuts; the best multipliers are kept."""
        reduced = reduced_costs(self.live, self.cuts, multipliers)
        if reduced.bound > self.bound:
            self.bound, self.multipliers = reduced.bound, multipliers
        return reduced

    def _price(self, families: Ints, rows: Ints, lp_multipliers: Floats) -> Ints:
        """Bound and fix by the LP's multipliers and on the way to them; the families that should enter.

        Those enter that are cheaper, at the LP's prices, than what the LP has of the same child; first the ones that
        are cheap at the best prices on the way.
        """
        table, best = self.table, self.multipliers
        target = np.zeros(self.cuts.n_cuts)
        target[rows] = lp_multipliers / table.unit
        target *= min(1.0, LARGEST_SUM / max(1.0, float(self.largest_sums @ target)))
        at_lp = self._take(np.rint(target).astype(np.int64))
        evaluated = [at_lp, *(self._take(np.rint(best + step * (target - best)).astype(np.int64)) for step in STEPS)]
        stable = max(evaluated, key=lambda reduced: reduced.bound)
        position = np.full(table.n_families, -1)
        position[self.live_index] = np.arange(len(self.live_index))
        present = position[families]
        present = present[present >= 0]
        level = np.full(table.n_vars, np.iinfo(np.int64).max)
        np.minimum.at(level, self.live.child[present], at_lp.cost[present])
        below = np.flatnonzero(at_lp.cost < level[self.live.child] - int(DUAL_TOL / table.unit))
        below = below[np.argsort(stable.cost[below], kind="stable")]
        below = below[_is_among_first(self.live.child[below], table.n_vars, self.settings.more_families)]
        entering = np.union1d(self.live_index[below], np.setdiff1d(self.incumbent.chosen, families))
        self._fix(evaluated)
        return entering

    def _fix(self, evaluated: list[Reduced]) -> None:
        """Drop the families that one of the bounds rules out; a child without a family is a proof."""
        if self.is_closed:
            return
        is_kept = np.all([reduced.bound + reduced.cost < self.least_useless for reduced in evaluated], axis=0)
        if len(np.unique(self.live.child[is_kept])) < self.table.n_vars:
            self.is_proved = True
        elif not is_kept.all():
            self.live = self.live.without(~is_kept)
            self.live_index = self.live_index[is_kept]

    def _is_superfluous(self, families: Ints, solved: Solved) -> Bools:
        """Families of the LP that are fixed and idle, if they are many. The incumbent's stay: the LP has a solution."""
        is_needed = np.zeros(self.table.n_families, dtype=np.bool_)
        is_needed[self.live_index] = True
        is_needed[self.incumbent.chosen] = True
        is_dead = solved.is_idle & ~is_needed[families]
        return is_dead if is_dead.mean() > MANY_DEAD else np.zeros_like(is_dead)

    def _first_families(self, reduced: Reduced) -> Ints:
        order = np.argsort(reduced.cost, kind="stable")
        child = self.live.child[order]
        first = self.live_index[order[_is_among_first(child, self.table.n_vars, self.settings.first_families)]]
        return np.union1d(first, self.incumbent.chosen)

    def _look_for_network(self, families: Ints, x: Floats) -> None:
        table = self.table
        chosen = families[x > 1.0 - INTEGRAL_TOL]
        if len(chosen) == table.n_vars:
            chosen = chosen[np.argsort(table.child[chosen])]
            if _is_acyclic(table.masks, chosen):
                self._offer(chosen)
                return
        listed = np.union1d(families, self.smallest)  # families are sorted by child
        child_start = np.searchsorted(table.child[listed], np.arange(table.n_vars + 1))
        order = sink_order(child_start, *_rows_of(self.start, self.members, listed), self.x[listed])
        if order is not None:
            order = order if self.improve is None else self.improve(order)
            found = best_families(table.child_start, self.start, self.members, order)
            if found is not None:
                self._offer(found)

    def _offer(self, chosen: Ints) -> None:
        cost = int(self.table.cost[chosen].sum())
        if cost < self.incumbent.cost:
            self.incumbent = Incumbent(chosen, cost)

    def _point(self, families: Ints, x: Floats) -> Point:
        is_used = x > SUPPORT_TOL
        used = families[is_used]
        return Point(self.table.n_vars, self.table.child[used], x[is_used], *_rows_of(self.start, self.members, used))

    def _is_flat(self, gaps: list[int], is_moving: bool) -> bool:
        """Did the last rounds, one gap each, close too little of it, by the bound or by the incumbent?"""
        tail = self.settings.tail
        if gaps[-1] > tail.widest * self.incumbent.cost:
            tail = LONG
        share, n_rounds = tail.share, tail.n_rounds
        if len(gaps) <= (n_rounds if is_moving else n_rounds + PATIENCE):
            return False
        return gaps[-1 - n_rounds] - gaps[-1] < share * n_rounds * gaps[-1]

    def _is_worth_keeping(self) -> Bools:
        """Which multipliers stay: leaving out one lowers the bound by at most lambda rho, and many are tiny."""
        loss = right_hand_sides(self.cuts) * self.multipliers
        order = np.argsort(loss, kind="stable")
        is_kept = np.empty(len(loss), dtype=np.bool_)
        is_kept[order] = np.cumsum(loss[order]) > max(0, int(SMALL_SHARE * self.gap))
        return is_kept

    def result(self) -> RootResult:
        is_used = self._is_worth_keeping()
        cuts, multipliers = self.cuts.chosen(is_used), self.multipliers[is_used]
        reduced = reduced_costs(self.live, cuts, multipliers)
        self._fix([reduced])
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
            self.x,
            self.n_rounds,
            self.n_columns,
            self.seconds,
            self.is_interrupted,
        )


def largest_sums(cuts: Cuts) -> Floats:
    """At least what one unit on each cut can add up to over the families of a network."""
    n_members = np.unpackbits(cuts.masks.view(np.uint8), axis=1).sum(axis=1)
    return np.asarray(n_members * float(coefficient_table().max()))


def _smallest(start: Ints, child_start: Ints) -> Ints:
    """Per child the family with the fewest members."""
    sizes = np.diff(start)
    return np.array([first + np.argmin(sizes[first:last]) for first, last in pairwise(child_start.tolist())])


def _rows_of(start: Ints, members: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Those rows of compressed rows."""
    sizes = start[rows + 1] - start[rows]
    chosen_start = np.concatenate([[0], np.cumsum(sizes)])
    position = np.arange(chosen_start[-1]) + np.repeat(start[rows] - chosen_start[:-1], sizes)
    return chosen_start, members[position]


@njit(cache=True)
def _members(masks: Words) -> tuple[Ints, Ints]:
    """The sets as compressed rows."""
    start = np.zeros(len(masks) + 1, dtype=np.int64)
    for f in range(len(masks)):
        start[f + 1] = start[f]
        for w in range(masks.shape[1]):
            start[f + 1] += np.int64(popcount(masks[f, w]))
    members = np.empty(start[-1], dtype=np.int64)
    n = 0
    for f in range(len(masks)):
        for w in range(masks.shape[1]):
            word = masks[f, w]
            while word:
                members[n] = 64 * w + trailing_zeros(word)
                word &= word - np.uint64(1)
                n += 1
    return start, members


@njit(cache=True)
def _is_among_first(child: Ints, n_vars: int, most: int) -> Bools:
    """Marks the first `most` entries of every child."""
    n_seen = np.zeros(n_vars, dtype=np.int64)
    is_first = np.zeros(len(child), dtype=np.bool_)
    for i in range(len(child)):
        is_first[i] = n_seen[child[i]] < most
        n_seen[child[i]] += 1
    return is_first


@njit(cache=True)
def _is_acyclic(masks: Words, chosen: Ints) -> bool:
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
