"""Run the parts of a build wherever joblib sends them, keep those that are done, and put them together.

The cache is the same, bit for bit, as that of the build on one machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorecache.building.kept import Kept
from scorecache.building.partfiles import PartFolder
from scorecache.building.parts import Families, Part, make_job, make_parts, run_part
from scorecache.building.workers import results_of
from scorecache.cache import ScoreCache
from scorecache.errors import TimeLimitError
from scorecache.scoring.progress import Deadline, Listener

if TYPE_CHECKING:
    from scorecache.building.build import BuildPlan


@dataclass(frozen=True)
class Workers:
    """Who runs the parts: so many jobs of joblib's active backend, or the cluster of a Dask client."""

    n_jobs: int | None = None
    client: Any = None


def run_distributed(
    plan: BuildPlan,
    workers: Workers,
    memory_limit: float,
    deadline: Deadline,
    *,
    folder: PartFolder | None = None,
    parts: Sequence[Part] | None = None,
    listener: Listener | None = None,
) -> ScoreCache:
    """Run every part that the folder does not hold yet; the listener hears of each that is there.

    The deadline is looked at whenever a part arrives.
    """
    parts = make_parts(plan) if parts is None else parts
    kept = Kept(memory_limit)
    bases = {child: group.base for group in plan.groups for child in group.children}
    n_done = 0

    def take(part: Part, families: list[Families]) -> None:
        nonlocal n_done
        for scores, parents in families:
            kept.add((np.full(len(scores), part.child), scores, parents), bases[part.child])
        n_done += 1
        if listener is not None:
            listener(1, 1, n_done, len(parts))

    missing = []
    for part in parts:
        found = None if folder is None else folder.load(part)
        if found is None:
            missing.append(part)
        else:
            take(part, found)
    job = make_job(plan)
    try:
        deadline.check()
        for part, families in results_of(
            run_part, missing, lambda part: (job, part), n_jobs=workers.n_jobs, client=workers.client, shared=[job]
        ):
            if folder is not None:
                folder.save(part, families)
            take(part, families)
            deadline.check()
    except TimeLimitError as error:
        if folder is None:
            raise
        raise TimeLimitError(
            f"{error}; {n_done} of {len(parts)} parts are in {folder.path}, and the same command goes on from there"
        ) from None
    return ScoreCache(plan.dataset.names, *kept.collect(plan.domain.n_vars), plan.record())
