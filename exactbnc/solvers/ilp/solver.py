"""Branch and cut: a root in whole numbers where the problem allows it, then the families that are left in SCIP.

Acyclicity is kept by cluster cuts. It takes every problem; with global rules all families go to SCIP at once.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root, find_root
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, better_order, cost_table, feasible_order
from exactbnc.solvers.ilp.branching import OPTIONAL_PLUGINS, Beginning, BranchAndCut, Found
from exactbnc.solvers.ilp.model.model import Columns, columns_of
from exactbnc.solvers.order.ties import without_ties
from scorecache.errors import ParameterError

TOLERANCE = 1e-6
"""SCIP's LP bounds have tolerances of 1e-7 per row; optimal means optimal up to this absolute difference."""

ROOT = "root"

SECONDS_PER_ITERATION = 1.7e-4
"""What a simplex iteration takes with all that goes with it, roughly; measured on carpo100.BDeu.3 and alarm, ESS 10."""
LEAST_SHARE = 0.05
"""Of the gap, counted as closed by whatever was done so far: the first nodes may close nothing."""
WORK_BY_SHARE = 1.5
"""Work grows with this power of the share of the gap that is closed: 80 nodes close a third of the gap of alarm with
ESS 10 and three parents, 150 half of it, 500 all."""
FEW_NODES = 10
"""At a time, and a quarter of those done."""


class ILPSolver:
    """Exact for every problem; `disabled` names optional plugins, or the root, to leave out."""

    name = "ilp"

    def __init__(self, disabled: frozenset[str] = frozenset(), *, settings: RootSettings | None = None) -> None:
        known = (ROOT, *OPTIONAL_PLUGINS)
        unknown = sorted(disabled - set(known))
        if unknown:
            raise ParameterError(
                f"the optional parts of the ilp are {', '.join(known)}. Got {', '.join(unknown)} instead."
            )
        self.disabled = disabled
        self.settings = RootSettings(tail=LONG) if settings is None else settings

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why branch-and-cut cannot take the problem: every constraint is honoured, and only the score maximised."""
        return "it looks for the best score, not for class-minimal networks" if problem.is_class_minimal else None

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A best network; the answer is checked against the constraints before it is returned."""
        columns = columns_of(problem)
        table = None if ROOT in self.disabled else _table(problem)
        if table is None:
            start = _usable(problem, run.start)
            chosen = None if start is None else columns.choice_of(start)
            with closing(BranchAndCut(problem, Beginning(columns, chosen), run, self.disabled)) as search:
                search.advance()
                return _outcome(problem, columns, search.found())
        order = feasible_order(table)
        if order is None:
            return Outcome(self.name, "infeasible")
        report = Report(problem, table, run.events)
        order = better_order(table, order, run.start)
        settings = replace(self.settings, least_gain=max(self.settings.least_gain, round(TOLERANCE / table.unit)))
        root = find_root(table, order, run, settings=settings, report=report)
        return self.finish(root, report, problem, run)

    def finish(self, root: Root, report: Report, problem: Problem, run: Run) -> Outcome:
        """Continue from a root."""
        with closing(TreeSearch(root, report, problem, run, disabled=self.disabled)) as search:
            outcome = search.outcome(search.advance() or "interrupted")
        return without_ties(outcome, root, search.incumbent, report, run)


class TreeSearch:
    """Branch and cut below a root, a turn at a time."""

    name = ILPSolver.name

    def __init__(
        self, root: Root, report: Report, problem: Problem, run: Run, *, disabled: frozenset[str] = frozenset()
    ) -> None:
        self.root, self.incumbent = root, root.incumbent
        self._report, self._problem, self._run, self._disabled = report, problem, run, disabled
        self._search: BranchAndCut | None = None
        self._kept = np.zeros(0, dtype=np.int64)

    def close(self) -> None:
        """Free SCIP's model."""
        if self._search is not None:
            self._search.close()

    @cached_property
    def _columns(self) -> Columns:
        return columns_of(self._problem)

    def offer(self, incumbent: Incumbent) -> None:
        """Take a network that is better than the best known here."""
        if incumbent.cost >= self.incumbent.cost:
            return
        self.incumbent = incumbent
        if self._search is None:
            self.root = self.root.with_incumbent(incumbent)
        elif np.all(np.isin(incumbent.chosen, self._kept)):
            self._search.offer(np.searchsorted(self._kept, incumbent.chosen))

    @property
    def work(self) -> float:
        """What was done so far, in seconds of a usual machine; counted, so that runs can be repeated."""
        return 0.0 if self._search is None else SECONDS_PER_ITERATION * self._search.n_iterations

    def forecast(self) -> float:
        """The work that is left, if the share of the gap that is closed goes on to grow with a power of the work."""
        if self._search is None:
            return 0.0
        unit = self.root.table.unit
        gap = (self.incumbent.cost - self.root.bound) * unit
        closed = max(self._search.cost_bound - self.root.bound * unit, LEAST_SHARE * gap)
        return self.work * max(0.0, float((gap / closed) ** WORK_BY_SHARE) - 1.0)

    def advance(self, work: float = math.inf) -> str | None:
        """Continue for that much work: why the search ended, None if there is more to do."""
        root, run = self.root, self._run
        if root.is_closed or root.stop_reason is not None:
            return "proved" if root.is_closed else root.stop_reason
        if self._search is None:
            gap = (root.incumbent.cost - root.bound) * root.table.unit
            reason = "gap" if gap <= run.limits.gap else run.clock.stop_reason()
            if reason is not None:
                return reason
            beginning, self._kept = _from_root(root, self._columns)
            self._search = BranchAndCut(self._problem, beginning, run, self._disabled)
        until = self.work + work
        while True:
            n_nodes = None if math.isinf(work) else max(FEW_NODES, self._search.n_nodes // 4)
            reason = self._search.advance(n_nodes)
            if reason is not None or self.work >= until:
                self._take_found()
                return reason

    def _take_found(self) -> None:
        """Take over the network that SCIP found."""
        chosen = None if self._search is None else self._search.found().chosen
        if chosen is not None:
            families = self._kept[chosen]
            cost = int(self.root.table.cost[families].sum())
            if cost < self.incumbent.cost:
                self.incumbent = Incumbent(families, cost)

    def outcome(self, reason: str) -> Outcome:
        """The best network and bound, where the search ended for that reason."""
        root = self.root
        n_columns = len(self._problem.families.scores)
        at_root = self._report.outcome(
            self.incumbent,
            root.bound,
            method=self.name,
            stop_reason=reason,
            least_gain=root.least_gain,
            statistics=replace(root.statistics(), scip_seconds=0.0, nodes=0, n_columns=n_columns),
        )
        if self._search is None:
            return at_root
        below = _outcome(self._problem, self._columns, self._search.found())
        statistics = replace(
            at_root.statistics,
            cuts=root.cuts.n_cuts + (below.statistics.cuts or 0),
            n_alive=below.statistics.n_alive,
            **self.counted(),
        )
        return replace(below, tolerance=below.tolerance + at_root.tolerance, statistics=statistics)

    def counted(self) -> dict[str, Any]:
        """Statistics of the turns."""
        if self._search is None:
            return {}
        counted = self._search.found().statistics
        names = ("nodes", "lp_iterations", "scip_seconds")
        return {name: getattr(counted, name) for name in names}


def _from_root(root: Root, columns: Columns) -> tuple[Beginning, Ints]:
    """The beginning after a root, out of the columns of the whole problem, and the families of the table it has.

    A network cheaper than the root's incumbent uses only families that are alive. These and the incumbent's own become
    columns, so the incumbent is a solution of the integer program and the best of its solutions is a best network.
    """
    table, chosen = root.table, root.incumbent.chosen
    is_kept = root.is_alive.copy()
    is_kept[chosen] = True
    kept = np.flatnonzero(is_kept)
    left = columns.only(table.family[kept], table.cost[kept].astype(np.float64) * table.unit)
    bound = min(root.bound, root.incumbent.cost) * table.unit - table.tolerance / 2
    return Beginning(left, np.searchsorted(kept, chosen), root.cuts, bound), kept


def _outcome(problem: Problem, columns: Columns, found: Found) -> Outcome:
    """Make sure that the network is one."""
    statistics = replace(found.statistics, n_columns=columns.n_columns)
    is_infeasible = found.stop_reason == "infeasible"
    if found.chosen is None:
        return Outcome(ILPSolver.name, found.stop_reason, None, None, found.bound, TOLERANCE, statistics)
    own = columns if found.columns is None else found.columns
    dag, score = own.dag(found.chosen), own.score(found.chosen)
    broken = problem.check(dag)
    if broken or is_infeasible:
        raise RuntimeError(f"the ilp returned a wrong network, please report this: {'; '.join(broken)}")
    return Outcome(ILPSolver.name, found.stop_reason, dag, score, max(found.bound, score), TOLERANCE, statistics)


def _table(problem: Problem) -> CostTable | None:
    """The table of a problem; None if it has none, because of global rules or scores too far apart."""
    try:
        return cost_table(problem)
    except ParameterError:
        return None


def _usable(problem: Problem, start: DAG | None) -> DAG | None:
    """A start network that satisfies every constraint, else None."""
    if start is None or set(start.names) != set(problem.names):
        return None
    own = DAG.from_arcs(problem.names, start.arcs)
    return None if problem.check(own) else own
