"""What a search knew and when: the best network's score and the bound over time.

The score never falls and the bound never rises. Entries are thinned evenly in time, so that a search of days leaves as
short a trace as one of seconds.
"""

from __future__ import annotations

import time
from dataclasses import replace

from exactbnc.graph.dag import DAG
from exactbnc.run.events import Listener, Progress
from exactbnc.run.solution import Solution

MOST_ENTRIES = 500
LEAST_PAUSE = 1e-3
"""Seconds between entries once there are too many."""


class Recorder:
    """A listener that keeps the best network, the best bound and the trace, and passes on what it hears.

    `bound` is one that is known beforehand, on every network; `started` is by `time.monotonic`.
    """

    def __init__(self, bound: float, listener: Listener | None, started: float) -> None:
        self.dag: DAG | None = None
        self.score: float | None = None
        self.bound = bound
        self._listener = listener
        self._started = started
        self._nodes = 0
        self._pause = 0.0
        self._entries: list[Progress] = []

    def begin(self, dag: DAG | None, score: float | None, bound: float) -> None:
        """Take what an earlier run found for known, and say so."""
        self.dag, self.score, self.bound = dag, score, min(self.bound, bound)
        self._note()
        if self._listener is not None:
            self._listener.on_progress(Progress(self._seconds(), self.score, self.bound, 0))

    def on_progress(self, progress: Progress) -> None:
        """Note a bound; what is passed on is never worse than what was known."""
        self.bound = min(self.bound, progress.bound)
        self._nodes = max(self._nodes, progress.nodes)
        self._note()
        if self._listener is not None:
            scores = [score for score in (self.score, progress.score) if score is not None]
            self._listener.on_progress(replace(progress, score=max(scores, default=None), bound=self.bound))

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Note a better network."""
        if self.score is not None and score <= self.score:
            return
        self.dag, self.score = dag, score
        self._note()
        if self._listener is not None:
            self._listener.on_incumbent(dag, score)

    def trace(self, solution: Solution) -> tuple[Progress, ...]:
        """All entries, none better than the answer, which is the last of them."""
        last = Progress(self._seconds(), solution.score, solution.bound, self._nodes)
        entries = [replace(entry, bound=max(entry.bound, last.bound)) for entry in self._entries]
        if last.score is not None:
            known = last.score
            entries = [e if e.score is None else replace(e, score=min(e.score, known)) for e in entries]
        return (*entries, last)

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _note(self) -> None:
        entry = Progress(self._seconds(), self.score, self.bound, self._nodes)
        if self._entries and (self._entries[-1].score, self._entries[-1].bound) == (entry.score, entry.bound):
            return
        self._append(entry)
        if len(self._entries) >= MOST_ENTRIES:
            self._pause = max(LEAST_PAUSE, 2 * entry.seconds / MOST_ENTRIES)
            entries, self._entries = self._entries, []
            for kept in entries:
                self._append(kept)

    def _append(self, entry: Progress) -> None:
        """The last entry gives way to a new one that comes soon after the one before it."""
        if len(self._entries) > 1 and entry.seconds - self._entries[-2].seconds < self._pause:
            self._entries.pop()
        self._entries.append(entry)
