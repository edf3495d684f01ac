"""The families that a build keeps, gathered piece by piece and sorted into a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.cache import ScoreCache, starts_of
from scorecache.errors import MemoryLimitError
from scorecache.record import Record
from scorecache.scoring.survivors import Survivors


class Families(NamedTuple):
    """Families of one size: `base` are the parents that all of them have besides the `free` ones, one to a column."""

    children: NDArray[np.int32]
    scores: NDArray[np.float64]
    free: NDArray[np.int32]
    base: tuple[int, ...]

    @property
    def n_parents(self) -> int:
        """How many parents each of them has."""
        return self.free.shape[1] + len(self.base)

    def write_parents(self, rows: NDArray[np.int32]) -> None:
        """Write the parents of each family in ascending order, one to a column."""
        n_free = self.free.shape[1]
        for column in range(n_free):  # numpy copies columns faster than many short rows
            rows[:, column] = self.free[:, column]
        rows[:, n_free:] = self.base
        if any((after < before).any() for before, after in pairwise(rows.T)):
            rows.sort(axis=1)


def bytes_to_sort(width: int) -> int:
    """Bytes that a family of this many parents takes until all of them are sorted."""
    return 3 * (4 * width + 24)


@dataclass
class Kept:
    """A growing list of families that refuses to outgrow its memory."""

    memory_limit: float
    n_bytes: int = 0
    pieces: list[Families] = field(default_factory=list)

    def add(self, survivors: Survivors, base: tuple[int, ...]) -> None:
        """Take over families of one size; `base` are the parents that all of them have besides."""
        children, scores, free = survivors
        added = Families(np.asarray(children, np.int32), scores, np.asarray(free, np.int32), base)
        n_new = len(children)
        if n_new == 0:
            return
        self.n_bytes += bytes_to_sort(added.n_parents) * n_new
        if self.n_bytes > self.memory_limit:
            raise MemoryLimitError(
                f"the families kept so far need {self.n_bytes / 1e9:.1f} GB to be sorted, more than the "
                f"{self.memory_limit / 1e9:.1f} GB allowed; lower max_parents or raise memory_limit"
            )
        self.pieces.append(added)

    def drop_above(self, most_parents: int) -> None:
        """Drop the families with more parents than that."""
        self.pieces = [piece for piece in self.pieces if piece.n_parents <= most_parents]
        self.n_bytes = sum(bytes_to_sort(piece.n_parents) * len(piece.children) for piece in self.pieces)

    def cache(self, names: Sequence[str], record: Record | None = None) -> ScoreCache:
        """All families as a cache; nothing is kept here any longer."""
        pieces, self.pieces = self.pieces, []
        n_families = [len(piece.children) for piece in pieces]
        starts = starts_of(np.repeat(np.array([piece.n_parents for piece in pieces], np.int32), n_families))
        parents = np.empty(int(starts[-1]), np.int32)
        first = 0
        for piece, n in zip(pieces, n_families, strict=True):
            piece.write_parents(parents[starts[first] : starts[first + n]].reshape(n, piece.n_parents))
            first += n
        children = np.concatenate([piece.children for piece in pieces] or [np.empty(0, np.int32)])
        scores = np.concatenate([piece.scores for piece in pieces] or [np.empty(0)])
        del pieces
        return ScoreCache.from_arrays(names, children, scores, starts, parents, record)
