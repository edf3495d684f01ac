"""What `auto` does beyond dynamic programming: one root, then the searches that suit the problem, one after the other.

- Where dynamic programming is affordable, dense problems are left to it, and sparse ones that the root leaves open.
- Sparse problems, with fewer than SPARSE families per variable or more than MOST_VARIABLES variables: the LP continues
  while it gains anything, and branch-and-cut follows. Such score files come from sampled networks; their good networks
  have very many orders.
- Dense ones, and sparse ones that are not solved after FIRST_NODES nodes: layers of order prefixes. If these grow
  beyond MOST_STATES or the memory, branch-and-cut continues to the end.

Each search begins with the best network so far. Networks count as different in score from n units on (n variables,
scores rounded to a unit each): equivalent networks differ by less in a score file, and no search should walk through
all of them. The tolerance says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solver import Outcome, Run, Solver
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root, incumbent_of
from exactbnc.solvers.bounds.root.settings import LONG, SHORT, RootSettings
from exactbnc.solvers.costs.table import CostTable, better_order, cost_table, feasible_order
from exactbnc.solvers.ilp.solver import ILPSolver
from exactbnc.solvers.order.solver import OrderSolver

SPARSE = 100
"""Families per variable below which branch-and-cut is the better search; see docs/solver-notes.md."""
MOST_VARIABLES = 128
"""With more variables layers of orders are hopeless whatever the density."""
FIRST_NODES = 40
"""Nodes of branch-and-cut before the search over orders takes over."""
MOST_STATES = 300_000
"""States of the search over orders before branch-and-cut takes over for good."""


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
        return Outcome(OrderSolver.name, "infeasible")
    report = Report(problem, table, run.events)
    settings = RootSettings(tail=LONG if is_sparse(table) else SHORT, least_gain=table.n_vars)
    order = better_order(table, order, run.start)
    root = find_root(table, order, run, settings=settings, report=report)
    if dp is not None and not root.is_closed and root.stop_reason is None:
        return dp.solve(problem, run)
    searches: list[tuple[int | None, Callable[[Root, Run], Outcome]]] = [
        (MOST_STATES, lambda root, own: OrderSolver().finish(root, report, own)),
        (None, lambda root, own: ILPSolver().finish(root, report, problem, own)),
    ]
    if is_sparse(table):
        searches.insert(0, (FIRST_NODES, searches[-1][1]))
    for most_nodes, search in searches:
        own = run if most_nodes is None else replace(run, limits=_at_most(run.limits, most_nodes))
        outcome = search(root, own)
        if outcome.stop_reason not in ("nodes", "memory") or own.limits.nodes == run.limits.nodes:
            break
        root = root.with_incumbent(incumbent_of(table, better_order(table, order, outcome.dag)))
    return outcome


def _at_most(limits: Limits, nodes: int) -> Limits:
    return replace(limits, nodes=nodes if limits.nodes is None else min(nodes, limits.nodes))
