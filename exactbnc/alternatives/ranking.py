"""The best, second best, third best, ... network, each proved to be next.

The networks other than a best one, D, fall into n parts that do not overlap: part i holds those that agree with D in
the families of the first i - 1 variables and differ in that of variable i. A part is a problem with fewer families and
is solved like any other; the best of all parts comes next, and its part is divided in turn (Lawler 1972, "A procedure
for computing the K best solutions to discrete optimization problems").

A part is solved only when its turn can come: until then its bound is that of the part it came from, or, where it is
better, the sum of the best scores that its families leave.

Markov equivalent networks may be counted once (`distinct_classes`): of each class the first that comes is kept. Arcs at
a variable of one state, as the record of the score file has it, do not distinguish classes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.graph.equivalence import CPDAG, cpdag
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve, solver_given
from scorecache.errors import ParameterError

MOST_NETWORKS = 1000
"""Networks that are listed unless more are asked for."""
MOST_EQUIVALENT = 20
"""Networks looked at per network listed, where equivalent ones are passed over."""

LOG_MARGINALS = ("bdeu", "bds", "k2", "bd", "bde", "bge", "bge-cg")
"""The scores that are log marginal likelihoods, so that exp of a difference is a ratio of probabilities."""

Bools = NDArray[np.bool_]
OnNetwork = Callable[[int, Solution], None]


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

    def odds(self, problem: Problem) -> tuple[float, ...] | None:
        """How probable each network is beside the best one, all alike beforehand; None if the score does not say.

        They are no probabilities: what the networks that are not listed amount to is not known, for there are many.
        """
        record = problem.cache.record
        if record is None or record.score not in LOG_MARGINALS:
            return None
        scores = [solution.score or 0.0 for solution in self.solutions]
        return tuple(math.exp(score - scores[0]) for score in scores)


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
    problem: Problem,
    wanted: Wanted,
    *,
    solver: str = "auto",
    limits: Limits | None = None,
    seed: int = 0,
    listener: Listener | Sequence[Listener] | None = None,
    on_network: OnNetwork | None = None,
    method: str | None = None,
) -> Ranking:
    """List the networks that are wanted, best first, each proved to be next among all over the families listed.

    Parameters
    ----------
    problem
        Scores and constraints.
    wanted
        How many networks, how far below the best at most, and whether one per equivalence class.
    solver, seed
        As for `solve`.
    limits
        Of all the work together; the gap is ignored.
    listener
        Receives the progress of every solve.
    on_network
        Is called with each network that is listed and its rank, from 1 on.
    method
        The former name of `solver`; deprecated.

    Returns
    -------
    Ranking
        The networks, and why the list ends.

    Examples
    --------
    >>> from scorecache import ScoreCache
    >>> cache = ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]])
    >>> [solution.score for solution in rank(Problem(cache), Wanted(count=2)).solutions]
    [-2.0, -2.5]
    """
    if problem.is_class_minimal:
        raise ParameterError("networks are ranked by their score; for class-minimal networks there is no ranking")
    chosen = solver_given(solver, method)
    limits = Limits() if limits is None else replace(limits, gap=0.0)
    clock = Clock(limits.seconds)

    def find(part: Problem) -> Solution:
        return solve(part, solver=chosen, limits=clock.left_of(limits), seed=seed, listener=listener)

    listed: list[Solution] = []
    try:
        stop_reason = _list(problem, wanted, _in_order(problem, find, clock), listed, on_network)
    except KeyboardInterrupt:
        stop_reason = "interrupted"
    return Ranking(tuple(listed), stop_reason)


def _list(
    problem: Problem,
    wanted: Wanted,
    solutions: Iterator[Solution | None],
    listed: list[Solution],
    on_network: OnNetwork | None,
) -> str:
    """Fill the list; returns "complete" or the limit that ended it."""
    classes: set[CPDAG] = set()
    n_seen = 0
    for solution in solutions:
        if solution is None or solution.status is not Status.OPTIMAL:
            return "time" if solution is None else solution.stop_reason
        if wanted.within is not None and listed and _score(solution) < _score(listed[0]) - wanted.within:
            return "complete"
        if len(listed) == wanted.most:
            return "complete" if wanted.count is not None else "count"
        n_seen += 1
        if wanted.distinct_classes:
            if n_seen > MOST_EQUIVALENT * wanted.most:
                return "count"
            essential = cpdag(_without_constants(problem, _dag(solution)))
            if essential in classes:
                continue
            classes.add(essential)
        listed.append(solution)
        if on_network is not None:
            on_network(len(listed), solution)
        if wanted.count is not None and wanted.within is None and len(listed) == wanted.count:
            break
    return "complete" if listed else "infeasible"


def _without_constants(problem: Problem, dag: DAG) -> DAG:
    """The network without arcs at variables of one state, which change neither scores nor distributions.

    A score file without a record of its states has no such variables.
    """
    record = problem.cache.record
    states = () if record is None else record.states
    constant = {v for v, own in enumerate(states) if len(own) == 1}
    if not constant:
        return dag
    kept = [() if v in constant else [p for p in own if p not in constant] for v, own in enumerate(dag.parents)]
    return DAG.of(dag.names, kept)


@dataclass(order=True)
class _Part:
    """A part of all networks: the families it may use, a bound on its best score, and its best network once known."""

    minus_bound: float
    number: int
    keep: Bools = field(compare=False)
    n_fixed: int = field(compare=False)
    solution: Solution | None = field(compare=False, default=None)


def _in_order(problem: Problem, find: Callable[[Problem], Solution], clock: Clock) -> Iterator[Solution | None]:
    """Every network, best first; None or a solution that is not optimal says that a limit came first."""
    heap = [_Part(-math.inf, 0, np.ones(len(problem.families.scores), dtype=np.bool_), 0)]
    n_parts = 1
    while heap:
        part = heapq.heappop(heap)
        if part.solution is None:
            if clock.stop_reason() is not None:
                yield None
                return
            solution = find(problem.restricted(part.keep))
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
