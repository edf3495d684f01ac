"""What a solver is given, a `Run`, and what it returns, an `Outcome`."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Events, Listener
from exactbnc.run.limits import Clock, Limits, Stopped
from exactbnc.run.solution import Statistics, Status
from scorecache.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a solver: when it stops, where it reports to, a network to begin with, and the seed."""

    limits: Limits
    clock: Clock
    events: Events
    start: DAG | None = None
    seed: int = 0

    @classmethod
    def of(cls, limits: Limits | None = None, *listeners: Listener, start: DAG | None = None, seed: int = 0) -> Run:
        """A run that begins now."""
        limits = Limits() if limits is None else limits
        clock = Clock(limits.seconds)
        events = Events(clock)
        events.subscribe(*listeners)
        return cls(limits, clock, events, start, seed)

    def stop_reason(self) -> str | None:
        """Why the run has to stop now, the gap and the nodes aside; None if it has not."""
        return self.clock.stop_reason() or ("memory" if self.limits.memory_left() <= 0 else None)

    def check(self) -> None:
        """Raise Stopped if the run has to stop now; called at least once a second."""
        reason = self.stop_reason()
        if reason is not None:
            raise Stopped(reason)

    def publish_start(self, problem: Problem) -> None:
        """Publish the start network, if it satisfies the constraints and the cache can score it."""
        if self.start is not None:
            with suppress(ParameterError):
                if not problem.check(self.start):
                    self.events.incumbent(self.start, problem.score(self.start))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver found and proved, and why it ended.

    `stop_reason` is "proved", "infeasible", or what came first: "time", "gap", "nodes", "memory", "interrupted".
    `tolerance` is the largest difference in score that a proof leaves open.
    """

    method: str
    stop_reason: str
    dag: DAG | None = None
    score: float | None = None
    bound: float = math.inf
    tolerance: float = 0.0
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def status(self) -> Status:
        if self.stop_reason == "proved":
            return Status.OPTIMAL
        if self.stop_reason == "infeasible":
            return Status.INFEASIBLE
        return Status.UNKNOWN if self.dag is None else Status.FEASIBLE

    def with_best_of(self, events: Events) -> Outcome:
        """The outcome with the best network and bound of the run, whatever the solver returned."""
        if self.status is Status.INFEASIBLE:
            return replace(self, dag=None, score=None, bound=-math.inf)
        dag, score, bound = self.dag, self.score, self.bound
        if events.score is not None and (score is None or events.score > score):
            dag, score = events.dag, events.score
        if self.status is not Status.OPTIMAL:
            bound = min(bound, events.bound)
        return replace(self, dag=dag, score=score, bound=bound if score is None else max(bound, score))


class Solver(Protocol):
    """One way to find a best network."""

    name: str

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why this solver cannot take the problem; None if it can."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A best network, or the best found when a limit was reached; it may also raise Stopped."""


SolveFunction = Callable[[Problem, Run], Outcome]


def attempt(function: SolveFunction, problem: Problem, run: Run, method: str) -> Outcome:
    """Call a solver; however it ends, the best network and bound that it published count."""
    try:
        outcome = function(problem, run)
    except Stopped as stop:
        outcome = Outcome(method, stop.reason)
    except KeyboardInterrupt:
        outcome = Outcome(method, "interrupted")
    except MemoryError:
        outcome = Outcome(method, "memory")
    return outcome.with_best_of(run.events)
