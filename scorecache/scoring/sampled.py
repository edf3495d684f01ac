"""What share of the families pruning leaves, measured on a few variables chosen at random.

A build of some of the variables decides of each of its families as the whole build does, since all subsets of a parent
set are in it too. How often a random family of k parents stays there is therefore how often it stays at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import comb, inf

import numpy as np

from scorecache.scoring.dispatch import run_piece
from scorecache.scoring.estimate import PLAIN_ROW_NANOSECONDS, PLAIN_SET_NANOSECONDS
from scorecache.scoring.jobs import Job, prepare
from scorecache.scoring.kept import Kept
from scorecache.scoring.levels import Unit, score_units
from scorecache.scoring.plan import Group, n_subsets

SAMPLE_SHARE, LEAST_SECONDS, MOST_SECONDS = 0.1, 0.06, 0.5
"""The samples may take this share of the estimated time, within these limits."""

LEAST_VARIABLES = 6
"""Of a sample: all subsets of as many variables as a parent set may have would be too many where there is no limit."""

FEWEST_SAMPLES, MOST_SAMPLES, MOST_SETS = 3, 16, 1000
"""Samples of a group where time allows them, and joint sets of one: several small ones say more than a large one."""


def kept_shares(job: Job, seconds: float) -> list[list[float]]:
    """Per group, the share of the families of 0, 1, 2, ... free parents that stays, in a build of `seconds`."""
    budget = min(max(SAMPLE_SHARE * seconds, LEAST_SECONDS), MOST_SECONDS) / len(job.groups)
    return [_shares(job, number, budget) for number in range(len(job.groups))]


def _shares(job: Job, number: int, seconds: float) -> list[float]:
    group = job.groups[number]
    most = group.max_free + 1
    set_seconds = (PLAIN_SET_NANOSECONDS + PLAIN_ROW_NANOSECONDS * job.rows[group.table].n_distinct) * 1e-9
    n_sets = seconds / set_seconds
    n_vars = min(len(group.universe), most, LEAST_VARIABLES)
    while n_vars < len(group.universe) and n_subsets(n_vars + 1, most) <= min(n_sets / FEWEST_SAMPLES, MOST_SETS):
        n_vars += 1
    n_samples = 1 if n_vars == len(group.universe) else max(1, min(int(n_sets / n_subsets(n_vars, most)), MOST_SAMPLES))
    kept, scored = np.zeros(most), np.zeros(most)
    for universe, children in _samples(group, n_vars, n_samples):
        _count(_restricted(job, number, universe, children), kept, scored)
    # what the samples hold nowhere is taken to be half as frequent as what they hold once
    shares = [float((stays + 0.5) / (n + 1)) for stays, n in zip(kept, scored, strict=True) if n > 0]
    return shares + shares[-1:] * (most - len(shares))  # of the sizes beyond the samples: as of the largest in them


def _samples(group: Group, n_vars: int, n_samples: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Random children with the variables that their parents are drawn from, always the same ones."""
    random = np.random.default_rng(0)
    for _ in range(n_samples):
        universe = tuple(sorted(random.choice(group.universe, n_vars, replace=False).tolist()))
        children = tuple(child for child in group.children if child in universe)
        if not group.together:
            children = (int(random.choice(group.children)),)
        if children:
            yield universe, children


def _restricted(job: Job, number: int, universe: tuple[int, ...], children: tuple[int, ...]) -> Job:
    """The job of building a sample alone."""
    group, domain = job.groups[number], job.domain
    limit = dict(zip(group.children, group.free_limits, strict=True))
    names = domain.names
    outside = [(names[v], names[child]) for child in children for v in domain.allowed[child].difference(universe)]
    free_limits = tuple(min(limit[child], len(domain.allowed[child].intersection(universe))) for child in children)
    return replace(
        job,
        domain=replace(domain, forbidden_arcs=(*domain.forbidden_arcs, *outside)),
        groups=(replace(group, children=children, free_limits=free_limits, universe=universe),),
        plain=True,
    )


def _count(job: Job, kept: np.ndarray, scored: np.ndarray) -> None:
    """Build a sample; add how many families of each size it keeps and scores."""
    (group,) = job.groups
    unit = Unit(0, 0, None if group.together else group.children[0], group.base)
    build, found = prepare(job, unit), Kept(inf)
    score_units(
        {unit: build},
        lambda tasks, known: ((task, run_piece(build, task[1], known[unit])) for task in tasks),
        found,
        lambda *_: None,
    )
    for piece in found.pieces:
        kept[piece.free.shape[1]] += len(piece.children)
    for child, limit in zip(group.children, group.free_limits, strict=True):
        for size in range(limit + 1):
            scored[size] += comb(len(job.domain.allowed[child]), size)
