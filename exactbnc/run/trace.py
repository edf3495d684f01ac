"""What a run knew and when: the best network's score and the bound over time.

Entries are thinned evenly in time, so that a run of days leaves as short a trace as one of seconds.
"""

from __future__ import annotations

from dataclasses import replace

from exactbnc.graph.dag import DAG
from exactbnc.run.events import Events, Progress

MOST_ENTRIES = 500
LEAST_PAUSE = 1e-3
"""Seconds between entries once there are too many."""


class Trace:
    """A listener that notes every change of the best score or bound of a run."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._pause = 0.0
        self._entries: list[Progress] = []
        events.subscribe(self)

    def on_progress(self, progress: Progress) -> None:
        """Note the bound."""
        self._note()

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Note the score."""
        self._note()

    def entries(self, score: float | None, bound: float) -> tuple[Progress, ...]:
        """All entries, none better than the answer, which is the last of them."""
        last = Progress(self._events.clock.elapsed(), score, bound, self._events.nodes)
        entries = [replace(entry, bound=max(entry.bound, bound)) for entry in self._entries]
        if score is not None:
            entries = [e if e.score is None else replace(e, score=min(e.score, score)) for e in entries]
        return (*entries, last)

    def _note(self) -> None:
        known = self._events
        entry = Progress(known.clock.elapsed(), known.score, known.bound, known.nodes)
        if self._entries and (self._entries[-1].score, self._entries[-1].bound) == (entry.score, entry.bound):
            return
        self._append(entry)
        if len(self._entries) >= MOST_ENTRIES:
            self._pause = max(LEAST_PAUSE, 2 * entry.seconds / MOST_ENTRIES)
            entries, self._entries = self._entries, []
            for kept in entries:
                self._append(kept)

    def _append(self, entry: Progress) -> None:
        """Append an entry; it replaces the last one if it comes soon after the one before that."""
        if len(self._entries) > 1 and entry.seconds - self._entries[-2].seconds < self._pause:
            self._entries.pop()
        self._entries.append(entry)
