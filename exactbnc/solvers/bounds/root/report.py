"""Costs told as scores: a search in whole numbers reports to whoever listens."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener, Progress
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.bounds.cuts.pool import Cuts
from exactbnc.solvers.bounds.root.kept import Keeper, PricedCuts, beginning
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable

SECONDS_BETWEEN = 0.25


def infeasible(problem: Problem, method: str, began: float) -> Solution:
    """The answer where no order gives every variable a family; `began` is by `time.monotonic`."""
    return Solution(
        status=Status.INFEASIBLE,
        dag=None,
        score=None,
        bound=-math.inf,
        method=method,
        stop_reason="infeasible",
        tolerance=0.0,
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics={"wall_seconds": time.monotonic() - began},
    )


class Report:
    """Tells a listener of better networks at once, and of bounds a few times a second; a keeper has cuts from it."""

    def __init__(self, problem: Problem, table: CostTable, limits: Limits, listener: Listener | None) -> None:
        self._problem = problem
        self._table = table
        self._limits = limits
        self._listener = listener
        self._last = -math.inf
        self._cost: int | None = None
        self._n_cuts = 0
        families = problem.families
        self._constant = math.fsum(families.scores[families.child_start[:-1]])

    def dag(self, incumbent: Incumbent) -> DAG:
        """The network."""
        families = self._table.family[incumbent.chosen].tolist()
        return DAG.of(self._problem.names, [self._problem.families.parents_of(f) for f in families])

    def score(self, incumbent: Incumbent) -> float:
        """Its score."""
        return math.fsum(self._problem.families.scores[self._table.family[incumbent.chosen]])

    def bound(self, cost: int) -> float:
        """What no network scores above if none costs less; rounding of scores to whole costs included."""
        return self._constant - cost * self._table.unit + self._table.tolerance / 2

    def solution(
        self,
        incumbent: Incumbent,
        *,
        bound: float,
        method: str,
        stop_reason: str,
        tolerance: float,
        statistics: Mapping[str, float | int | str],
    ) -> Solution:
        """The answer with this network; it is proved if that is why the search ended."""
        score = self.score(incumbent)
        return Solution(
            status=Status.OPTIMAL if stop_reason == "proved" else Status.FEASIBLE,
            dag=self.dag(incumbent),
            score=score,
            bound=max(score, bound),
            method=method,
            stop_reason=stop_reason,
            tolerance=tolerance,
            cache_is_safe=self._problem.cache_is_safe,
            class_name=self._problem.constraints.class_name,
            statistics=statistics,
        )

    def known_cuts(self) -> tuple[Cuts, Ints] | None:
        """The cuts and multipliers that an earlier run left, if any."""
        return beginning(self._listener.known_cuts(), self._table) if isinstance(self._listener, Keeper) else None

    def keep_cuts(self, cuts: Cuts, multipliers: Ints) -> None:
        """Hand cuts and multipliers to a keeper."""
        self._n_cuts = cuts.n_cuts
        if isinstance(self._listener, Keeper):
            everything = tuple(range(self._table.n_vars))
            self._listener.on_cuts(PricedCuts(everything, cuts, multipliers, self._table.digits))

    def tell(self, incumbent: Incumbent, bound: int, nodes: int = 0) -> None:
        """Report if there is something new."""
        if self._listener is None:
            return
        if self._cost is None or incumbent.cost < self._cost:
            self._cost = incumbent.cost
            self._listener.on_incumbent(self.dag(incumbent), self.score(incumbent))
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN:
            self._last = now
            score = self.score(incumbent)
            bound_score = max(score, self.bound(min(bound, incumbent.cost)))
            seconds = now - self._limits.started
            self._listener.on_progress(Progress(seconds, score, bound_score, nodes, self._n_cuts))
