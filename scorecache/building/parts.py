"""A build cut into parts that need nothing from each other: one child, or a piece of a large child's parent sets.

    make_parts(plan)  ->  [Part, ...]        run_part(job, part)  ->  the families that the part keeps

Any process that holds the job can run any part, in any order, any number of times, and always gets the same bits. A
piece of a child takes a share of the sets of the largest size and builds the smaller ones again, so that its pruning is
final and nothing has to be compared across pieces.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data.rows import Rows
from scorecache.domain import Domain
from scorecache.scores import CellScore, Score
from scorecache.scoring.conditional.build import prepare as prepare_alone
from scorecache.scoring.conditional.build import run_levels as run_alone
from scorecache.scoring.joint.single import GroupScoring, prepare_child, prepare_group, run_child
from scorecache.scoring.plan import Group, n_subsets
from scorecache.scoring.progress import Deadline, Runner
from scorecache.scoring.survivors import Pruning, Survivors

if TYPE_CHECKING:
    from scorecache.building.build import BuildPlan

WORK_PER_PART = 1 << 34
"""Parent sets times distinct rows of a part; a child with more is cut into pieces."""

FEWEST_ROWS = 1000
"""Below this many rows a set costs the same."""

MOST_PREPARED = 8

Families = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Scores, and a table of the free parents: families of one size."""


@dataclass(frozen=True)
class Part:
    """A piece of a child's parent sets, or all of them (piece 0 of 1)."""

    child: int
    piece: int
    n_pieces: int

    @property
    def name(self) -> str:
        """Different for different parts of a build."""
        return f"child{self.child}-{self.piece + 1}of{self.n_pieces}"


@dataclass(frozen=True, eq=False)
class Job:
    """What every part of a build needs to know; it is sent to each worker once.

    `digest` names the build: data, score, domain, pruning, versions.
    """

    digest: str
    codes: NDArray[np.uint16]
    weights: NDArray[np.int64]
    arities: NDArray[np.int64]
    domain: Domain
    score: Score
    pruning: Pruning
    groups: tuple[Group, ...]

    def __sizeof__(self) -> int:
        # Dask sends an argument once per worker, not once per task, if it says that it is large
        return 4096 + int(self.codes.nbytes + self.weights.nbytes)

    def group_of(self, child: int) -> Group:
        return next(group for group in self.groups if child in group.children)


def make_job(plan: BuildPlan) -> Job:
    """The part of a plan that workers need."""
    return Job(
        digest_of(plan),
        plan.rows.codes,
        plan.rows.weights,
        plan.dataset.arities,
        plan.domain,
        plan.score,
        plan.pruning,
        plan.groups,
    )


def digest_of(plan: BuildPlan) -> str:
    """A digest of everything that the families of the build depend on."""
    return hashlib.sha256(json.dumps(plan.record().to_json(), sort_keys=True, default=str).encode()).hexdigest()


def make_parts(plan: BuildPlan, *, work_per_part: float = WORK_PER_PART) -> list[Part]:
    """Cut the build, the largest parts first so that no large one is left at the end."""
    parts: list[tuple[float, Part]] = []
    n_rows = max(FEWEST_ROWS, plan.rows.n_distinct)
    for group in plan.groups:
        for child, limit in zip(group.children, group.free_limits, strict=True):
            n = len(plan.domain.allowed[child])
            size = min(limit, n)
            work = float(n_rows * n_subsets(n, size))
            # every piece builds the smaller sets again: let that be at most half of its work
            most = max(1, comb(n, size) // n_subsets(n, size - 1)) if size > 1 else 1
            n_pieces = min(most, ceil(work / work_per_part))
            parts += [(work / n_pieces, Part(child, piece, n_pieces)) for piece in range(n_pieces)]
    return [part for _, part in sorted(parts, key=lambda weighed: (-weighed[0], weighed[1].child, weighed[1].piece))]


def run_part(job: Job, part: Part) -> list[Families]:
    """The families of a part that pruning leaves, by size."""
    by_width: dict[int, list[Families]] = {}
    for _, scores, parents in _survivors(job, part):
        if len(scores):
            by_width.setdefault(parents.shape[1], []).append((scores, parents.astype(np.int32)))
    return [
        (np.concatenate([scores for scores, _ in own]), np.concatenate([parents for _, parents in own]))
        for _, own in sorted(by_width.items())
    ]


def _survivors(job: Job, part: Part) -> Iterator[Survivors]:
    rows, group = Rows(np.asarray(job.codes), np.asarray(job.weights)), job.group_of(part.child)
    free_limit = group.free_limits[group.children.index(part.child)]
    if isinstance(job.score, CellScore) and group.together:
        shared = _prepared(job, rows, group, job.score)
        build = prepare_child(rows, job.domain, job.arities, part.child, free_limit, shared)
        yield from run_child(build, part.piece, part.n_pieces)
        return
    limit = free_limit + len(job.domain.required[part.child])
    alone = prepare_alone(rows, job.domain, job.arities, part.child, limit, job.score, job.pruning)
    with Runner(1, Deadline(None), None, 0) as runner:
        yield from run_alone(alone, runner, part.piece, part.n_pieces)


_shared: OrderedDict[tuple[str, tuple[int, ...]], GroupScoring] = OrderedDict()
_shared_lock = threading.Lock()


def _prepared(job: Job, rows: Rows, group: Group, score: CellScore) -> GroupScoring:
    """What the children of a group share, worked out once per process."""
    key: Any = (job.digest, group.base)
    with _shared_lock:
        if key not in _shared:
            _shared[key] = prepare_group(rows, job.domain, job.arities, group, score, job.pruning)
            while len(_shared) > MOST_PREPARED:
                _shared.popitem(last=False)
        return _shared[key]
