"""Costs as scores: what a search in whole numbers finds, published as events."""

from __future__ import annotations

import math

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Events
from exactbnc.run.solution import Statistics
from exactbnc.run.solver import Outcome
from exactbnc.solvers.bounds.cuts.pool import Cuts
from exactbnc.solvers.bounds.root.kept import PricedCuts, beginning
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable


class Report:
    """Publishes better networks at once, bounds a few times a second, and cuts."""

    def __init__(self, problem: Problem, table: CostTable, events: Events) -> None:
        self._problem = problem
        self._table = table
        self._events = events
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

    def outcome(
        self, incumbent: Incumbent, cost_bound: int, *, method: str, stop_reason: str, least_gain: int,
        statistics: Statistics,
    ) -> Outcome:  # fmt: skip
        """The outcome with this network, if no other one costs less than the bound, or by at least `least_gain`."""
        table, score = self._table, self.score(incumbent)
        return Outcome(
            method=method,
            stop_reason=stop_reason,
            dag=self.dag(incumbent),
            score=score,
            bound=score if stop_reason == "proved" else max(score, self.bound(min(cost_bound, incumbent.cost))),
            tolerance=table.tolerance + (least_gain - table.grain) * table.unit,
            statistics=statistics,
        )

    def known_cuts(self) -> tuple[Cuts, Ints] | None:
        """The cuts and multipliers that an earlier run left, if any."""
        return beginning(self._events.known_cuts, self._table)

    def cuts(self, cuts: Cuts, multipliers: Ints) -> None:
        """Publish the cuts in use."""
        self._n_cuts = cuts.n_cuts
        self._events.cuts(PricedCuts(tuple(range(self._table.n_vars)), cuts, multipliers, self._table.digits))

    def progress(self, incumbent: Incumbent, bound: int, nodes: int = 0) -> None:
        """Publish what is new."""
        if self._cost is None or incumbent.cost < self._cost:
            self._cost = incumbent.cost
            self._events.incumbent(self.dag(incumbent), self.score(incumbent))
        if self._events.is_due():
            score = self.score(incumbent)
            bound_score = max(score, self.bound(min(bound, incumbent.cost)))
            self._events.progress(score, bound_score, nodes=nodes, cuts=self._n_cuts)
