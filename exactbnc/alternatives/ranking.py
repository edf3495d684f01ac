"""The best, second best, third best, ... network, each proved to be next.

The networks other than a best one, D, fall into n parts that do not overlap: part i holds those that agree with D in
the families of the first i - 1 variables and differ in that of variable i. A part is a problem with fewer families and
is solved like any other; the best of all parts comes next, and its part is divided in turn (Lawler 1972, "A procedure
for computing the K best solutions to discrete optimization problems").

A part is solved only when its turn can come: until then its bound is that of the part it came from, or, where it is
better, the sum of the best scores that its families leave.

Markov equivalent networks may be counted once (`distinct_classes`): of each class the first that comes is kept.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.graph.equivalence import CPDAG, cpdag
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve
from scorecache.errors import ParameterError

MOST_NETWORKS = 1000
"""Networks that are listed unless more are asked for."""
MOST_EQUIVALENT = 20
"""Networks looked at per network listed, where equivalent ones are passed over."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best networks, best first; `stop_reason` is "complete" or the limit that ended the listing.

    Complete means that the list is what was asked for: as many as wanted, all within the distance, or all there are.
    """

    solutions: tuple[Solution, ...]
    stop_reason: str

    @property
    def is_complete(self) -> bool:
        return self.stop_reason == "complete"


@dataclass(frozen=True)
class Wanted:
    """How many networks, how far below the best at most, and whether one per equivalence class."""

    count: int | None = None
    within: float | None = None
    distinct_classes: bool = False

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise ParameterError(f"the number of networks must be at least 1. Got {self.count} instead.")
        if self.within is not None and not self.within >= 0:
            raise ParameterError(f"the distance from the best score must be at least 0. Got {self.within} instead.")

    @property
    def most(self) -> int:
        return MOST_NETWORKS if self.count is None else self.count


def rank(
    problem: Problem, wanted: Wanted, *, method: str = "auto", limits: Limits | None = None, seed: int = 0
) -> Ranking:
    """The networks that are wanted, best first, each proved to be next among all over the families listed."""
    limits = Limits() if limits is None else limits
    listed: list[Solution] = []
    classes: set[CPDAG] = set()
    n_seen = 0
    for solution in _in_order(problem, method, limits, seed):
        if solution is None or solution.status is not Status.OPTIMAL:
            return Ranking(tuple(listed), "time" if solution is None else solution.stop_reason)
        if wanted.within is not None and listed and _score(solution) < _score(listed[0]) - wanted.within:
            return Ranking(tuple(listed), "complete")
        if len(listed) == wanted.most:
            return Ranking(tuple(listed), "complete" if wanted.count is not None else "count")
        n_seen += 1
        if wanted.distinct_classes:
            if n_seen > MOST_EQUIVALENT * wanted.most:
                return Ranking(tuple(listed), "count")
            essential = cpdag(_dag(solution))
            if essential in classes:
                continue
            classes.add(essential)
        listed.append(solution)
        if wanted.count is not None and wanted.within is None and len(listed) == wanted.count:
            break
    return Ranking(tuple(listed), "complete" if listed else "infeasible")


@dataclass(order=True)
class _Part:
    """A part of all networks: the families it may use, a bound on its best score, and its best network once known."""

    minus_bound: float
    number: int
    keep: Bools = field(compare=False)
    n_fixed: int = field(compare=False)
    solution: Solution | None = field(compare=False, default=None)


def _in_order(problem: Problem, method: str, limits: Limits, seed: int) -> Iterator[Solution | None]:
    """Every network, best first; None or a solution that is not optimal says that a limit came first."""
    heap = [_Part(-math.inf, 0, np.ones(len(problem.families.scores), dtype=np.bool_), 0)]
    n_parts = 1
    while heap:
        part = heapq.heappop(heap)
        if part.solution is None:
            if limits.seconds_left() <= 0:
                yield None
                return
            own = replace(limits, gap=0.0)
            solution = solve(problem.restricted(part.keep), method=method, limits=own, seed=seed)
            if solution.status is Status.OPTIMAL:
                heapq.heappush(heap, replace(part, minus_bound=-_score(solution), solution=solution))
            elif solution.status is not Status.INFEASIBLE:
                yield solution
                return
            continue
        yield part.solution
        for keep, n_fixed in _divided(problem, part):
            bound = min(-part.minus_bound, _sum_of_best(problem, keep))
            if bound > -math.inf:
                heapq.heappush(heap, _Part(-bound, n_parts, keep, n_fixed))
                n_parts += 1


def _divided(problem: Problem, part: _Part) -> Iterator[tuple[Bools, int]]:
    """The part less its best network, in parts that do not overlap."""
    families = problem.families
    dag = _dag(part.solution)
    keep = part.keep.copy()
    for v in range(part.n_fixed, problem.n_vars):
        first, last = int(families.child_start[v]), int(families.child_start[v + 1])
        own = next(f for f in range(first, last) if keep[f] and families.parents_of(f) == dag.parents[v])
        other = keep.copy()
        other[own] = False
        yield other, v
        keep[first:last] = False
        keep[own] = True


def _sum_of_best(problem: Problem, keep: Bools) -> float:
    """Every variable with its best family that is kept; -inf if one has none."""
    scores = np.where(keep, problem.families.scores, -np.inf)
    return math.fsum(np.maximum.reduceat(scores, problem.families.child_start[:-1]))


def _dag(solution: Solution | None) -> DAG:
    return cast(DAG, cast(Solution, solution).dag)  # an optimal solution has a network


def _score(solution: Solution) -> float:
    return cast(float, solution.score)
