"""A build as a worker sees it: the job, which is sent once, and its units, each prepared once per process."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorecache.data.dataset import Dataset
from scorecache.data.rows import Rows
from scorecache.domain import Domain
from scorecache.scores import CellScore, FamilyScore, Score
from scorecache.scoring import alone, by_family, joint, potentials
from scorecache.scoring.dispatch import Build, run_piece
from scorecache.scoring.levels import Found, Level, Piece, Unit
from scorecache.scoring.plan import Group
from scorecache.scoring.survivors import Pruning

if TYPE_CHECKING:
    from scorecache.scoring.build import BuildPlan

MOST_PREPARED = 16
SIDE_BY_SIDE, MOST_SIDE_BY_SIDE_BYTES = 8, 1 << 28
"""How many children that are scored alone are built at a time, and how much the copies of their data may take."""


@dataclass(frozen=True, eq=False)
class Job:
    """What every piece of a build needs to know; `digest` names the build: data, score, domain, pruning, versions."""

    digest: str
    rows: tuple[Rows, ...]
    """The rows that count for the children of a group, by the group's number of the table."""
    arities: NDArray[np.int64]
    domain: Domain
    score: Score
    pruning: Pruning
    groups: tuple[Group, ...]
    plain: bool
    datasets: tuple[Dataset, ...]
    """The data themselves, for scores that do not count; for others empty."""

    def __sizeof__(self) -> int:
        # Dask sends an argument once per worker, not once per task, if it says that it is large
        own = sum(dataset.__sizeof__() for dataset in self.datasets)
        return 4096 + own + sum(int(rows.codes.nbytes + rows.weights.nbytes) for rows in self.rows)


def make_job(plan: BuildPlan) -> Job:
    """The part of a plan that workers need."""
    return Job(
        digest_of(plan),
        plan.rows,
        plan.dataset.arities,
        plan.domain,
        plan.score,
        plan.sieve,
        plan.groups,
        plan.is_plain,
        plan.tables if plan.reads_data else (),
    )


def digest_of(plan: BuildPlan) -> str:
    """A digest of everything that the families of the build depend on."""
    return hashlib.sha256(json.dumps(plan.record().to_json(), sort_keys=True, default=str).encode()).hexdigest()


def make_units(groups: Sequence[Group]) -> list[Unit]:
    """The groups that are counted together, and the children of the others."""
    units: list[Unit] = []
    for number, group in enumerate(groups):
        for child in [None] if group.together else group.children:
            units.append(Unit(len(units), number, child, group.base))
    return units


def batches_of(units: Sequence[Unit], n_bytes: int) -> list[list[Unit]]:
    """Units that are built side by side: a group by itself, children some at a time; the data take `n_bytes`."""
    most = max(1, min(SIDE_BY_SIDE, MOST_SIDE_BY_SIDE_BYTES // max(1, n_bytes)))
    batches: list[list[Unit]] = []
    for unit in units:
        joins = unit.child is not None and batches and batches[-1][0].child is not None and len(batches[-1]) < most
        if joins:
            batches[-1].append(unit)
        else:
            batches.append([unit])
    return batches


def prepare(job: Job, unit: Unit) -> Build:
    """Everything that stays fixed while the levels of a unit are built."""
    group = job.groups[unit.group]
    sent = job.rows[group.table]
    rows = Rows(np.asarray(sent.codes), np.asarray(sent.weights))
    if unit.child is None and job.datasets:
        return potentials.prepare(job.datasets[group.table], job.domain, group, job.score, job.pruning, plain=job.plain)
    if unit.child is None:
        assert isinstance(job.score, CellScore)
        return joint.prepare(rows, job.domain, job.arities, group, job.score, job.pruning, plain=job.plain)
    n_free = group.free_limits[group.children.index(unit.child)]
    if isinstance(job.score, FamilyScore):
        return by_family.prepare(job.datasets[group.table], job.domain, unit.child, n_free, job.score, job.pruning)
    limit = n_free + len(job.domain.required[unit.child])
    return alone.prepare(rows, job.domain, job.arities, unit.child, limit, job.score, job.pruning, plain=job.plain)


def run_on_worker(job: Job, unit: Unit, piece: Piece, known: Level) -> Found:
    """Run a piece wherever it was sent to."""
    return run_piece(_prepared(job, unit), piece, known.writable())


_builds: OrderedDict[tuple[str, int], Build] = OrderedDict()
_builds_lock = threading.Lock()


def _prepared(job: Job, unit: Unit) -> Build:
    """A unit, prepared once per process."""
    key = (job.digest, unit.number)
    with _builds_lock:
        if key not in _builds:
            _builds[key] = prepare(job, unit)
            while len(_builds) > MOST_PREPARED:
                _builds.popitem(last=False)
        return _builds[key]
