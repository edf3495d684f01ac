"""Long runs in pieces: what is known is saved from time to time, and a later run resumes from there.

A run that resumes begins with the saved network, keeps the saved bound, and its root begins with the saved cuts and
multipliers. The tree of branch-and-cut and the layers of the search over orders are not saved.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from exactbnc.checkpoint.file import CheckpointError, Saved, is_above, problem_hash, read_checkpoint, write_checkpoint
from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Events, Listener, Progress
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Statistics, Status
from exactbnc.run.solver import Outcome, Run, SolveFunction, attempt
from exactbnc.solvers.bounds.root.kept import PricedCuts
from scorecache.errors import ParameterError

DEFAULT_EVERY = 120.0


@dataclass(frozen=True)
class Checkpoint:
    """A file that a run saves its state to, at most every `every` seconds and when it ends."""

    path: str | os.PathLike[str]
    every: float = DEFAULT_EVERY

    def __post_init__(self) -> None:
        if not self.every >= 0:
            raise ParameterError(f"seconds between checkpoints must be at least 0. Got {self.every!r} instead.")


def solve_with_checkpoint(
    checkpoint: Checkpoint,
    function: SolveFunction,
    method: str,
    problem: Problem,
    run: Run,
    listeners: Sequence[Listener],
) -> Outcome:
    """Run from where the file says that an earlier run came to; without a file, from the beginning.

    The statistic `bound_from` is "checkpoint" where the bound comes from the file and not from this run.
    """
    saved = read_checkpoint(checkpoint.path, problem)
    saver = Saver(checkpoint, problem, run.events, saved)
    run.events.subscribe(*listeners, saver)
    if saved is not None:
        run.events.resume(saved.dag, saved.score, saved.bound)
        run.events.known_cuts = saved.cuts
        answer = _answer(run.limits, saved)
        if answer is not None:
            return answer
        run = replace(run, start=_better(problem, run.start, saved))
    run.publish_start(problem)
    outcome = attempt(function, problem, run, method)
    if outcome.stop_reason == "interrupted" and outcome.dag is None:
        saver.save()
        return outcome
    if saved is not None:
        saver.refuse_if_above(outcome.score)
        is_open = outcome.status in (Status.FEASIBLE, Status.UNKNOWN)
        bound_from = "checkpoint" if is_open and outcome.bound >= saved.bound else None
        statistics = replace(outcome.statistics, earlier_seconds=saved.seconds, bound_from=bound_from)
        outcome = replace(outcome, statistics=statistics)
    return saver.finish(outcome)


class Saver:
    """A listener that saves what is known from time to time; a run continues if the file cannot be written."""

    def __init__(self, checkpoint: Checkpoint, problem: Problem, events: Events, saved: Saved | None) -> None:
        self._checkpoint = checkpoint
        self._problem = problem
        self._hash = problem_hash(problem)
        self._events = events
        self._earlier = saved
        self._began = self._last = time.monotonic()
        self._cuts = {} if saved is None else {priced.variables: priced for priced in saved.cuts}

    def on_progress(self, progress: Progress) -> None:
        """Save if it is time."""
        self._save_if_due()

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Save if it is time; a network above the saved bound shows that the file is wrong."""
        self.refuse_if_above(score)
        self._save_if_due()

    def on_cuts(self, priced: PricedCuts) -> None:
        """Keep them for the next time that the file is written."""
        self._cuts[priced.variables] = priced

    def refuse_if_above(self, score: float | None) -> None:
        """Raise a CheckpointError if a network is above the saved bound."""
        if self._earlier is not None and score is not None and is_above(score, self._earlier.bound):
            raise CheckpointError(
                self._checkpoint.path, f"its bound {self._earlier.bound!r} is wrong, a network scores {score!r}"
            )

    def save(self) -> None:
        """Write the file as things stand; what went wrong with the disk is tried again next time."""
        known = self._events
        if math.isfinite(known.bound):
            with suppress(OSError):
                self._write(known.dag, known.score, known.bound, is_finished=False)

    def finish(self, outcome: Outcome) -> Outcome:
        """Write the answer; if that cannot be done, the statistic `checkpoint` says why."""
        if not math.isfinite(outcome.bound):  # there is no network
            return outcome
        is_finished = outcome.status is Status.OPTIMAL
        try:
            self._write(
                outcome.dag,
                outcome.score,
                outcome.bound,
                is_finished=is_finished,
                tolerance=outcome.tolerance,
                method=outcome.method,
            )
        except OSError as error:
            failure = f"not written: {error.strerror or error}"
            return replace(outcome, statistics=replace(outcome.statistics, checkpoint=failure))
        return outcome

    def _save_if_due(self) -> None:
        if time.monotonic() - self._last >= self._checkpoint.every:
            self.save()
            self._last = time.monotonic()

    def _write(
        self,
        dag: DAG | None,
        score: float | None,
        bound: float,
        *,
        is_finished: bool,
        tolerance: float = 0.0,
        method: str = "",
    ) -> None:
        seconds = time.monotonic() - self._began + (0.0 if self._earlier is None else self._earlier.seconds)
        saved = Saved(dag, score, bound, is_finished, tolerance, method, seconds, tuple(self._cuts.values()))
        write_checkpoint(self._checkpoint.path, self._hash, saved)


def _answer(limits: Limits, saved: Saved) -> Outcome | None:
    """What the file proves without a run; None if there is something left to do."""
    if saved.dag is None or saved.score is None:
        return None
    bound = max(saved.score, saved.bound)
    is_best = saved.is_finished and not is_above(bound, saved.score + saved.tolerance)
    if not is_best and (limits.gap <= 0 or bound - saved.score > limits.gap):
        return None
    return Outcome(
        method=saved.method or "checkpoint",
        stop_reason="proved" if is_best else "gap",
        dag=saved.dag,
        score=saved.score,
        bound=bound,
        tolerance=saved.tolerance,
        statistics=Statistics(earlier_seconds=saved.seconds, bound_from="checkpoint"),
    )


def _better(problem: Problem, start: DAG | None, saved: Saved) -> DAG | None:
    """The better one of the start that was given and the saved network."""
    if start is None or saved.dag is None or saved.score is None:
        return start or saved.dag
    try:
        is_better = not problem.check(start) and problem.score(start) > saved.score
    except ParameterError:  # a family that the cache does not hold
        is_better = False
    return start if is_better else saved.dag
