"""Solve component by component, the small ones first: they take little time, and the largest gets the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Events, Progress
from exactbnc.run.limits import Clock, Stopped
from exactbnc.run.solution import Statistics, Status
from exactbnc.run.solver import Outcome, Run, SolveFunction, attempt
from exactbnc.solvers.costs.components import Component, assemble, components, is_one_component, restricted
from exactbnc.solvers.costs.graph import loose_bound
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.solvers.bounds.root.kept import PricedCuts

SMALL = 25
"""A component of that many variables is solved before anybody misses a network of the whole."""
SECONDS_AFTER_INTERRUPT = 1.0
"""How long the remaining components may take after Ctrl-C, so that there is a network to write."""


def solve_split(problem: Problem, solve_part: SolveFunction, run: Run) -> Outcome:
    """A best network of a problem without global rules, from best networks of its components."""
    if is_one_component(problem):
        return solve_part(problem, run)
    try:
        parts = sorted(components(problem, run.check), key=lambda part: len(part.variables))
    except Stopped:  # the solver then stops at once too, and leaves a network
        parts = []
    if not parts:
        return solve_part(problem, run)
    run = replace(run, limits=replace(run.limits, gap=run.limits.gap / len(parts)))
    outcomes: list[Outcome] = []
    for part in parts:
        own = _part_run(problem, parts, outcomes, run)
        own.publish_start(part.problem)
        outcomes.append(_with_network(attempt(solve_part, part.problem, own, "none"), part, run))
        if outcomes[-1].stop_reason == "interrupted":
            if outcomes[-1].dag is None:  # so there will be none of the whole
                raise Stopped("interrupted")
            # a network needs the other components too, but not their proofs
            run = replace(run, clock=Clock(SECONDS_AFTER_INTERRUPT))
    return _whole(problem, parts, outcomes)


def _part_run(problem: Problem, parts: Sequence[Component], done: Sequence[Outcome], run: Run) -> Run:
    """The run of the next component; its events reach those of the whole."""
    part = parts[len(done)]
    known: Sequence[PricedCuts] = ()
    if run.events.known_cuts:
        from exactbnc.solvers.bounds.root.kept import cuts_within

        known = cuts_within(run.events.known_cuts, part.variables)
    events = Events(run.events.clock, loose_bound(part.problem), known)
    events.subscribe(_Whole(problem, parts, done, run))
    return replace(run, events=events, start=None if run.start is None else restricted(run.start, part))


def _with_network(outcome: Outcome, part: Component, run: Run) -> Outcome:
    """The outcome of a component with some network, where the time ended before there was one."""
    if outcome.dag is not None or outcome.stop_reason != "time":
        return outcome
    some = some_network(part.problem, None if run.start is None else restricted(run.start, part))
    return outcome if some is None else replace(outcome, dag=some[0], score=some[1])


def _whole(problem: Problem, parts: Sequence[Component], outcomes: Sequence[Outcome]) -> Outcome:
    dag, score = None, None
    if all(own.dag is not None for own in outcomes):
        dag = assemble(problem, [(part, cast(DAG, own.dag)) for part, own in zip(parts, outcomes, strict=True)])
        score = math.fsum(cast(float, own.score) for own in outcomes)
    reasons = {own.stop_reason for own in outcomes}
    first = next((reason for reason in ("infeasible", "interrupted") if reason in reasons), None)
    stops = [own.stop_reason for own in outcomes if own.status is not Status.OPTIMAL]
    return Outcome(
        method="+".join(sorted({own.method for own in outcomes})),
        stop_reason=first or (stops[0] if stops else "proved"),
        dag=dag,
        score=score,
        bound=math.fsum(own.bound for own in outcomes) if first != "infeasible" else -math.inf,
        tolerance=math.fsum(own.tolerance for own in outcomes),
        statistics=replace(Statistics.total(own.statistics for own in outcomes), n_components=len(parts)),
    )


def some_network(problem: Problem, start: DAG | None) -> tuple[DAG, float] | None:
    """The network of the start's order, or of any that gives every variable a family, and its score; None: no table."""
    from exactbnc.solvers.costs.table import better_order, cost_table, families_in_order, feasible_order

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
    """A listener to one component that publishes its events as those of the whole network.

    Components before it count with what was found and proved for them; those after it with a loose bound and, once a
    run is long enough to report on, with some network.
    """

    def __init__(self, problem: Problem, parts: Sequence[Component], done: Sequence[Outcome], run: Run) -> None:
        self._problem = problem
        self._run = run
        self._part = parts[len(done)]
        self._done = list(zip(parts, done, strict=False))
        self._to_come = parts[len(done) + 1 :]
        self._bound = math.fsum((*(own.bound for own in done), *(loose_bound(part.problem) for part in self._to_come)))

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
            start = self._run.start
            some = some_network(part.problem, None if start is None else restricted(start, part))
            if some is None:
                return None
            found.append((part, *some))
        return found

    def on_progress(self, progress: Progress) -> None:
        score = None
        if progress.score is not None and self._others is not None:
            score = math.fsum((progress.score, *(own for _, _, own in self._others)))
        bound = progress.bound + self._bound
        self._run.events.progress(score, bound, nodes=progress.nodes, cuts=progress.cuts)

    def on_incumbent(self, dag: DAG, score: float) -> None:
        if self._others is not None:
            parts = [(part, own) for part, own, _ in self._others]
            total = math.fsum((score, *(own for _, _, own in self._others)))
            self._run.events.incumbent(assemble(self._problem, [*parts, (self._part, dag)]), total)

    def on_cuts(self, priced: PricedCuts) -> None:
        self._run.events.cuts(priced.seen_from(self._part.variables))
