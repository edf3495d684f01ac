"""What `auto` does beyond dynamic programming: one root, then the search that suits the problem.

- Sparse problems, with fewer than SPARSE families per variable: the LP goes on while it gains anything, and
  branch-and-cut follows. Such score files come from sampled networks; their good networks have very many orders.
- Dense ones: a short LP, then layers of order prefixes. If these grow beyond MOST_STATES or the memory, the LP goes on
  and branch-and-cut takes over with the best network found.

Networks count as different in score from n units on (n variables, scores rounded to a unit each): equivalent networks
differ by less in a score file, and no search should walk through all of them. The tolerance says so.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from exactbnc.dag import DAG
from exactbnc.limits import Limits
from exactbnc.listener import Listener
from exactbnc.problem import Problem
from exactbnc.solution import Solution, Status
from exactbnc.solvers.ilp.solver import ILPSolver
from exactbnc.solvers.order.solver import OrderSolver
from exactbnc.solvers.root.lp import LONG, SHORT, RootSettings
from exactbnc.solvers.root.report import Report
from exactbnc.solvers.root.root import deepened, incumbent_of
from exactbnc.solvers.root.watch import better_order, watched_root
from exactbnc.solvers.table import CostTable, cost_table, feasible_order

SPARSE = 100
"""Families per variable below which branch-and-cut is the better search; see docs/solver-notes.md."""
MOST_STATES = 300_000
"""States of the search over orders before branch-and-cut takes over."""


def is_sparse(table: CostTable) -> bool:
    """Does branch-and-cut suit the problem better than layers of orders?"""
    return table.n_families < SPARSE * table.n_vars


def solve_by_search(
    problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
) -> Solution:
    """A best network of a problem without global rules."""
    began = time.monotonic()
    table = cost_table(problem)
    order = feasible_order(table)
    if order is None:
        return Solution(
            Status.INFEASIBLE, None, None, -math.inf, "order", "infeasible", 0.0, problem.cache_is_safe,
            problem.constraints.class_name, {"wall_seconds": time.monotonic() - began},
        )  # fmt: skip
    report = Report(problem, table, limits, listener)
    settings = RootSettings(tail=LONG if is_sparse(table) else SHORT, least_gain=table.n_vars)
    order = better_order(table, order, start)
    root = watched_root(table, order, limits, settings=settings, report=report, seed=seed)
    if not is_sparse(table) or root.is_closed or root.is_interrupted:
        nodes = MOST_STATES if limits.nodes is None else min(limits.nodes, MOST_STATES)
        solution = OrderSolver().finish(root, report, replace(limits, nodes=nodes), began)
        if solution.stop_reason not in ("nodes", "memory") or limits.nodes == nodes:
            return solution
        found = incumbent_of(table, better_order(table, order, solution.dag))
        root = deepened(root.with_incumbent(found), limits, settings=replace(settings, tail=LONG), tell=report.tell)
    return ILPSolver().finish(root, report, problem, limits, listener, seed, began)
