"""From a data table to a score cache: count, score, prune, collect.

    build_cache(dataset, score, domain=...)  ->  ScoreCache

Children that share their required parents are scored together (`scorecache.scoring.joint`), others one at a time
(`scorecache.scoring.alone`), level by level (`scorecache.scoring.levels`). The cache is the same, bit for bit, for any
number of threads or workers, resumed or not.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.data.interventions import Interventions
from scorecache.data.rows import Rows, all_rows, distinct_rows
from scorecache.domain import Domain
from scorecache.errors import DataError, MemoryLimitError, ParameterError, TimeLimitError
from scorecache.record import CutShort, Record
from scorecache.scores import FamilyScore, Score, make_score
from scorecache.scores.gaussian import NumberScore
from scorecache.scores.prior import StructurePrior
from scorecache.scoring.dispatch import Build, run_piece
from scorecache.scoring.estimate import BuildEstimate, estimate_groups, is_plain, plain_seconds
from scorecache.scoring.jobs import Job, batches_of, digest_of, make_job, make_units, prepare, run_on_worker
from scorecache.scoring.kept import Kept
from scorecache.scoring.levels import Found, Level, Room, RunPieces, Task, Unit, score_units
from scorecache.scoring.lost_mass import gap_for
from scorecache.scoring.partfiles import PartFolder
from scorecache.scoring.plan import Group, limits_beside_required, make_groups, merging_pays
from scorecache.scoring.potentials import check_columns, require_counts, uses_potentials
from scorecache.scoring.progress import Deadline, Listener, Threads, n_threads
from scorecache.scoring.sampled import kept_shares
from scorecache.scoring.survivors import Pruning
from scorecache.scoring.with_prior import with_prior
from scorecache.scoring.workers import results_of, sends_to_a_cluster
from scorecache.system.mapped import mapped_array
from scorecache.system.memory import available_memory
from scorecache.system.versions import versions

LARGE_PIECES = 64
"""Pieces that go to a folder or to a cluster are this many times as large as those of threads."""

MOST_ROWS = 2**31 - 1
"""Counts are 32 bits wide."""

MEMORY_SHARE = 0.8
"""Without a limit, a build may take this share of the memory that is free when it starts."""

LARGE_LEVEL = 1 << 20
"""Bytes of an array of a level from which on it may go to a file."""

SMALL_BUILD = 1 << 24
"""Bytes, with all families kept, below which nothing is sampled for an estimate and none is held against the memory."""


@dataclass(frozen=True, eq=False)
class BuildPlan:
    """A build that has been checked and measured out but not begun: `plan_build(...)`, then `run(...)`."""

    dataset: Dataset
    score: Score
    domain: Domain
    pruning: Pruning
    tables: tuple[Dataset, ...]
    """The rows that count, for each choice of them that interventions make; without interventions the data."""
    rows: tuple[Rows, ...]
    groups: tuple[Group, ...]
    interventions: Interventions | None = None
    prior: StructurePrior | None = None

    @property
    def sieve(self) -> Pruning:
        """What the scores are pruned by before a prior is added to them (`scorecache.scoring.with_prior`)."""
        return _sieve(self.pruning, self.prior, self.domain)

    @cached_property
    def most(self) -> BuildEstimate:
        """The estimate if every family were kept."""
        return estimate_groups(self.groups, self.dataset.arities, int(self.dataset.total_weight), self.n_counted, None)

    @cached_property
    def estimate(self) -> BuildEstimate:
        """Joint sets, families, peak memory, rough time; pruning from a sample, unless the build is small."""
        if not self.pruning.on or self.reads_data or self.most.memory_bytes <= SMALL_BUILD:
            return self.most
        n_rows = int(self.dataset.total_weight)
        none_kept = [[0.0] * len(group.of_size) for group in self.groups]
        least = estimate_groups(self.groups, self.dataset.arities, n_rows, self.n_counted, none_kept)
        shares = kept_shares(make_job(self), least.seconds)
        return estimate_groups(self.groups, self.dataset.arities, n_rows, self.n_counted, shares)

    @property
    def is_plain(self) -> bool:
        """Is the build so small that it runs in numpy, without kernels?"""
        return is_plain(plain_seconds(self.most.n_joint_sets, self.n_counted))

    @property
    def reads_data(self) -> bool:
        """Does the score read the data themselves, instead of counts of rows?"""
        return isinstance(self.score, FamilyScore) or uses_potentials(self.score, self.dataset)

    @property
    def n_counted(self) -> int:
        """The rows that a set costs time for: with scatter matrices none but the first."""
        return 1 if isinstance(self.score, NumberScore) else max(rows.n_distinct for rows in self.rows)

    def run(
        self,
        *,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        time_limit: float | None = None,
        cut_short: bool = False,
        started: float | None = None,
        distribute: bool | None = None,
        client: Any = None,
        resume: str | os.PathLike[str] | None = None,
        listener: Listener | None = None,
    ) -> ScoreCache:
        """Count, score and prune; see `build_cache` for the limits.

        The time limit runs from `started` on the monotonic clock, so that it can cover the reading of the data. With a
        Dask `client` (`scorecache.scoring.workers.connected`) the pieces run on its cluster.
        """
        if distribute is None:
            distribute = client is not None or sends_to_a_cluster()
        deadline = Deadline(time_limit, started)
        folder = None if resume is None else self.part_folder(resume)
        try:
            memory, room = _memory_allowed(self, memory_limit)
        except MemoryLimitError as error:
            smaller = self._within(memory_limit) if cut_short else None
            if smaller is None:
                raise
            cache = smaller.run(
                n_jobs=n_jobs, memory_limit=memory_limit, time_limit=time_limit, cut_short=True, started=started,
                distribute=distribute, client=client, resume=resume, listener=listener,
            )  # fmt: skip
            return self._cut(cache, int(smaller.domain.max_parents or 0), error)
        job = make_job(self)
        units = make_units(self.groups)
        batches = batches_of(units, max(rows.codes.nbytes for rows in self.rows))
        step, n_steps = 0, sum(max(self.groups[unit.group].max_free + 1 for unit in batch) for batch in batches)
        kept = Kept(memory)
        scale = 1 if folder is None and not distribute else LARGE_PIECES
        shares = np.cumsum([sum(self._cost(unit) for unit in batch) for batch in batches])
        shares = shares / shares[-1] if cut_short else np.ones(len(batches))
        ended: tuple[int, Exception] | None = None
        with Threads(1 if distribute else n_threads(n_jobs)) as threads:
            for batch, share in zip(batches, shares.tolist(), strict=True):
                finished: dict[Unit, float] = dict.fromkeys(batch, 0)
                try:
                    deadline.check()
                    progress = _progress(listener, partial(deadline.check, share), step, n_steps)
                    builds = {unit: prepare(job, unit) for unit in batch}
                    run: RunPieces = _locally(builds, threads) if not distribute else _on_workers(job, n_jobs, client)
                    run = run if folder is None else _resumed(run, folder)
                    most = math.inf if ended is None else ended[0]
                    score_units(
                        batch, builds, run, kept, progress, scale=scale, room=room, finished=finished, most_parents=most
                    )
                except (TimeLimitError, MemoryLimitError) as error:
                    complete = min(unit.parents_at(int(level)) for unit, level in finished.items() if level < math.inf)
                    if not cut_short or complete < self._least_parents:
                        raise _with_parts(error, folder) from None
                    ended = complete, error
                if ended is not None:
                    kept.drop_above(ended[0])
                step += max(self.groups[unit.group].max_free + 1 for unit in batch)
        cache = kept.cache(self.dataset.names, self.record())
        if self.prior is not None:
            is_number = np.array([name in self.dataset.measurements for name in self.dataset.names])
            arities = np.where(is_number, 0, self.dataset.arities)
            cache = with_prior(cache, self.prior, arities, self.pruning, self.record())
        for child, name in enumerate(cache.names):
            if not cache.n_families_of(child):
                raise DataError(
                    f"the score {self.score.name!r} allows no parent set of {name!r}, not even the least one"
                )
        return cache if ended is None else self._cut(cache, *ended)

    def _cost(self, unit: Unit) -> float:
        """The families of a unit, by which the time is shared out."""
        group = self.groups[unit.group]
        return group.n_families if unit.child is None else group.n_families / len(group.children)

    @property
    def _least_parents(self) -> int:
        """The least `max_parents` with which every variable has a family that the structure allows."""
        return max(map(len, self.domain.required)) + (self.domain.structure == "tan")

    def _within(self, memory_limit: int | None) -> BuildPlan | None:
        """The build of as many parents as fit in the memory; None if not even the least ones do."""
        for most in reversed(range(self._least_parents, max(self.domain.limits))):
            smaller = replace(
                self,
                domain=replace(self.domain, max_parents=most),
                groups=tuple(group.up_to(most) for group in self.groups),
            )
            with suppress(MemoryLimitError):
                _memory_allowed(smaller, memory_limit)
                return smaller
        return None

    def _cut(self, cache: ScoreCache, complete: int, error: Exception) -> ScoreCache:
        """A cache that is complete to so many parents, its record saying so; the limit that ended it was an `error`."""
        assert cache.record is not None
        reason = CutShort(self.domain.max_parents, str(error).partition(";")[0])
        domain = replace(self.domain, max_parents=complete)
        return replace(cache, record=replace(cache.record, domain=domain, cut_short=reason))

    def part_folder(self, path: str | os.PathLike[str]) -> PartFolder:
        """The folder for the finished parts of this build; raises ParameterError if it holds those of another."""
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
            interventions={} if self.interventions is None else self.interventions.n_rows,
            interventions_sha256=None if self.interventions is None else self.interventions.sha256,
            prior={} if self.prior is None else self.prior.to_json(),
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
    for_posterior: float | None = None,
    interventions: Any = None,
    prior: Any = None,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    cut_short: bool = False,
    distribute: bool | None = None,
    resume: str | os.PathLike[str] | None = None,
    listener: Listener | None = None,
) -> ScoreCache:
    """Score every parent set of the domain and keep those that an optimal network can need.

    Parameters
    ----------
    dataset : Dataset
    score : Score or str
        A score, or the name of one with its default parameters.
    domain : Domain, optional
        Which parent sets are scored; by default general networks with at most `max_parents` parents.
    max_parents : int, optional
        Only without a domain.
    prune : bool, default True
        Drop families that a subset of their parents scores at least as well.
    prune_gap : float, default 0
        Keep those less than this below the best subset.
    for_posterior : float, optional
        Choose a gap for `exactbnc.structure_posterior`: dropped families lose at most this share of the posterior, 1e-9
        for example.
    interventions : mapping or frame, optional
        Which values were set by an experiment: columns of truth values by name. The families of a variable are then
        scored on the rows in which it was not set.
    prior : StructurePrior, float or mapping, optional
        A prior of the structure, added to the scores before they are pruned: a `scorecache.StructurePrior`, the
        probability of every arc, or probabilities by (parent, child).
    n_jobs : int, optional
        Threads, or workers if the build is distributed; None: all processors.
    memory_limit : int, optional
        Bytes. Levels of the build that would break it go to temporary files.
    time_limit : float, optional
        Seconds.
    cut_short : bool, default False
        At a limit, give what is complete: all families up to a smaller number of parents, as the record says
        (`Record.cut_short`). Otherwise a limit is an error.
    distribute : bool, optional
        Run the pieces through joblib, on its active backend. None: if that backend sends work to other machines, as
        Dask's and Ray's do.
    resume : path, optional
        A folder that keeps finished pieces: an interrupted build resumes from them, a finished one removes them.
    listener : Listener, optional
        Called with the progress.

    Returns
    -------
    ScoreCache

    Raises
    ------
    ParameterError, DataError
        If the score, the domain and the data do not fit.
    MemoryLimitError, TimeLimitError
        If the build would break a limit; nothing is left behind but the pieces in `resume`.

    Examples
    --------
    >>> from scorecache import Dataset
    >>> data = Dataset.from_codes([[0, 0, 1, 1] * 5, [0, 0, 1, 1] * 5], names=["a", "b"])
    >>> cache = build_cache(data, "bic", max_parents=1)
    >>> [(round(score, 2), parents) for score, parents in cache.families(1)]
    [(-3.0, (0,)), (-15.36, ())]
    """
    plan = plan_build(
        dataset, score, domain=domain, max_parents=max_parents, prune=prune, prune_gap=prune_gap,
        for_posterior=for_posterior, interventions=interventions, prior=prior,
    )  # fmt: skip
    cache = plan.run(
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        time_limit=time_limit,
        cut_short=cut_short,
        distribute=distribute,
        resume=resume,
        listener=listener,
    )
    if resume is not None and cache.record is not None and cache.record.cut_short is None:
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
    for_posterior: float | None = None,
    interventions: Any = None,
    prior: Any = None,
) -> BuildPlan:
    """Check what was asked for, merge equal rows and group the children, without scoring anything.

    Parameters
    ----------
    dataset, score, domain, max_parents, prune, prune_gap, for_posterior, interventions, prior
        As in `build_cache`.

    Returns
    -------
    BuildPlan
        With the `estimate` of time and memory; its method `run` builds.

    Raises
    ------
    ParameterError, DataError
        If the score, the domain and the data do not fit.

    Examples
    --------
    >>> from scorecache import Dataset
    >>> data = Dataset.from_codes([[0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1]])
    >>> plan_build(data, "bic", max_parents=1).estimate.n_families
    9
    """
    score, domain = _settle(dataset, score, domain, max_parents)
    pruning = _pruning(domain, prune, prune_gap, for_posterior)
    tables: tuple[Dataset, ...] = (dataset,)
    table_of, was_set = [0] * dataset.n_vars, None
    if interventions is not None:
        was_set = Interventions.of(dataset, interventions)
        tables, table_of = was_set.tables(dataset)
    believed = None if prior is None else StructurePrior.of(prior)
    if believed is not None:
        believed.check(domain.names)
    sieve = _sieve(pruning, believed, domain)
    limits = limits_beside_required([tables[table] for table in table_of], domain, score, sieve)
    groups = tuple(make_groups(domain, score, limits, table_of))
    if uses_potentials(score, dataset):
        groups = tuple(replace(group, together=True) for group in groups)
    rows = tuple(_rows(table, score, groups) for table in tables)
    return BuildPlan(dataset, score, domain, pruning, tables, rows, groups, was_set, believed)


def _rows(dataset: Dataset, score: Score, groups: Sequence[Group]) -> Rows:
    """What is counted, equal rows once where that pays; scores that do not count read the data themselves."""
    if isinstance(score, FamilyScore) or uses_potentials(score, dataset):
        return Rows(dataset.codes, np.ones(dataset.n_rows, dtype=np.int64))
    return distinct_rows(dataset) if merging_pays(groups, dataset.arities) else all_rows(dataset)


def _settle(
    dataset: Dataset,
    score: Score | str,
    domain: Domain | None,
    max_parents: int | None,
) -> tuple[Score, Domain]:
    """Check what was asked for and fill in what was not."""
    if not isinstance(dataset, Dataset):
        raise ParameterError(
            "scores are built from a Dataset: read_csv(path), Dataset.from_frame(frame) or Dataset.from_columns(...). "
            f"Got {type(dataset).__name__} instead."
        )
    score = make_score(score) if isinstance(score, str) else score
    if not score.takes_measurements:
        dataset.require_categories()
    if not score.takes_real_weights:
        require_counts(dataset, score)
    check_columns(dataset, score)
    if domain is None:
        domain = Domain.of(dataset.names, max_parents=max_parents)
    elif max_parents is not None:
        raise ParameterError("give max_parents to the domain or to build_cache, not to both")
    if domain.names != dataset.names:
        raise ParameterError("the domain has other variables than the data")
    if isinstance(score, NumberScore) and len(dataset.measurements) < dataset.n_vars:
        domain = replace(domain, numbers=tuple(name for name in dataset.names if name in dataset.measurements))
    if dataset.total_weight > MOST_ROWS:
        raise DataError(f"at most {MOST_ROWS:,} rows can be counted, weights included. Got {dataset.total_weight:,}.")
    if score.needs_class and domain.class_name is None:
        raise ParameterError(f"the score {score.name!r} needs a class (class_name)")
    if score.needs_bound and domain.max_parents is None and domain.max_feature_parents is None:
        raise ParameterError(
            f"the score {score.name!r} does not fall when parents are added, so it needs a limit: max_parents"
        )
    if domain.class_index is not None and domain.is_classifier | score.needs_class:
        observed = dataset.codes[domain.class_index]
        if observed.min() == observed.max():
            raise DataError(
                f"the class {domain.class_name!r} has one value in all {dataset.n_rows} rows; it needs at least two"
            )
    return score, domain


def _sieve(pruning: Pruning, prior: StructurePrior | None, domain: Domain) -> Pruning:
    """Pruning with a gap that a prior cannot close."""
    return pruning if prior is None else replace(pruning, gap=pruning.gap + prior.most_gain(domain))


def _pruning(domain: Domain, prune: bool, prune_gap: float, for_posterior: float | None) -> Pruning:
    """What is dropped, as asked for or for a posterior."""
    if not 0 <= prune_gap < math.inf:
        raise ParameterError(f"prune_gap must be a finite number of at least 0. Got {prune_gap!r} instead.")
    if for_posterior is not None and (prune_gap or not prune):
        raise ParameterError("for_posterior chooses what is pruned: give it without prune and prune_gap")
    gap = prune_gap if for_posterior is None else gap_for(domain, for_posterior)
    return Pruning(prune and domain.allows_dropping, float(gap))


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
