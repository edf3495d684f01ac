"""The one level loop: every build, wherever its pieces run.

A level is cut into pieces, ranges of joint sets or of parent sets. A piece needs the level below and nothing of its own
level, so threads, the workers of a cluster and a build that is resumed from finished pieces run the same ones, in any
order, and the families and scores are the same, bit for bit.

    level below  ->  pieces  ->  run_piece  ->  survivors to `Kept`, and its part of the level to `Level`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.types import Slab
from scorecache.scoring.survivors import Survivors

if TYPE_CHECKING:
    from scorecache.scoring.kept import Kept

NO_COUNTS = np.empty((1, 0), np.int32)

Room = Callable[[tuple[int, ...], Any], NDArray[Any]]
"""Makes an array of a shape and a type, with any values: `numpy.empty`, or in a file
(`scorecache.system.mapped`)."""


class Piece(NamedTuple):
    """A range of rows of a level, counted by one kernel: the unit of work of threads and clusters, and of resuming."""

    kernel: str
    level: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """Different for different pieces of a build."""
        return f"level{self.level}-{self.kernel}-{self.first}"


class Found(NamedTuple):
    """What a piece yields: the families that pruning leaves, and its part of the level.

    `counts` are those that bitmap kernels keep for the levels above, in the columns from `counts_at` on.
    """

    survivors: tuple[Survivors, ...] = ()
    slab: Slab | None = None
    counts: NDArray[np.int32] = NO_COUNTS
    counts_at: int = 0


@dataclass(eq=False)
class Level:
    """A level while its pieces come in; then what the pieces of the next level read.

    `counts` belong to this level, `stored` to all levels below, end to end.
    """

    slab: Slab
    counts: NDArray[np.int32]
    stored: NDArray[np.int32]

    def put(self, found: Found) -> None:
        """Write down a piece's part of the level."""
        if found.slab is None:
            return
        first = found.slab.first
        for whole, part in zip(self.slab[1:], found.slab[1:], strict=True):
            if part.size:
                whole[..., first : first + part.shape[-1]] = part
        self.counts[:, found.counts_at : found.counts_at + found.counts.shape[1]] = found.counts

    @cached_property
    def share_closed(self) -> float:
        """The share of the families that may have no superset; of a level whose pieces are all there."""
        best = self.slab.best
        return float(np.count_nonzero(best == np.inf)) / max(1, best.size)

    @property
    def is_open(self) -> bool:
        """May any family have a superset that is still to be looked at?"""
        return bool(self.slab.best.min(initial=np.inf) < np.inf)

    def close(self, room: Room = np.empty) -> None:
        """All pieces are there: add the counts to those of the levels below."""
        if self.counts.size:
            stored = room((self.stored.size + self.counts.size,), np.int32)
            self.stored = np.concatenate([self.stored, self.counts.ravel()], out=stored)
            self.counts = NO_COUNTS

    def writable(self) -> Level:
        """With arrays that may be written to, as kernels are compiled for; on its way to a worker that gets lost."""
        arrays: Any = (np.require(array, requirements=["C", "W"]) for array in self.slab[1:])
        return Level(Slab(self.slab.first, *arrays), NO_COUNTS, np.require(self.stored, requirements=["C", "W"]))

    def __sizeof__(self) -> int:
        # Dask sends an argument once per worker, not once per task, if it says that it is large
        return 4096 + int(self.stored.nbytes) + sum(int(array.nbytes) for array in self.slab[1:])


@dataclass(frozen=True)
class Unit:
    """What is built level by level: a group of children together, or one child of it."""

    number: int
    group: int
    child: int | None
    base: tuple[int, ...]
    """The parents that all families have beside those that are listed."""

    def parents_at(self, level: int) -> int:
        """How many parents the families of a level have."""
        return len(self.base) + level - 1


Task = tuple[Unit, Piece]
RunPieces = Callable[[Sequence[Task], dict[Unit, Level]], Iterator[tuple[Task, Found]]]
"""Runs pieces, given for each unit the level that they read, and yields what they find, in any order."""


def score_units(
    builds: dict[Unit, Any],
    run: RunPieces,
    kept: Kept,
    progress: Callable[[int, int, int], None],
    *,
    scale: int = 1,
    room: Room = np.empty,
    finished: dict[Unit, float] | None = None,
    most_parents: float = math.inf,
) -> None:
    """Build these units side by side, level after level; `progress(level, done, total)` is called for every piece.

    `finished` is where the number of complete levels is kept, infinite once no family of a unit is left to look at.
    """
    from scorecache.scoring.dispatch import first_level, new_level, pieces_of, skipped_pieces

    finished = {} if finished is None else finished
    live = list(builds)
    below = {unit: first_level(builds[unit]) for unit in live}
    level = 0
    while live:
        level += 1
        here = {unit: new_level(builds[unit], level, below[unit], room) for unit in live}
        tasks = [(unit, piece) for unit in live for piece in pieces_of(builds[unit], level, scale)]
        for done, ((unit, _), found) in enumerate(run(tasks, below), start=1):
            here[unit].put(found)
            for survivors in found.survivors:
                kept.add(survivors, unit.base)
            progress(level, done, len(tasks))
        for unit in live:
            finished[unit] = level if level < builds[unit].n_levels and here[unit].is_open else math.inf
        live = [unit for unit in live if finished[unit] == level and unit.parents_at(level) < most_parents]
        # sets that no family of this level needed, but that may be the parents of a child in the next one
        skipped = [(unit, piece) for unit in live for piece in skipped_pieces(builds[unit], level, scale)]
        for (unit, _), found in run(skipped, here):
            here[unit].put(found)
        for unit in live:
            here[unit].close(room)
        below = here
