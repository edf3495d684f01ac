"""A proof by halves, where multipliers alone do not close a group: networks with an arc u -> v, and those without.

Each half starts from the families that are left of it and the multipliers of the whole. The root LP over these, in
whole numbers, closes it, or names the arc that is nearest to one half in its last point: this halves it again. That
the arcs of a half allow no cycle needs no rule of its own: a large multiplier on a cluster drops what would close one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from exactbnc.proof.stages import Bools, Stage, dropped, in_units, written
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Floats
from exactbnc.solvers.bounds.cuts.pool import Cuts, joined, members_of
from exactbnc.solvers.bounds.root._highs import ColumnLP
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.root import Root
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.bounds.root.state import LARGEST_SUM, Incumbent
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, order_of

MOST_NODES = 400
"""A tree that would take more nodes, to judge by the share of it that is closed, is given up."""
MOST_FAMILIES = 5_000
"""With more families left an LP takes seconds, and a tree is not tried."""
AT_NODE = RootSettings(tail=replace(SHORT, widest=math.inf))


@dataclass(eq=False)
class _Half:
    """Networks over some of the families, multipliers to begin with, the stages written, and the arc that halves it."""

    is_alive: Bools
    cuts: Cuts
    multipliers: Ints
    depth: int
    stages: list[Stage] = field(default_factory=list)
    is_closed: bool = False
    arc: tuple[int, int] | None = None


class Tree:
    """A search for something cheaper than `upper`, which falls if `order` is."""

    def __init__(self, root: Root, is_alive: Bools, upper: int, run: Run) -> None:
        self.upper = upper
        self.order = np.zeros(0, dtype=np.int64)
        self._table, self._chosen, self._run = root.table, root.incumbent.chosen, run
        self._first = _Half(is_alive, root.cuts, root.multipliers, 0)

    def recorded(self, variables: Sequence[int]) -> list[list[Any]] | None:
        """Every half as the checker reads it, the one with the arc first: stages, and the arc if they do not close it.

        None if something cheaper was found, or the tree is too long.
        """
        if self._first.is_alive.sum() > MOST_FAMILIES or self.upper * self._table.n_vars > LARGEST_SUM:
            return None
        nodes: list[list[Any]] = []
        halves, share_closed = [self._first], 0.0
        while halves:
            half = halves.pop()
            share = 2.0**-half.depth
            if len(nodes) > MOST_NODES * (share_closed + share):
                return None
            self._work_on(half)
            if half.is_closed:
                share_closed += share
            elif half.arc is None:
                return None
            else:
                halves.extend(self._halves(half, *half.arc))
            stages = [written(*stage, variables) for stage in half.stages]
            nodes.append([stages, [variables[u] for u in half.arc or ()]])
        return nodes

    def _work_on(self, half: _Half) -> None:
        """Close what is left of a half by stages, or name the arc that halves it."""
        table = self._table
        half.is_closed = len(np.unique(table.child[half.is_alive])) < table.n_vars
        if half.is_closed:
            return
        left, _, incumbent = self._left(half)
        found = solve_root(left, half.cuts, half.multipliers, incumbent, self._run, settings=AT_NODE)
        if found.incumbent.cost < self.upper:
            self.upper, self.order = found.incumbent.cost, order_of(left, found.incumbent.chosen)
            return
        self._drop(half, found.cuts, found.multipliers)
        if half.is_closed:
            return
        left, rows, _ = self._left(half)
        lp = ColumnLP(left, np.arange(left.n_families))
        lp.add_cuts(joined(found.cuts, found.lp_cuts))
        solved = lp.solve(self._run.clock)
        self._run.check()
        if solved is not None:
            self._drop(half, lp.cuts, in_units(lp, solved))
            x = np.zeros(table.n_families)
            x[rows] = solved.x
            half.arc = None if half.is_closed else self._most_open_arc(half, x)

    def _left(self, half: _Half) -> tuple[CostTable, Ints, Incumbent]:
        """The table of a half, its rows in the whole, and the incumbent.

        Families of the incumbent that are not of the half stay, so that there is a network, but each costs too much.
        """
        table = self._table
        cost = np.where(half.is_alive, table.cost, self.upper)
        is_kept = half.is_alive.copy()
        is_kept[self._chosen] = True
        rows = np.flatnonzero(is_kept)
        left = replace(table, cost=cost).without(~is_kept)
        # the root looks for what is cheaper by the grain at least: that is cheaper than `upper`
        return left, rows, Incumbent(np.searchsorted(rows, self._chosen), self.upper + left.grain - 1)

    def _drop(self, half: _Half, cuts: Cuts, multipliers: Ints) -> None:
        """Add a stage, unless it leaves everything."""
        is_used = multipliers > 0
        stage = cuts.chosen(is_used), multipliers[is_used]
        half.cuts, half.multipliers = stage
        n_before = half.is_alive.sum()
        half.is_alive, half.is_closed = dropped(self._table, half.is_alive, *stage, self.upper)
        if half.is_closed or half.is_alive.sum() < n_before:
            half.stages.append(stage)

    def _most_open_arc(self, half: _Half, x: Floats) -> tuple[int, int] | None:
        """The arc whose value is nearest to one half, of those that some families left have and some have not."""
        table, n_vars = self._table, self._table.n_vars
        is_member = members_of(table.masks, n_vars)
        value, n_with, n_all = np.zeros((n_vars, n_vars)), np.zeros((n_vars, n_vars)), np.zeros(n_vars)
        np.add.at(value, table.child, is_member * x[:, None])
        np.add.at(n_with, table.child, is_member & half.is_alive[:, None])
        np.add.at(n_all, table.child, half.is_alive)
        openness = np.where((n_with > 0) & (n_with < n_all[:, None]), np.minimum(value, 1 - value), -1.0)
        v, u = np.unravel_index(int(np.argmax(openness)), openness.shape)
        return None if openness[v, u] < 0 else (int(u), int(v))

    def _halves(self, half: _Half, u: int, v: int) -> list[_Half]:
        """Both halves, the one with the arc last: it is the first to be worked on."""
        is_without = ~members_of(self._table.masks, self._table.n_vars)[:, u]
        is_other = self._table.child != v
        return [
            _Half(half.is_alive & (is_other | is_kept), half.cuts, half.multipliers, half.depth + 1)
            for is_kept in (is_without, ~is_without)
        ]
