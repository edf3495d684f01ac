"""Long searches in pieces: what is known is saved now and then, and a later run goes on from there.

A run that goes on begins with the saved network, keeps the saved bound, and its root begins with the saved cuts and
multipliers. The tree of branch-and-cut and the layers of the search over orders are not saved.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from exactbnc.checkpoint.file import CheckpointError, Saved, is_above, problem_hash, read_checkpoint, write_checkpoint
from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener, Progress
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.run.trace import Recorder
from exactbnc.solvers.bounds.root.kept import PricedCuts
from scorecache.errors import ParameterError

DEFAULT_EVERY = 120.0

Run = Callable[[DAG | None, Listener], Solution]
"""A search from a start network."""


@dataclass(frozen=True)
class Checkpoint:
    """A file that a search saves its state to, at most `every` so many seconds and when it ends."""

    path: str | os.PathLike[str]
    every: float = DEFAULT_EVERY

    def __post_init__(self) -> None:
        if not self.every >= 0:
            raise ParameterError(f"seconds between checkpoints must be at least 0. Got {self.every!r} instead.")


def go_on(
    checkpoint: Checkpoint, problem: Problem, limits: Limits, start: DAG | None, recorder: Recorder, run: Run
) -> Solution:
    """Run from where the file says that an earlier run came to; without a file, from the beginning.

    The statistic `bound_from` is "checkpoint" where the bound comes from the file and not from this run.
    """
    saved = read_checkpoint(checkpoint.path, problem)
    if saved is not None:
        recorder.begin(saved.dag, saved.score, saved.bound)
        answer = _answer(problem, limits, saved)
        if answer is not None:
            return replace(answer, trace=recorder.trace(answer))
        start = _better(problem, start, saved)
    saver = Saver(checkpoint, problem, recorder, saved)
    try:
        solution = run(start, saver)
    except KeyboardInterrupt:
        saver.save()
        raise
    if saved is not None:
        saver.refuse_if_above(solution.score)
        is_open = solution.status in (Status.FEASIBLE, Status.UNKNOWN)
        own = {"bound_from": "checkpoint"} if is_open and solution.bound >= saved.bound else {}
        solution = replace(solution, statistics={**solution.statistics, "earlier_seconds": saved.seconds, **own})
    return saver.finish(solution)


class Saver:
    """A listener that saves what it hears, and keeps cuts; a search goes on where the file cannot be written."""

    def __init__(self, checkpoint: Checkpoint, problem: Problem, recorder: Recorder, saved: Saved | None) -> None:
        self._checkpoint = checkpoint
        self._problem = problem
        self._hash = problem_hash(problem)
        self._recorder = recorder
        self._earlier = saved
        self._began = self._last = time.monotonic()
        self._cuts = {} if saved is None else {priced.variables: priced for priced in saved.cuts}

    def on_progress(self, progress: Progress) -> None:
        """Pass it on, and save if it is time."""
        self._recorder.on_progress(progress)
        self._save_if_due()

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Pass it on, and save if it is time; a network above the saved bound shows that the file is wrong."""
        self.refuse_if_above(score)
        self._recorder.on_incumbent(dag, score)
        self._save_if_due()

    def known_cuts(self) -> Sequence[PricedCuts]:
        """Those in the file."""
        return () if self._earlier is None else self._earlier.cuts

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
        known = self._recorder
        if math.isfinite(known.bound):
            with suppress(OSError):
                self._write(known.dag, known.score, known.bound, is_finished=False)

    def finish(self, solution: Solution) -> Solution:
        """Write the answer; if that cannot be done, the statistic `checkpoint` says why."""
        if not math.isfinite(solution.bound):  # there is no network
            return solution
        is_finished = solution.status is Status.OPTIMAL
        try:
            self._write(
                solution.dag,
                solution.score,
                solution.bound,
                is_finished=is_finished,
                tolerance=solution.tolerance,
                method=solution.method,
            )
        except OSError as error:
            told = f"not written: {error.strerror or error}"
            return replace(solution, statistics={**solution.statistics, "checkpoint": told})
        return solution

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


def _answer(problem: Problem, limits: Limits, saved: Saved) -> Solution | None:
    """What the file proves without a search; None if there is something left to do."""
    if saved.dag is None or saved.score is None:
        return None
    bound = max(saved.score, saved.bound)
    is_best = saved.is_finished and not is_above(bound, saved.score + saved.tolerance)
    if not is_best and (limits.gap <= 0 or bound - saved.score > limits.gap):
        return None
    return Solution(
        status=Status.OPTIMAL if is_best else Status.FEASIBLE,
        dag=saved.dag,
        score=saved.score,
        bound=bound,
        method=saved.method or "checkpoint",
        stop_reason="proved" if is_best else "gap",
        tolerance=saved.tolerance,
        cache_is_safe=problem.cache_is_safe,
        class_name=problem.constraints.class_name,
        statistics={"wall_seconds": 0.0, "earlier_seconds": saved.seconds, "bound_from": "checkpoint"},
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
