"""Steepest ascent: take the best step until none raises the score.

With a tabu list of length t the search continues with the best step that leads to none of the last t structures, also
downhill, and ends after t steps in a row without a new best; the best structure seen is returned. Until the first local
optimum both are the same, so the list never makes the result worse. Reference: Glover (1989), with whole structures.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._steps import ParentSets, Step
from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

STOPPED_AT_OPTIMUM = "local optimum"
STOPPED_BY_TIME = "time"

SMALLEST_GAIN = 1e-9
SMALLEST_SHARE = 1e-12
"""A step must raise the score by more than both, the latter times the score: less may be rounding, and a circle."""

Neighbours = Callable[[ParentSets], Iterable[Step]]
OnMove = Callable[[ParentSets, float], None]
"""Called with the structure and its score after every step."""


class Objective(Protocol):
    """A structure with a score to be maximised, that knows what a step would gain."""

    @property
    def parents(self) -> ParentSets:
        """The present structure."""

    @property
    def score(self) -> float:
        """Its score."""

    def gain(self, step: Step) -> float:
        """What the step would add to the score."""

    def take(self, step: Step) -> None:
        """Change the structure."""


@dataclass(frozen=True)
class Deadline:
    """A limit of wall time in seconds from `started` on; None: no limit."""

    seconds: float | None
    started: float

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"the time limit must be above 0 seconds. Got {self.seconds!r} instead.")

    @classmethod
    def of(cls, seconds: float | None) -> Deadline:
        """A limit that runs from now on."""
        return cls(seconds, time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.seconds is not None and time.monotonic() - self.started >= self.seconds


@dataclass(frozen=True)
class Ascent:
    """The best structure seen, its score, the number of steps taken, and whether the time ended first."""

    parents: ParentSets
    score: float
    n_moves: int
    timed_out: bool = False


@dataclass(frozen=True)
class SearchResult:
    """The structure found, its score (maximised), the number of steps taken, the method, and why it stopped."""

    dag: DAG
    score: float
    n_moves: int
    method: str
    stop_reason: str = STOPPED_AT_OPTIMUM

    @classmethod
    def of(cls, names: tuple[str, ...], ascent: Ascent, method: str) -> SearchResult:
        """Name the variables of an ascent."""
        reason = STOPPED_BY_TIME if ascent.timed_out else STOPPED_AT_OPTIMUM
        return cls(DAG.of(names, ascent.parents), ascent.score, ascent.n_moves, method, reason)


def classifier(dataset: Dataset, class_name: str, result: SearchResult, parameters: ParameterEstimator | str) -> Fitted:
    """The structure with parameters; no greedy search proves that its structure is best."""
    net = fit_parameters(dataset, result.dag, parameters, class_name=class_name)
    return Fitted(lambda codes: net.log_posterior(codes, class_name), is_proved=False)


def ascend(
    objective: Objective,
    neighbours: Neighbours,
    deadline: Deadline,
    *,
    tabu: int = 0,
    on_move: OnMove | None = None,
) -> Ascent:
    """Climb from the objective's present structure; among equal steps the first is taken."""
    best = Ascent(objective.parents, objective.score, 0)
    recent = deque([objective.parents], maxlen=max(tabu, 1))
    n_moves = n_without_gain = 0
    while True:
        step, timed_out = _best_step(objective, neighbours, deadline, recent if tabu else None)
        if step is None or timed_out:
            return Ascent(best.parents, best.score, n_moves, timed_out)
        objective.take(step)
        n_moves += 1
        recent.append(objective.parents)
        if on_move is not None:
            on_move(objective.parents, objective.score)
        if not tabu or objective.score > best.score + smallest_gain(best.score):
            best, n_without_gain = Ascent(objective.parents, objective.score, n_moves), 0
        else:
            n_without_gain += 1
        if tabu and n_without_gain >= tabu:
            return Ascent(best.parents, best.score, n_moves)


def smallest_gain(score: float) -> float:
    """What a step must gain at this score."""
    return max(SMALLEST_GAIN, SMALLEST_SHARE * abs(score))


def _best_step(
    objective: Objective, neighbours: Neighbours, deadline: Deadline, recent: deque[ParentSets] | None
) -> tuple[Step | None, bool]:
    """The step of the largest gain (without a tabu list: one that raises the score), and whether the time is over."""
    chosen: Step | None = None
    largest = smallest_gain(objective.score) if recent is None else float("-inf")
    for step in neighbours(objective.parents):
        if deadline.is_over:
            return None, True
        gain = objective.gain(step)
        if gain > largest and (recent is None or step.applied(objective.parents) not in recent):
            chosen, largest = step, gain
    return chosen, False
