"""What a caller hears while a search runs: incumbents and bounds as they are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from exactbnc.graph.dag import DAG


@dataclass(frozen=True)
class Progress:
    """One state of a search; `score` is None before the first network, `bound` is an upper bound on every network.

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
        """Called now and then, at most a few times a second."""

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Called for every better network."""


class Several:
    """Tells several listeners, one after the other."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = tuple(listeners)

    def on_progress(self, progress: Progress) -> None:
        """Pass it on."""
        for listener in self._listeners:
            listener.on_progress(progress)

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Pass it on."""
        for listener in self._listeners:
            listener.on_incumbent(dag, score)
