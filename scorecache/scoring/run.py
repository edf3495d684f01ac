"""Run a build that has been planned: in pieces on threads or workers, within limits, resumed where it was left.

BuildPlan, RunOptions  ->  batches of units  ->  `score_units`  ->  ScoreCache
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from scorecache.cache import ScoreCache
from scorecache.errors import DataError, MemoryLimitError, TimeLimitError
from scorecache.record import CutShort
from scorecache.scoring.dispatch import Build, run_piece
from scorecache.scoring.estimate import SMALL_BUILD
from scorecache.scoring.jobs import Job, batches_of, make_job, make_units, prepare, run_on_worker
from scorecache.scoring.kept import Kept
from scorecache.scoring.levels import Found, Level, Room, RunPieces, Task, Unit, score_units
from scorecache.scoring.partfiles import PartFolder
from scorecache.scoring.progress import Deadline, Listener, Threads, n_threads
from scorecache.scoring.with_prior import with_prior
from scorecache.scoring.workers import results_of, sends_to_a_cluster
from scorecache.system.mapped import mapped_array
from scorecache.system.memory import available_memory

if TYPE_CHECKING:
    from scorecache.scoring.build import BuildPlan

LARGE_PIECES = 64
"""Pieces that go to a folder or to a cluster are this many times as large as those of threads."""

MEMORY_SHARE = 0.8
"""Without a limit, a build may take this share of the memory that is free when it starts."""

LARGE_LEVEL = 1 << 20
"""Bytes of an array of a level from which on it may go to a file."""


class RunOptions(TypedDict, total=False):
    """How a build is run; the limits are those of `build_cache`."""

    n_jobs: int | None
    memory_limit: int | None
    time_limit: float | None
    cut_short: bool
    started: float | None
    """When the time limit began on the monotonic clock, so that it can cover the reading of the data."""
    distribute: bool | None
    client: Any
    """A Dask client, on whose cluster the pieces run (`scorecache.scoring.workers.connected`)."""
    resume: str | os.PathLike[str] | None
    listener: Listener | None


def run_build(plan: BuildPlan, options: RunOptions) -> ScoreCache:
    """Count, score and prune what was planned."""
    n_jobs, client, cut_short = options.get("n_jobs"), options.get("client"), options.get("cut_short", False)
    distribute = options.get("distribute")
    if distribute is None:
        distribute = client is not None or sends_to_a_cluster()
    deadline = Deadline(options.get("time_limit"), options.get("started"))
    resume = options.get("resume")
    folder = None if resume is None else plan.part_folder(resume)
    try:
        memory, room = _memory_allowed(plan, options.get("memory_limit"))
    except MemoryLimitError as error:
        smaller = _within(plan, options.get("memory_limit")) if cut_short else None
        if smaller is None:
            raise
        return _cut(plan, run_build(smaller, options), int(smaller.domain.max_parents or 0), error)
    job = make_job(plan)
    batches = batches_of(make_units(plan.groups), max(rows.codes.nbytes for rows in plan.rows))
    step, n_steps = 0, sum(map(partial(_n_levels, plan), batches))
    kept = Kept(memory)
    scale = 1 if folder is None and not distribute else LARGE_PIECES
    shares = np.cumsum([sum(_cost(plan, unit) for unit in batch) for batch in batches])
    shares = shares / shares[-1] if cut_short else np.ones(len(batches))
    ended: tuple[int, Exception] | None = None
    with Threads(1 if distribute else n_threads(n_jobs)) as threads:
        for batch, share in zip(batches, shares.tolist(), strict=True):
            finished: dict[Unit, float] = dict.fromkeys(batch, 0)
            try:
                deadline.check()
                progress = _progress(options.get("listener"), partial(deadline.check, share), step, n_steps)
                builds = {unit: prepare(job, unit) for unit in batch}
                run: RunPieces = _locally(builds, threads) if not distribute else _on_workers(job, n_jobs, client)
                run = run if folder is None else _resumed(run, folder)
                most = math.inf if ended is None else ended[0]
                score_units(builds, run, kept, progress, scale=scale, room=room, finished=finished, most_parents=most)
            except (TimeLimitError, MemoryLimitError) as error:
                complete = min(unit.parents_at(int(level)) for unit, level in finished.items() if level < math.inf)
                if not cut_short or complete < _least_parents(plan):
                    raise _with_parts(error, folder) from None
                ended = complete, error
            if ended is not None:
                kept.drop_above(ended[0])
            step += _n_levels(plan, batch)
    cache = _collected(plan, kept)
    return cache if ended is None else _cut(plan, cache, *ended)


def _collected(plan: BuildPlan, kept: Kept) -> ScoreCache:
    """The families that were kept, with the prior added; every variable has at least one."""
    cache = kept.cache(plan.dataset.names, plan.record())
    if plan.prior is not None:
        is_number = np.array([name in plan.dataset.measurements for name in plan.dataset.names])
        arities = np.where(is_number, 0, plan.dataset.arities)
        cache = with_prior(cache, plan.prior, arities, plan.pruning, plan.record())
    for child, name in enumerate(cache.names):
        if not cache.n_families_of(child):
            raise DataError(f"the score {plan.score.name!r} allows no parent set of {name!r}, not even the least one")
    return cache


def _n_levels(plan: BuildPlan, batch: Sequence[Unit]) -> int:
    """The levels of units that are built side by side."""
    return max(plan.groups[unit.group].max_free + 1 for unit in batch)


def _cost(plan: BuildPlan, unit: Unit) -> float:
    """The families of a unit, in proportion to which units share the time."""
    group = plan.groups[unit.group]
    return group.n_families if unit.child is None else group.n_families / len(group.children)


def _least_parents(plan: BuildPlan) -> int:
    """The least `max_parents` with which every variable has a family that the structure allows."""
    return max(map(len, plan.domain.required)) + (plan.domain.structure == "tan")


def _within(plan: BuildPlan, memory_limit: int | None) -> BuildPlan | None:
    """The build of as many parents as fit in the memory; None if not even the least ones do."""
    for most in reversed(range(_least_parents(plan), max(plan.domain.limits))):
        smaller = replace(
            plan,
            domain=replace(plan.domain, max_parents=most),
            groups=tuple(group.up_to(most) for group in plan.groups),
        )
        with suppress(MemoryLimitError):
            _memory_allowed(smaller, memory_limit)
            return smaller
    return None


def _cut(plan: BuildPlan, cache: ScoreCache, complete: int, error: Exception) -> ScoreCache:
    """A cache that is complete up to this many parents; its record names the limit, an `error`, that ended it."""
    assert cache.record is not None
    reason = CutShort(plan.domain.max_parents, str(error).partition(";")[0])
    domain = replace(plan.domain, max_parents=complete)
    return replace(cache, record=replace(cache.record, domain=domain, cut_short=reason))


def _locally(builds: dict[Unit, Build], threads: Threads) -> RunPieces:
    """Run pieces on the threads of this process."""

    def run(tasks: Sequence[Task], known: dict[Unit, Level]) -> Iterator[tuple[Task, Found]]:
        arguments = [(builds[unit], piece, known[unit]) for unit, piece in tasks]
        return zip(tasks, threads.run(run_piece, arguments), strict=True)

    return run


def _on_workers(job: Job, n_jobs: int | None, client: Any) -> RunPieces:
    """Run pieces wherever joblib, or a Dask client, sends them."""

    def run(tasks: Sequence[Task], known: dict[Unit, Level]) -> Iterator[tuple[Task, Found]]:
        return results_of(
            run_on_worker, tasks, lambda task: (job, *task, known[task[0]]),
            n_jobs=n_jobs, client=client, shared=[job, *known.values()],
        )  # fmt: skip

    return run


def _resumed(run: RunPieces, folder: PartFolder) -> RunPieces:
    """Take finished pieces from a folder, and put those there that are run."""

    def name(task: Task) -> str:
        return f"unit{task[0].number}-{task[1].name}"

    def run_missing(tasks: Sequence[Task], known: dict[Unit, Level]) -> Iterator[tuple[Task, Found]]:
        missing = []
        for task in tasks:
            found = folder.load(name(task))
            if found is None:
                missing.append(task)
            else:
                yield task, found
        for task, found in run(missing, known):
            folder.save(name(task), found)
            yield task, found

    return run_missing


def _progress(
    listener: Listener | None, check: Callable[[], None], step: int, n_steps: int
) -> Callable[[int, int, int], None]:
    """Hears of the pieces of a batch whose levels follow `step` others."""

    def progress(level: int, done: int, total: int) -> None:
        if listener is not None:
            listener(step + level, n_steps, done, total)
        check()

    return progress


def _with_parts(error: Exception, folder: PartFolder | None) -> Exception:
    """The error of a limit, with what is in the folder of finished parts."""
    if folder is None or not isinstance(error, TimeLimitError):
        return error
    parts = "1 finished part is" if folder.n_files == 1 else f"{folder.n_files} finished parts are"
    return TimeLimitError(f"{error}; {parts} in {folder.path}, and the same command resumes from there")


def _memory_allowed(plan: BuildPlan, memory_limit: int | None) -> tuple[float, Room]:
    """The bytes that the build may take, and room for its levels: in files if they would not fit.

    Raises MemoryLimitError if the rest would not fit either.
    """
    if memory_limit is None and plan.most.memory_bytes <= SMALL_BUILD:
        return math.inf, np.empty
    memory = MEMORY_SHARE * available_memory() if memory_limit is None else memory_limit
    if plan.most.memory_bytes <= memory or plan.estimate.memory_bytes <= memory:
        return memory, np.empty
    estimate = plan.estimate
    on_disk = shutil.disk_usage(tempfile.gettempdir()).free > 2 * estimate.level_bytes
    needed = estimate.memory_bytes - (estimate.level_bytes if on_disk else 0)
    if needed > memory:
        raise MemoryLimitError(
            f"scoring {estimate.n_families:,} families would take about {needed / 1e9:.1f} GB, "
            f"more than the {memory / 1e9:.1f} GB allowed; lower max_parents or raise memory_limit"
        )
    return memory, partial(mapped_array, least_bytes=LARGE_LEVEL)
