"""One stream of events per run: solvers publish networks, bounds and cuts, and listeners subscribe.

The stream keeps the best network and the best bound of the run, and publishes nothing worse than these: scores never
fall and bounds never rise, whichever solver reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from exactbnc.graph.dag import DAG
from exactbnc.run.limits import Clock

if TYPE_CHECKING:
    from exactbnc.solvers.bounds.root.kept import PricedCuts

SECONDS_BETWEEN = 0.25
"""Between two reports of progress."""


@dataclass(frozen=True)
class Progress:
    """One state of a run; `score` is None before the first network, `bound` is an upper bound on every network.

    `cuts` counts those in use at the root, then those that branch-and-cut added.
    """

    seconds: float
    score: float | None
    bound: float
    nodes: int
    cuts: int = 0


class Listener(Protocol):
    """An observer of one solve; it may raise KeyboardInterrupt to stop it."""

    def on_progress(self, progress: Progress) -> None:
        """Called at most a few times a second."""

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Called for every better network."""


@runtime_checkable
class CutListener(Protocol):
    """A listener that also receives the cuts in use."""

    def on_cuts(self, priced: PricedCuts) -> None:
        """Called whenever they change; the arrays are not written to afterwards."""


class Events:
    """The events of one run, and the best network and bound so far.

    `bound` is one that holds beforehand; `known_cuts` are those that an earlier run left.
    """

    def __init__(self, clock: Clock, bound: float = math.inf, known_cuts: Sequence[PricedCuts] = ()) -> None:
        self.clock = clock
        self.dag: DAG | None = None
        self.score: float | None = None
        self.bound = bound
        self.nodes = 0
        self.known_cuts = tuple(known_cuts)
        self._listeners: list[Listener] = []
        self._last = -math.inf

    def subscribe(self, *listeners: Listener) -> None:
        """Have listeners called from now on, in this order."""
        self._listeners.extend(listeners)

    def resume(self, dag: DAG | None, score: float | None, bound: float) -> None:
        """Begin with what an earlier run found."""
        self.dag, self.score = dag, score
        self.progress(score, bound)

    def is_due(self) -> bool:
        """Is the last report of progress old enough for another one?"""
        return self.clock.elapsed() - self._last >= SECONDS_BETWEEN

    def progress(self, score: float | None, bound: float, *, nodes: int = 0, cuts: int = 0) -> None:
        """Publish a state of the run."""
        self._last = self.clock.elapsed()
        self.bound = min(self.bound, bound)
        self.nodes = max(self.nodes, nodes)
        scores = [known for known in (self.score, score) if known is not None]
        progress = Progress(self._last, max(scores, default=None), self.bound, nodes, cuts)
        for listener in self._listeners:
            with self._stopping():
                listener.on_progress(progress)

    def incumbent(self, dag: DAG, score: float) -> None:
        """Publish a network if it is better than the best so far."""
        if self.score is not None and score <= self.score:
            return
        self.dag, self.score = dag, score
        for listener in self._listeners:
            with self._stopping():
                listener.on_incumbent(dag, score)

    def cuts(self, priced: PricedCuts) -> None:
        """Publish the cuts in use."""
        for listener in self._listeners:
            if isinstance(listener, CutListener):
                listener.on_cuts(priced)

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """A listener's KeyboardInterrupt stops the run at the next look at the clock: solvers end in good order."""
        try:
            yield
        except KeyboardInterrupt:
            self.clock.interrupt()
