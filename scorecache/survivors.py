"""The families that were kept, gathered piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.errors import MemoryLimitError

Survivors = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.integer[Any]]]
"""Children, scores, and a table of their free parents (all families of one size)."""

NO_SURVIVORS: Survivors = (np.empty(0, np.int64), np.empty(0, np.float64), np.empty((0, 1), np.int64))

Task = tuple[Callable[..., Survivors], tuple[Any, ...]]
"""A kernel and its arguments: one piece of work for one thread."""


@dataclass(frozen=True)
class Pruning:
    """Whether dominated sets are dropped, and how much worse than a subset a set may be and still stay."""

    on: bool
    gap: float = 0.0


@dataclass
class Kept:
    """A growing list of families that refuses to outgrow its memory."""

    memory_limit: float
    n_bytes: int = 0
    children: list[NDArray[np.int64]] = field(default_factory=list)
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    sizes: list[NDArray[np.int64]] = field(default_factory=list)
    parents: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, survivors: Survivors, base: tuple[int, ...]) -> None:
        """Take over families of one size; `base` are the parents that all of them have besides."""
        children, scores, free = survivors
        if len(children) == 0:
            return
        table = np.empty((len(children), free.shape[1] + len(base)), dtype=np.int32)
        table[:, : free.shape[1]] = free
        table[:, free.shape[1] :] = base
        if np.any(table[:, 1:] <= table[:, :-1]):
            table.sort(axis=1)
        self.n_bytes += 3 * (table.nbytes + 24 * len(children))
        if self.n_bytes > self.memory_limit:
            raise MemoryLimitError(
                f"the families kept so far need {self.n_bytes / 1e9:.1f} GB to be sorted, more than the "
                f"{self.memory_limit / 1e9:.1f} GB allowed; lower --max-parents or raise --memory-limit"
            )
        self.children.append(children)
        self.scores.append(scores)
        self.sizes.append(np.full(len(children), table.shape[1], dtype=np.int64))
        self.parents.append(table.ravel())

    def collect(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
        """All families as flat arrays: children, scores, where each one's parents start, parents."""
        sizes = np.concatenate(self.sizes)
        parent_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return np.concatenate(self.children), np.concatenate(self.scores), parent_start, np.concatenate(self.parents)
