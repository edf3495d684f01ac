"""From a data table to a score cache: count, score, prune, collect.

    build_cache(dataset, score, domain=...)  ->  ScoreCache

Children that share their required parents are scored together (`scorecache.joint`), others one at a time
(`scorecache.family`). The work is cut into pieces that do not depend on the number of threads and gathered in their
order, so the cache is the same, bit for bit, for any `n_jobs`.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from functools import cache
from importlib import metadata

import numpy as np

from scorecache.cache import ScoreCache
from scorecache.counting.rows import Rows, distinct_rows
from scorecache.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import DataError, MemoryLimitError, ParameterError
from scorecache.estimate import BuildEstimate, available_memory, estimate_groups
from scorecache.family import build as family_build
from scorecache.joint import build as joint_build
from scorecache.plan import Group, limits_beside_required, make_groups
from scorecache.progress import Listener, Runner, n_threads
from scorecache.record import Record
from scorecache.scores import CellScore, Score, make_score
from scorecache.survivors import Kept, Pruning, Survivors

MEMORY_SHARE = 0.8
"""Without a limit, a build may take this share of the memory that is free when it starts."""


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
    listener: Listener | None = None,
) -> ScoreCache:
    """Score every parent set of the domain and keep those that an optimal network can need.

    Without a domain, general networks with at most `max_parents` parents. `memory_limit` is in bytes, `time_limit` in
    seconds; a build that would break them raises MemoryLimitError or TimeLimitError and leaves nothing behind.
    `n_jobs` threads share the work (None: all processors).
    """
    score, domain, pruning = _settle(dataset, score, domain, max_parents, prune, prune_gap)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be above 0 seconds. Got {time_limit!r} instead.")
    rows = distinct_rows(dataset)
    groups = _groups(dataset, rows, score, domain, pruning)
    memory = MEMORY_SHARE * available_memory() if memory_limit is None else memory_limit
    _check_memory(estimate_groups(groups, dataset.arities, rows.n_distinct, prune=pruning.on), memory)
    kept = Kept(memory)
    with Runner(n_threads(n_jobs), time_limit, listener, _n_steps(groups)) as runner:
        for group in groups:
            for survivors in _levels(dataset, rows, domain, group, score, pruning, runner):
                kept.add(survivors, group.base)
    children, scores, parent_start, parents = kept.collect()
    record = Record(
        score=score.name,
        parameters=score.parameters,
        domain=domain,
        pruning="dominance" if pruning.on else "none",
        prune_gap=pruning.gap,
        n_rows=dataset.total_weight,
        states=dataset.state_labels,
        data_sha256=dataset.sha256,
        versions=_versions(),
    )
    return ScoreCache.from_arrays(dataset.names, children, scores, parent_start, parents, record)


def estimate_build(
    dataset: Dataset,
    score: Score | str,
    domain: Domain | None = None,
    *,
    max_parents: int | None = None,
    prune: bool = True,
    prune_gap: float = 0.0,
) -> BuildEstimate:
    """The size of a build, without building."""
    score, domain, pruning = _settle(dataset, score, domain, max_parents, prune, prune_gap)
    rows = distinct_rows(dataset)
    groups = _groups(dataset, rows, score, domain, pruning)
    return estimate_groups(groups, dataset.arities, rows.n_distinct, prune=pruning.on)


def _settle(
    dataset: Dataset,
    score: Score | str,
    domain: Domain | None,
    max_parents: int | None,
    prune: bool,
    prune_gap: float,
) -> tuple[Score, Domain, Pruning]:
    """Check what was asked for and fill in what was not."""
    score = make_score(score) if isinstance(score, str) else score
    if domain is None:
        domain = Domain.of(dataset.names, max_parents=max_parents)
    elif max_parents is not None:
        raise ParameterError("give max_parents to the domain or to build_cache, not to both")
    if domain.names != dataset.names:
        raise ParameterError("the domain speaks of other variables than the data")
    if not (prune_gap >= 0 and np.isfinite(prune_gap)):
        raise ParameterError(f"prune_gap must be a finite number of at least 0. Got {prune_gap!r} instead.")
    if score.needs_class and domain.class_name is None:
        raise ParameterError(f"the score {score.name!r} needs a class (--class)")
    if score.needs_bound and domain.max_parents is None and domain.family in ("general", "anb"):
        raise ParameterError(
            f"the score {score.name!r} does not fall when parents are added, so it needs a limit: --max-parents"
        )
    if domain.class_index is not None and domain.is_classifier | score.needs_class:
        observed = len(np.unique(dataset.codes[domain.class_index]))
        if observed < 2:
            raise DataError(
                f"the class {domain.class_name!r} has one value in all {dataset.n_rows} rows; it needs at least two"
            )
    return score, domain, Pruning(prune and domain.allows_dropping, float(prune_gap))


def _groups(dataset: Dataset, rows: Rows, score: Score, domain: Domain, pruning: Pruning) -> list[Group]:
    limits = limits_beside_required(rows, dataset.arities, domain, score, pruning)
    return make_groups(domain, score, limits)


def _levels(
    dataset: Dataset, rows: Rows, domain: Domain, group: Group, score: Score, pruning: Pruning, runner: Runner
) -> Iterator[Survivors]:
    if isinstance(score, CellScore) and group.together:
        together = joint_build.prepare(rows, domain, dataset.arities, group, score, pruning)
        yield from joint_build.run_levels(together, runner)
        return
    for child, free_limit in zip(group.children, group.free_limits, strict=True):
        limit = free_limit + len(domain.required[child])
        alone = family_build.prepare(rows, domain, dataset.arities, child, limit, score, pruning)
        yield from family_build.run_levels(alone, runner)


def _n_steps(groups: list[Group]) -> int:
    return sum((group.max_free + 1) * (1 if group.together else len(group.children)) for group in groups)


def _check_memory(estimate: BuildEstimate, memory: float) -> None:
    if estimate.memory_bytes > memory:
        raise MemoryLimitError(
            f"scoring {estimate.n_families:,} families would take about {estimate.memory_bytes / 1e9:.1f} GB, "
            f"more than the {memory / 1e9:.1f} GB allowed; lower --max-parents or raise --memory-limit"
        )


@cache
def _versions() -> dict[str, str]:
    return {
        "exactbnc": metadata.version("exactbnc"),
        "numpy": metadata.version("numpy"),
        "numba": metadata.version("numba"),
        "python": platform.python_version(),
    }
