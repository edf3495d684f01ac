"""From a data table to a score cache: count, score, prune, collect.

    build_cache(dataset, score, domain=...)  ->  ScoreCache

Children that share their required parents are scored together (`scorecache.scoring.joint`), others one at a time
(`scorecache.scoring.conditional`). The work is cut into pieces that do not depend on the number of threads and gathered
in their order, so the cache is the same, bit for bit, for any `n_jobs`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorecache.building.kept import Kept
from scorecache.building.workers import sends_to_a_cluster
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.data.rows import Rows, all_rows, distinct_rows
from scorecache.domain import Domain
from scorecache.errors import DataError, MemoryLimitError, ParameterError
from scorecache.record import Record
from scorecache.scores import CellScore, Score, make_score
from scorecache.scoring.conditional.build import prepare as prepare_alone
from scorecache.scoring.conditional.build import run_levels as run_alone
from scorecache.scoring.estimate import BuildEstimate, estimate_groups
from scorecache.scoring.joint.build import run_levels as run_together
from scorecache.scoring.joint.prepare import prepare as prepare_together
from scorecache.scoring.plan import Group, limits_beside_required, make_groups, merging_pays
from scorecache.scoring.progress import Deadline, Listener, Runner, n_threads
from scorecache.scoring.survivors import Pruning, Survivors
from scorecache.system.memory import available_memory
from scorecache.system.versions import versions

if TYPE_CHECKING:
    from scorecache.building.partfiles import PartFolder

MOST_ROWS = 2**31 - 1
"""Counts are 32 bits wide."""

MEMORY_SHARE = 0.8
"""Without a limit, a build may take this share of the memory that is free when it starts."""

SMALL_BUILD = 1 << 24
"""Bytes below which an estimate is not held against the memory: even if no family falls, 15 times as much is needed."""


@dataclass(frozen=True, eq=False)
class BuildPlan:
    """A build that has been checked and measured out but not begun: `plan_build(...)`, then `run(...)`."""

    dataset: Dataset
    score: Score
    domain: Domain
    pruning: Pruning
    rows: Rows
    groups: tuple[Group, ...]

    @property
    def estimate(self) -> BuildEstimate:
        """Joint sets, families, peak memory, rough time."""
        return estimate_groups(
            self.groups, self.dataset.arities, self.dataset.total_weight, self.rows.n_distinct, prune=self.pruning.on
        )

    def run(
        self,
        *,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        time_limit: float | None = None,
        started: float | None = None,
        distribute: bool | None = None,
        client: Any = None,
        resume: str | os.PathLike[str] | None = None,
        listener: Listener | None = None,
    ) -> ScoreCache:
        """Count, score and prune; see `build_cache` for the limits.

        The time limit runs from `started` on the monotonic clock, so that it can cover the reading of the data. With a
        Dask `client` (`scorecache.building.workers.connected`) the parts run on its cluster.
        """
        if distribute is None:
            distribute = client is not None or resume is not None or sends_to_a_cluster()
        if distribute:
            return self._run_distributed(n_jobs, memory_limit, Deadline(time_limit, started), client, resume, listener)
        kept = Kept(_memory_allowed(self.estimate, memory_limit))
        with Runner(n_threads(n_jobs), Deadline(time_limit, started), listener, _n_steps(self.groups)) as runner:
            for group in self.groups:
                for survivors in _levels(self, group, runner):
                    kept.add(survivors, group.base)
        return ScoreCache(self.dataset.names, *kept.collect(self.domain.n_vars), self.record())

    def _run_distributed(
        self,
        n_jobs: int | None,
        memory_limit: int | None,
        deadline: Deadline,
        client: Any,
        resume: str | os.PathLike[str] | None,
        listener: Listener | None,
    ) -> ScoreCache:
        from scorecache.building.distributed import Workers, run_distributed

        kept_limit = MEMORY_SHARE * available_memory() if memory_limit is None else float(memory_limit)
        folder = None if resume is None else self.part_folder(resume)
        return run_distributed(self, Workers(n_jobs, client), kept_limit, deadline, folder=folder, listener=listener)

    def part_folder(self, path: str | os.PathLike[str]) -> PartFolder:
        """The folder for the finished parts of this build; raises ParameterError if it holds those of another."""
        from scorecache.building.partfiles import PartFolder
        from scorecache.building.parts import digest_of

        folder = PartFolder(Path(path), digest_of(self))
        folder.open()
        return folder

    def record(self) -> Record:
        """What the cache will say of itself: score, domain, pruning and data."""
        return Record(
            score=self.score.name,
            parameters=self.score.parameters,
            domain=self.domain,
            pruning="dominance" if self.pruning.on else "none",
            prune_gap=self.pruning.gap,
            n_rows=self.dataset.total_weight,
            states=self.dataset.state_labels,
            data_sha256=self.dataset.sha256,
            versions=versions(),
        )


def build_cache(
    dataset: Dataset,
    score: Score | str,
    *,
    domain: Domain | None = None,
    max_parents: int | None = None,
    prune: bool = True,
    prune_gap: float = 0.0,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    distribute: bool | None = None,
    resume: str | os.PathLike[str] | None = None,
    listener: Listener | None = None,
) -> ScoreCache:
    """Score every parent set of the domain and keep those that an optimal network can need.

    Without a domain, general networks with at most `max_parents` parents. `memory_limit` is in bytes, `time_limit` in
    seconds; a build that would break them raises MemoryLimitError or TimeLimitError and leaves nothing behind.
    `n_jobs` threads share the work (None: all processors).

    With `distribute` the children are scored one by one through joblib, on its active backend with `n_jobs` workers,
    and the cache is the same; on one machine this is slower. None: if that backend sends work to other machines, as
    Dask's and Ray's do. With `resume`, a folder, also finished children are kept there, a build that was interrupted
    goes on from them, and they are removed when it is done.
    """
    plan = plan_build(dataset, score, domain=domain, max_parents=max_parents, prune=prune, prune_gap=prune_gap)
    cache = plan.run(
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        time_limit=time_limit,
        distribute=distribute,
        resume=resume,
        listener=listener,
    )
    if resume is not None:
        plan.part_folder(resume).remove()
    return cache


def plan_build(
    dataset: Dataset,
    score: Score | str,
    *,
    domain: Domain | None = None,
    max_parents: int | None = None,
    prune: bool = True,
    prune_gap: float = 0.0,
) -> BuildPlan:
    """Check what was asked for, merge equal rows and group the children, without scoring anything."""
    score, domain, pruning = _settle(dataset, score, domain, max_parents, prune, prune_gap)
    limits = limits_beside_required(dataset, domain, score, pruning)
    groups = tuple(make_groups(domain, score, limits))
    rows = distinct_rows(dataset) if merging_pays(groups, dataset.arities) else all_rows(dataset)
    return BuildPlan(dataset, score, domain, pruning, rows, groups)


def _settle(
    dataset: Dataset,
    score: Score | str,
    domain: Domain | None,
    max_parents: int | None,
    prune: bool,
    prune_gap: float,
) -> tuple[Score, Domain, Pruning]:
    """Check what was asked for and fill in what was not."""
    if not isinstance(dataset, Dataset):
        raise ParameterError(
            "scores are built from a Dataset: read_csv(path), Dataset.from_pandas(frame) or Dataset.from_columns(...). "
            f"Got {type(dataset).__name__} instead."
        )
    dataset.require_categories()
    score = make_score(score) if isinstance(score, str) else score
    if domain is None:
        domain = Domain.of(dataset.names, max_parents=max_parents)
    elif max_parents is not None:
        raise ParameterError("give max_parents to the domain or to build_cache, not to both")
    if domain.names != dataset.names:
        raise ParameterError("the domain speaks of other variables than the data")
    if dataset.total_weight > MOST_ROWS:
        raise DataError(f"at most {MOST_ROWS:,} rows can be counted, weights included. Got {dataset.total_weight:,}.")
    if not 0 <= prune_gap < math.inf:
        raise ParameterError(f"prune_gap must be a finite number of at least 0. Got {prune_gap!r} instead.")
    if score.needs_class and domain.class_name is None:
        raise ParameterError(f"the score {score.name!r} needs a class (--class)")
    if score.needs_bound and domain.max_parents is None and domain.structure in ("general", "anb"):
        raise ParameterError(
            f"the score {score.name!r} does not fall when parents are added, so it needs a limit: --max-parents"
        )
    if domain.class_index is not None and domain.is_classifier | score.needs_class:
        observed = dataset.codes[domain.class_index]
        if observed.min() == observed.max():
            raise DataError(
                f"the class {domain.class_name!r} has one value in all {dataset.n_rows} rows; it needs at least two"
            )
    return score, domain, Pruning(prune and domain.allows_dropping, float(prune_gap))


def _levels(plan: BuildPlan, group: Group, runner: Runner) -> Iterator[Survivors]:
    common = (plan.rows, plan.domain, plan.dataset.arities)
    if isinstance(plan.score, CellScore) and group.together:
        yield from run_together(prepare_together(*common, group, plan.score, plan.pruning), runner)
        return
    for child, free_limit in zip(group.children, group.free_limits, strict=True):
        limit = free_limit + len(plan.domain.required[child])
        yield from run_alone(prepare_alone(*common, child, limit, plan.score, plan.pruning), runner)


def _n_steps(groups: Sequence[Group]) -> int:
    return sum((group.max_free + 1) * (1 if group.together else len(group.children)) for group in groups)


def _memory_allowed(estimate: BuildEstimate, memory_limit: int | None) -> float:
    """The bytes that the build may take; raises MemoryLimitError if they are fewer than estimated."""
    if memory_limit is None and estimate.memory_bytes <= SMALL_BUILD:
        return math.inf
    memory = MEMORY_SHARE * available_memory() if memory_limit is None else memory_limit
    if estimate.memory_bytes > memory:
        raise MemoryLimitError(
            f"scoring {estimate.n_families:,} families would take about {estimate.memory_bytes / 1e9:.1f} GB, "
            f"more than the {memory / 1e9:.1f} GB allowed; lower --max-parents or raise --memory-limit"
        )
    return memory
