"""The LP with cuts at a state of the search over orders, where dual ascent leaves too many of them open.

At a state S the families that may be in a completion better than the best make a problem of their own: of a family W
the members outside S must come before. The root's work on this problem (`exactbnc.solvers.bounds.root.lp`) begins with
the cuts of the state before and gives whole multipliers, their bound and the families that are left. By v's least
reduced costs inside S and outside the children are bounded as after an ascent; then an ascent from these multipliers
raises the bound of each. Only such bounds count, so nothing depends on the LP's rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.ascent.layout import (
    COST,
    MASK,
    MEMBERS,
    N_ENTRIES,
    RAISED,
    START,
    Sorted,
    arrange,
    make_workspace,
)  # fmt: skip
from exactbnc.solvers.bounds.cuts.cluster import Bools
from exactbnc.solvers.bounds.cuts.pool import Cuts, cluster_cuts, joined, reduced_costs
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.separation import Separators
from exactbnc.solvers.bounds.root.settings import RootSettings, Tail
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.dominance import dominated
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, Words, order_of
from exactbnc.solvers.order._kernels import (
    BEST_COST,
    LEFT,
    RAISES,
    Prefixes,
    children_of,
    expand,
    list_living,
    look_ahead,
    make_found,
)

AT_STATE = RootSettings(
    tail=Tail(0.05, 2),
    separators=Separators(use_two_clusters=False, use_facets=False, max_clusters=40),
    first_families=30,
    more_families=8,
)
"""Beside the root's cuts only clusters are found, and the rounds end early: a child continues from the cuts."""


FAMILIES_PER_ROUND = 1_400
"""What a round of the LP takes beyond its families, as if it were more of them."""


class Priced(NamedTuple):
    """Cuts with multipliers."""

    cuts: Cuts
    multipliers: Ints

    @property
    def n_bytes(self) -> int:
        return self.cuts.n_bytes + self.multipliers.nbytes


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What is left of a state: its children, as the kernels found them, and the multipliers of its LP, if it had one.

    `n_priced` is what the LP had to do. If it met a better network, `order` continues the state to one at that cost.
    """

    n_children: int
    priced: Priced | None = None
    n_priced: int = 0
    cost: int = 0
    order: Ints | None = None


class Relaxation:
    """The LP at one state after the other; `found` holds the children of the last one."""

    def __init__(self, table: CostTable, arranged: Sorted, root: Priced, run: Run) -> None:
        self._table, self._arranged, self._root, self._run = table, arranged, root, run
        self._workspace = make_workspace(arranged)
        self.found = make_found(table.n_vars, table.n_words, 1)

    def relax(self, prefixes: Prefixes, s: int, upper: int, before: Priced | None) -> Relaxed:
        """Close state s, or bound its children better; `before` are cuts of the state that it continues.

        A single child needs no LP: it has one itself.
        """
        found, workspace = self.found, self._workspace
        found.best[BEST_COST], found.counts[:] = upper, 0
        n_children = int(expand(self._arranged, workspace, prefixes, s, s + 1, found))
        if n_children <= 1 or found.best[BEST_COST] < upper:
            return Relaxed(n_children)
        list_living(self._arranged, workspace, prefixes.states, s, found.counts[LEFT])
        room = upper - 1 - int(prefixes.cost[s])
        placed = prefixes.states[s].view(np.uint64)
        left, is_real, chosen = self._rest(placed, room)
        cuts, multipliers = self._beginning(placed, before)
        incumbent = Incumbent(chosen, room + left.grain)
        result = solve_root(left, cuts, multipliers, incumbent, self._run, settings=AT_STATE)
        n_priced = result.n_rounds * (left.n_families + FAMILIES_PER_ROUND)
        priced = Priced(result.cuts, result.multipliers)
        if result.incumbent.cost <= room:
            order = order_of(left, result.incumbent.chosen)
            cost = int(prefixes.cost[s]) + result.incumbent.cost
            return Relaxed(0, priced, n_priced, cost, order[~_is_in(placed, order)])
        is_alive = result.is_alive & is_real
        alive = left.without(~is_alive)
        if result.is_closed or np.any(np.diff(alive.child_start) == 0):
            return Relaxed(0, priced, n_priced)
        reduced = reduced_costs(alive, *priced)
        n_children = children_of(
            self._arranged, workspace, prefixes, s, room - reduced.bound, alive.masks.view(np.int64), alive.child,
            reduced.cost, found,
        )  # fmt: skip
        if n_children > 1:
            own = arrange(left, is_alive, *priced)
            look_ahead(own, make_workspace(own), n_children, upper, found)
        return Relaxed(n_children, priced, n_priced)

    def _rest(self, placed: Words, room: int) -> tuple[CostTable, Bools, Ints]:
        """The families that live, with the members outside S; which of them there are; a network, however dear.

        So that there is a network, variables with no family inside S have one without members that costs too much.
        """
        table, children, entries = self._table, self._workspace.children, self._workspace.entries
        outside = np.flatnonzero(~_is_in(placed, np.arange(table.n_vars)))
        counts = children[outside, N_ENTRIES]
        rows = np.concatenate([np.arange(n) + first for n, first in zip(counts, children[outside, START], strict=True)])
        listed, child = entries[rows], np.repeat(outside, counts)
        is_empty = ~listed[:, MASK:].any(axis=1)
        lacking = np.setdiff1d(np.arange(table.n_vars), child[is_empty])
        is_placed = _is_in(placed, lacking)
        child = np.concatenate([child, lacking])
        cost = np.concatenate([listed[:, COST], np.where(is_placed, 0, room + 1)])
        masks = np.concatenate([listed[:, MASK:], np.zeros((len(lacking), table.n_words), dtype=np.int64)])
        is_real = np.concatenate([np.ones(len(listed), dtype=np.bool_), is_placed])
        order = np.lexsort((cost, child))
        start = np.searchsorted(child[order], np.arange(table.n_vars + 1))
        order = order[~dominated(start, np.ascontiguousarray(masks[order]).view(np.uint64))]
        start = np.searchsorted(child[order], np.arange(table.n_vars + 1))
        masks = np.ascontiguousarray(masks[order]).view(np.uint64)
        left = CostTable(start, masks, cost[order], np.arange(len(order)), table.digits, table.is_rounded)
        return left, is_real[order], np.flatnonzero(~masks.any(axis=1))

    def _beginning(self, placed: Words, before: Priced | None) -> tuple[Cuts, Ints]:
        """Cuts to begin with: of the state before, or of the root, as far as they hold after S, and of the ascent."""
        cuts, multipliers = without(*(before or self._root), placed)
        raises = self._workspace.raises[: self.found.counts[RAISES]]
        own = cluster_cuts(np.ascontiguousarray(raises[:, MEMBERS:]).view(np.uint64), 1)
        prices = np.where(before is None, raises[:, RAISED], 0)
        return joined(cuts, own), np.concatenate([multipliers, prices])


def without(cuts: Cuts, multipliers: Ints, placed: Words) -> Priced:
    """The cuts once the variables of S come first: of a cluster the members outside S are left, of a facet nothing.

    Multipliers stay where nothing was taken.
    """
    is_met = (cuts.masks & placed).any(axis=1)
    n_met = np.bitwise_count(cuts.masks & placed).sum(axis=1).astype(np.int64)
    masks = cuts.masks & ~placed
    k = np.where(is_met, np.maximum(1, cuts.k - n_met), cuts.k)
    is_kept = ~is_met | ((cuts.facet < 0) & (np.bitwise_count(masks).sum(axis=1) > k))
    return Priced(Cuts(masks, k, cuts.facet, cuts.corners).chosen(is_kept), np.where(is_met, 0, multipliers)[is_kept])


def _is_in(placed: Words, variables: Ints) -> Bools:
    """Which of the variables are in the set?"""
    return np.asarray(placed[variables >> 6] >> (variables & 63).astype(np.uint64) & np.uint64(1), dtype=np.bool_)
