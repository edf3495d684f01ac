"""Solve component by component, the small ones first: they take no time, and the largest gets all that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener, Progress
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.costs.components import Component, assemble, components, restricted
from exactbnc.solvers.costs.loose import loose_bound
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.solvers.bounds.root.kept import PricedCuts

SMALL = 25
"""A component of so many variables is done before a network of the whole is missed."""
SECONDS_AFTER_INTERRUPT = 1.0
"""What the components that are left may still take after Ctrl-C, so that there is a network to write."""

SolvePart = Callable[[Problem, Limits, DAG | None, Listener | None, int], Solution]


def solve_split(
    problem: Problem, solve_part: SolvePart, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
) -> Solution:
    """A best network of a problem without global rules, from best networks of its components."""
    parts = sorted(components(problem), key=lambda part: len(part.variables))
    if len(parts) == 1:
        return solve_part(problem, limits, start, listener, seed)
    begun = time.monotonic()
    own_limits = replace(limits, gap=limits.gap / len(parts))
    solutions: list[Solution] = []
    for number, part in enumerate(parts):
        whole = None if listener is None else _Whole(listener, problem, parts, number, solutions, start)
        own_start = None if start is None else restricted(start, part)
        solutions.append(solve_part(part.problem, own_limits, own_start, whole, seed))
        if solutions[-1].stop_reason == "interrupted":
            # a network needs the other components too, but not their proofs
            own_limits = replace(own_limits, seconds=SECONDS_AFTER_INTERRUPT, started=time.monotonic())
    return _whole_solution(problem, parts, solutions, time.monotonic() - begun)


def _whole_solution(problem: Problem, parts: Sequence[Component], solutions: list[Solution], wall: float) -> Solution:
    worst = next(
        (
            status
            for status in (Status.INFEASIBLE, Status.UNKNOWN, Status.FEASIBLE)
            if any(solution.status is status for solution in solutions)
        ),
        Status.OPTIMAL,
    )
    dag, score = None, None
    if all(solution.dag is not None for solution in solutions):
        dag = assemble(problem, [(part, cast(DAG, own.dag)) for part, own in zip(parts, solutions, strict=True)])
        score = math.fsum(cast(float, own.score) for own in solutions)
    stops = sorted(
        (own.stop_reason for own in solutions if own.status is not Status.OPTIMAL),
        key=lambda reason: reason != "interrupted",
    )
    return Solution(
        status=worst,
        dag=dag,
        score=score,
        bound=math.fsum(own.bound for own in solutions) if worst is not Status.INFEASIBLE else -math.inf,
        method="+".join(sorted({own.method for own in solutions})),
        stop_reason=stops[0] if stops else "proved",
        tolerance=math.fsum(own.tolerance for own in solutions),
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics={
            **_added([own.statistics for own in solutions]),
            "n_components": len(parts),
            "wall_seconds": wall,
        },
    )


def _added(listed: list[Mapping[str, float | int | str]]) -> dict[str, float | int | str]:
    """Counts and seconds summed over components."""
    names = dict.fromkeys(name for statistics in listed for name in statistics)
    return {name: sum(cast(float, statistics.get(name, 0)) for statistics in listed) for name in names}


def some_network(problem: Problem, start: DAG | None) -> tuple[DAG, float] | None:
    """The network of the start's order, or of any that gives every variable a family, and its score; None: no table."""
    from exactbnc.solvers.bounds.root.watch import better_order
    from exactbnc.solvers.costs.table import cost_table, families_in_order, feasible_order

    try:
        table = cost_table(problem, keep_dominated=True)
    except ParameterError:
        return None
    order = feasible_order(table)
    if order is None:
        return None
    families = problem.families
    chosen = table.family[families_in_order(table, better_order(table, order, start))]
    dag = DAG.of(problem.names, [families.parents_of(f) for f in chosen.tolist()])
    return dag, math.fsum(families.scores[chosen])


class _Whole:
    """Tells a listener of one component's search as if it were the whole network's.

    Components before it count with what was found and proved for them; those after it with a loose bound and, once a
    search is long enough to report on, with some network.
    """

    def __init__(
        self,
        listener: Listener,
        problem: Problem,
        parts: Sequence[Component],
        number: int,
        solutions: Sequence[Solution],
        start: DAG | None,
    ) -> None:
        self._listener = listener
        self._problem = problem
        self._part = parts[number]
        self._done = list(zip(parts, solutions, strict=False))
        self._to_come = parts[number + 1 :]
        self._start = start
        self._bound = math.fsum(
            (*(own.bound for own in solutions), *(loose_bound(part.problem) for part in parts[number + 1 :]))
        )

    @cached_property
    def _others(self) -> list[tuple[Component, DAG, float]] | None:
        """A network and its score for every other component; None if one has none, or none worth the time."""
        if self._to_come and len(self._part.variables) <= SMALL:
            return None
        found: list[tuple[Component, DAG, float]] = []
        for part, own in self._done:
            if own.dag is None or own.score is None:
                return None
            found.append((part, own.dag, own.score))
        for part in self._to_come:
            some = some_network(part.problem, None if self._start is None else restricted(self._start, part))
            if some is None:
                return None
            found.append((part, *some))
        return found

    def on_progress(self, progress: Progress) -> None:
        score = None
        if progress.score is not None and self._others is not None:
            score = math.fsum((progress.score, *(own for _, _, own in self._others)))
        self._listener.on_progress(replace(progress, score=score, bound=progress.bound + self._bound))

    def on_incumbent(self, dag: DAG, score: float) -> None:
        if self._others is not None:
            parts = [(part, own) for part, own, _ in self._others]
            total = math.fsum((score, *(own for _, _, own in self._others)))
            self._listener.on_incumbent(assemble(self._problem, [*parts, (self._part, dag)]), total)

    def known_cuts(self) -> Sequence[PricedCuts]:
        from exactbnc.solvers.bounds.root.kept import Keeper, cuts_within

        if not isinstance(self._listener, Keeper):
            return ()
        return cuts_within(self._listener.known_cuts(), self._part.variables)

    def on_cuts(self, priced: PricedCuts) -> None:
        from exactbnc.solvers.bounds.root.kept import Keeper

        if isinstance(self._listener, Keeper):
            self._listener.on_cuts(priced.seen_from(self._part.variables))
