"""What `auto` does beyond dynamic programming: one root, then the searches that suit the problem, one after the other.

- Where dynamic programming is affordable, dense problems are left to it, and sparse ones that the root leaves open.
- Sparse problems, with fewer than SPARSE families per variable or more than MOST_VARIABLES variables: the LP continues
  while it gains anything, and branch-and-cut begins. Such score files come from sampled networks; their good networks
  have very many orders.
- Dense ones: layers of order prefixes begin; where they explode, they begin again with an LP at every state.
- Where the search that began has more to do than the other one is expected to need, this begins too, and then every
  turn goes to the one that has less to do by its own forecast: layers from the sizes of the last three, branch-and-cut
  from the share of the gap that it closed; neither falls far behind. Both keep what they have between turns and share
  the best network. Work is counted, not timed, so that runs can be repeated.

Networks count as different in score from n units on (n variables,
scores rounded to a unit each): equivalent networks differ by less in a score file, and no search should walk through
all of them. The tolerance says so, unless the ties could be decided in the end (`exactbnc.solvers.order.ties`).
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

from exactbnc.problem.problem import Problem
from exactbnc.run.solver import Outcome, Run, Solver
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root
from exactbnc.solvers.bounds.root.settings import LONG, SHORT, RootSettings
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.table import CostTable, better_order, cost_table, feasible_order
from exactbnc.solvers.ilp.solver import TreeSearch
from exactbnc.solvers.order.solver import LayerSearch
from exactbnc.solvers.order.ties import without_ties

SPARSE = 100
"""Families per variable below which branch-and-cut is the better search; see docs/solver-notes.md."""
MOST_VARIABLES = 128
"""With more variables layers of orders are hopeless whatever the density."""
FIRST_SHARE = 0.2
"""The first turn, in terms of what the other search is expected to need."""
LEAST_TURN = 1.0
"""Work, about in seconds."""
SHARE_OF_TURN = 0.5
"""Later turns, in terms of the work that the search has done."""
LEAST_SHARE_OF_WORK = 1 / 5
"""What a search may fall behind the other one, which has less to do by a forecast that may be wrong."""
UNTRIED_LAYERS = 5.0
UNTRIED_TREE = 15.0
"""What a search that has not begun is expected to need; branch-and-cut takes seconds to begin with many families."""
MOST_COLUMNS = 60_000
"""With more families left, branch-and-cut begins only where the layers give up: its first nodes take too long."""


def is_sparse(table: CostTable) -> bool:
    """Does branch-and-cut suit the problem better than layers of orders?"""
    return table.n_families < SPARSE * table.n_vars or table.n_vars > MOST_VARIABLES


def solve_by_search(problem: Problem, run: Run, *, dp: Solver | None = None) -> Outcome:
    """A best network of a problem without global rules; `dp` if it is affordable."""
    table = cost_table(problem)
    if dp is not None and not is_sparse(table):
        return dp.solve(problem, run)
    order = feasible_order(table)
    if order is None:
        return Outcome(LayerSearch.name, "infeasible")
    report = Report(problem, table, run.events)
    settings = RootSettings(tail=LONG if is_sparse(table) else SHORT, least_gain=table.n_vars)
    order = better_order(table, order, run.start)
    root = find_root(table, order, run, settings=settings, report=report)
    if dp is not None and not root.is_closed and root.stop_reason is None:
        return dp.solve(problem, run)
    # LPs at states have no turn where branch-and-cut suits: it gains as much from as many LPs
    own = LayerSearch(root, report, run, may_relax=not is_sparse(table))
    with closing(own) as layers, closing(TreeSearch(root, report, problem, run)) as tree:
        if is_sparse(table):
            outcome = _in_turns(tree, layers, UNTRIED_LAYERS)
        else:
            outcome = _in_turns(layers, tree, UNTRIED_TREE if root.is_alive.sum() <= MOST_COLUMNS else math.inf)
        incumbent = min(tree.incumbent, layers.incumbent, key=lambda own: own.cost)
    return without_ties(outcome, root, incumbent, report, run)


class Search(Protocol):
    """What takes turns."""

    root: Root
    incumbent: Incumbent

    @property
    def work(self) -> float:
        """What was done so far."""

    def forecast(self) -> float:
        """What is left to do."""

    def advance(self, work: float = math.inf) -> str | None:
        """Continue for that much work: why the search ended, None if there is more to do."""

    def offer(self, incumbent: Incumbent) -> None:
        """Take a network that is better than the best known here."""

    def outcome(self, reason: str) -> Outcome:
        """The best network and bound, where the search ended for that reason."""

    def counted(self) -> dict[str, Any]:
        """Statistics of the turns."""

    def close(self) -> None:
        """Give back memory; the search cannot be continued."""


def _in_turns(one: Search, other: Search, untried: float) -> Outcome:
    """The outcome of the search that ends first; `untried` is what the other one is expected to need before it begins.

    A search that ran out of memory leaves the rest to the other one.
    """
    turn = FIRST_SHARE * untried
    while True:
        reason = one.advance(turn)
        other.offer(one.incumbent)
        if reason == "memory":
            counted = one.counted()
            one.close()
            return _with_counted(other.outcome(other.advance() or "memory"), counted)
        if reason is not None:
            return _with_counted(one.outcome(reason), other.counted())
        is_behind = 0.0 < other.work < LEAST_SHARE_OF_WORK * one.work
        if is_behind or one.forecast() > (other.forecast() if other.work else untried):
            one, other = other, one
        turn = max(LEAST_TURN, SHARE_OF_TURN * one.work)


def _with_counted(outcome: Outcome, counted: dict[str, Any]) -> Outcome:
    """The outcome with statistics of the other search."""
    return replace(outcome, statistics=replace(outcome.statistics, **counted))
