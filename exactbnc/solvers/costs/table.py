"""A problem without global rules in whole numbers: what each family costs, and who must come before its child.

    cost(v, W) = best(v) - score(v, W) >= 0,   counted in units of 10^-digits

The cost of a network is the sum over its families, so every sum, bound and comparison that is made of costs is exact.
Score files hold decimals: where every score has at most 8 of them, the unit is 10^-8 and nothing is rounded. Other
scores are rounded once, to the finest unit of 8 to 12 decimals in which all sums stay below 2^60.

A family goes if another one of its child costs no more and needs no more before it: it can be replaced in any network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.solvers.costs.dominance import dominated
from exactbnc.solvers.costs.graph import Ints, members_before, owners
from scorecache.errors import ParameterError
from scorecache.system.compiled import kernel

Words = NDArray[np.uint64]

WORD = 64
FILE_DIGITS = 8
"""What score files carry."""
MOST_DIGITS = 12
LARGEST_TOTAL = 2.0**60
"""Sums of costs and multipliers stay well inside 64 bits."""


@dataclass(frozen=True, eq=False)
class CostTable:
    """Families of child v: rows `child_start[v]:child_start[v + 1]`, cheapest first; `family` counts as in Families.

    Bit u % 64 of `masks[f, u // 64]` says that u must come before the child.
    """

    child_start: Ints
    masks: Words
    cost: Ints
    family: Ints
    digits: int
    is_rounded: bool

    @property
    def n_vars(self) -> int:
        return len(self.child_start) - 1

    @property
    def n_words(self) -> int:
        return int(self.masks.shape[1])

    @property
    def n_families(self) -> int:
        return len(self.cost)

    @cached_property
    def child(self) -> Ints:
        """The child of every family."""
        return np.repeat(np.arange(self.n_vars), np.diff(self.child_start))

    @cached_property
    def grain(self) -> int:
        """All costs are multiples of it: a network that is cheaper than another one is so by at least that much."""
        return max(1, int(np.gcd.reduce(self.cost)))

    @property
    def unit(self) -> float:
        return float(10.0**-self.digits)

    @property
    def tolerance(self) -> float:
        """How far a best network of the table can be from the best: half a unit per family, in two networks."""
        return self.n_vars * self.unit if self.is_rounded else 0.0

    def without(self, is_fixed: NDArray[np.bool_]) -> CostTable:
        """The table less the families that are marked."""
        return _selected(self, np.flatnonzero(~is_fixed))


def n_words_of(n_vars: int) -> int:
    """Words of a mask over `n_vars` variables."""
    return max(1, -(-n_vars // WORD))


def cost_table(problem: Problem, *, keep_dominated: bool = False) -> CostTable:
    """The table of a problem; a ParameterError says why there is none.

    With `keep_dominated` every family stays, where more than one best network is wanted.
    """
    if problem.global_rules:
        listed = ", ".join(rule.replace("_", " ") for rule in problem.global_rules)
        raise ParameterError(f"a search over orders takes constraints on single families and orders only, not {listed}")
    families = problem.families
    child, _ = owners(families)
    digits, cost, is_rounded = _whole_costs(families.scores, families.child_start, child)
    start, members = members_before(problem)
    masks = _masks(start, members, problem.n_vars)
    table = CostTable(families.child_start, masks, cost, np.arange(len(cost)), digits, is_rounded)
    if keep_dominated:
        return table
    return _selected(table, np.flatnonzero(~dominated(table.child_start, masks)))


def _selected(table: CostTable, kept: Ints) -> CostTable:
    counts = np.bincount(table.child[kept], minlength=table.n_vars)
    return CostTable(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        table.masks[kept],
        table.cost[kept],
        table.family[kept],
        table.digits,
        table.is_rounded,
    )


def _whole_costs(scores: NDArray[np.float64], child_start: Ints, child: Ints) -> tuple[int, Ints, bool]:
    """The number of decimals, the costs in that unit, and whether a score was rounded."""
    whole = np.trunc(scores)
    fraction = scores - whole  # exact
    worst = float(np.sum(scores[child_start[:-1]] - scores[child_start[1:] - 1]))
    if not worst * 10.0**FILE_DIGITS < LARGEST_TOTAL:
        raise ParameterError(f"the scores are too far apart ({worst:.3g} in all) for whole numbers of 1e-{FILE_DIGITS}")
    digits = FILE_DIGITS
    away = np.abs(fraction - np.rint(fraction * 10.0**digits) / 10.0**digits)
    is_rounded = bool(np.any(away > np.spacing(np.abs(scores))))
    if is_rounded:
        digits = next(d for d in range(MOST_DIGITS, 0, -1) if worst * 10.0**d < LARGEST_TOTAL)
    first = child_start[:-1][child]
    units = np.rint(fraction * 10.0**digits).astype(np.int64)
    cost = (whole[first] - whole).astype(np.int64) * 10**digits + units[first] - units
    return digits, cost, is_rounded


def _masks(start: Ints, members: Ints, n_vars: int) -> Words:
    n_families = len(start) - 1
    masks = np.zeros((n_families, n_words_of(n_vars)), dtype=np.uint64)
    family = np.repeat(np.arange(n_families), np.diff(start))
    np.bitwise_or.at(masks, (family, members // WORD), np.uint64(1) << (members % WORD).astype(np.uint64))
    return masks


def families_in_order(table: CostTable, order: Ints) -> Ints:
    """Per variable its cheapest family among those before it in the order; -1 where there is none."""
    return np.asarray(_families_in_order(table.child_start, table.masks, order))


def order_of(table: CostTable, chosen: Ints) -> Ints:
    """An order that the families of a network, one per variable, agree with."""
    order = np.asarray(_feasible_order(np.arange(table.n_vars + 1), np.ascontiguousarray(table.masks[chosen])))
    return order.astype(np.int64)


def better_order(table: CostTable, order: Ints, start: DAG | None) -> Ints:
    """The order of a start network if every variable has a family in it, else the order given."""
    if start is None:
        return order
    own = np.array(start.order, dtype=np.int64)
    return own if np.all(families_in_order(table, own) >= 0) else order


def feasible_order(table: CostTable) -> Ints | None:
    """An order in which every variable has a family, None if there is none.

    A variable with a family inside what is placed is placed: that takes nothing from the others, so if some remain,
    no order exists.
    """
    order = np.asarray(_feasible_order(table.child_start, table.masks))
    return order if len(order) == table.n_vars else None


@kernel
def _families_in_order(child_start: Ints, masks: Words, order: Ints) -> Ints:
    chosen = np.full(len(child_start) - 1, -1, dtype=np.int64)
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    for v in order:
        chosen[v] = _cheapest_inside(child_start, masks, v, placed)
        placed[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    return chosen


@kernel
def _feasible_order(child_start: Ints, masks: Words) -> Ints:
    n_vars = len(child_start) - 1
    order = np.empty(n_vars, dtype=np.int64)
    is_placed = np.zeros(n_vars, dtype=np.bool_)
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    n_placed, n_before = 0, -1
    while n_placed > n_before:
        n_before = n_placed
        for v in range(n_vars):
            if not is_placed[v] and _cheapest_inside(child_start, masks, v, placed) >= 0:
                is_placed[v] = True
                placed[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                order[n_placed] = v
                n_placed += 1
    return order[:n_placed]


@kernel
def _cheapest_inside(child_start: Ints, masks: Words, v: int, placed: Words) -> int:
    for f in range(child_start[v], child_start[v + 1]):
        fits = True
        for w in range(len(placed)):
            fits &= masks[f, w] & ~placed[w] == 0
        if fits:
            return f
    return -1
