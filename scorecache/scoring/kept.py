"""The families that a build keeps, gathered piece by piece and sorted into a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scorecache.cache import ScoreCache, starts_of
from scorecache.errors import MemoryLimitError
from scorecache.record import Record
from scorecache.scoring.survivors import Survivors


def bytes_to_sort(width: int) -> int:
    """Bytes that a family of this many parents takes until all of them are sorted."""
    return 3 * (4 * width + 24)


@dataclass
class Kept:
    """A growing list of families that refuses to outgrow its memory."""

    memory_limit: float
    n_bytes: int = 0
    pieces: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]] = field(default_factory=list)
    """Children, scores, parents in ascending order."""

    def add(self, survivors: Survivors, base: tuple[int, ...]) -> None:
        """Take over families of one size; `base` are the parents that all of them have besides."""
        children, scores, free = survivors
        n_new, width = len(children), free.shape[1] + len(base)
        if n_new == 0:
            return
        self.n_bytes += bytes_to_sort(width) * n_new
        if self.n_bytes > self.memory_limit:
            raise MemoryLimitError(
                f"the families kept so far need {self.n_bytes / 1e9:.1f} GB to be sorted, more than the "
                f"{self.memory_limit / 1e9:.1f} GB allowed; lower max_parents or raise memory_limit"
            )
        parents = np.empty((n_new, width), np.int32)
        parents[:, : free.shape[1]] = free
        parents[:, free.shape[1] :] = base
        if any((after < before).any() for before, after in pairwise(parents.T)):
            parents.sort(axis=1)
        self.pieces.append((children, scores, parents))

    def drop_above(self, most_parents: int) -> None:
        """Drop the families with more parents than that."""
        self.pieces = [piece for piece in self.pieces if piece[2].shape[1] <= most_parents]
        self.n_bytes = sum(bytes_to_sort(parents.shape[1]) * len(parents) for _, _, parents in self.pieces)

    def cache(self, names: Sequence[str], record: Record | None = None) -> ScoreCache:
        """All families as a cache; nothing is kept here any longer."""
        pieces, self.pieces = self.pieces, []
        sizes = np.repeat(
            np.array([own.shape[1] for *_, own in pieces], np.int32), [len(own) for own, _, _ in pieces]
        )
        parents = np.concatenate([own.ravel() for *_, own in pieces] or [np.empty(0, np.int32)])
        children = np.concatenate([own for own, _, _ in pieces] or [np.empty(0, np.int64)])
        scores = np.concatenate([own for _, own, _ in pieces] or [np.empty(0)])
        del pieces
        return ScoreCache.from_arrays(names, children, scores, starts_of(sizes), parents, record)
