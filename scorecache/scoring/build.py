"""From a data table to a score cache: count, score, prune, collect.

    build_cache(dataset, score, domain=...)  ->  ScoreCache

Children that share their required parents are scored together (`scorecache.scoring.joint`), others one at a time
(`scorecache.scoring.alone`), level by level (`scorecache.scoring.levels`). The cache is the same, bit for bit, for any
number of threads or workers, resumed or not.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.data.interventions import Interventions
from scorecache.data.rows import Rows, all_rows, distinct_rows
from scorecache.domain import Domain
from scorecache.errors import DataError, ParameterError
from scorecache.record import Record
from scorecache.scores import FamilyScore, Score, make_score
from scorecache.scores.gaussian import NumberScore
from scorecache.scores.prior import StructurePrior
from scorecache.scoring.columns import check_columns, require_counts, uses_potentials
from scorecache.scoring.estimate import SMALL_BUILD, BuildEstimate, estimate_groups, is_plain, plain_seconds
from scorecache.scoring.jobs import digest_of, make_job
from scorecache.scoring.lost_mass import gap_for
from scorecache.scoring.partfiles import PartFolder
from scorecache.scoring.plan import (
    Group,
    groups_by_potentials,
    limits_beside_required,
    make_groups,
    merging_pays,
)
from scorecache.scoring.progress import Listener
from scorecache.scoring.run import RunOptions, run_build
from scorecache.scoring.sampled import kept_shares
from scorecache.scoring.survivors import Pruning
from scorecache.system.versions import versions

MOST_ROWS = 2**31 - 1
"""Counts are 32 bits wide."""


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

    def run(self, **options: Unpack[RunOptions]) -> ScoreCache:
        """Count, score and prune; see `build_cache` and `RunOptions` for what can be chosen."""
        for name in options:
            if name not in RunOptions.__annotations__:
                raise TypeError(f"BuildPlan.run() got an unexpected keyword argument {name!r}")
        return run_build(self, options)

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
        groups = tuple(groups_by_potentials(groups, domain))
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
