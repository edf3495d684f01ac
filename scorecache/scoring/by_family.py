"""Score one child by a `FamilyScore`: the score itself says what parent sets are worth, a range of sets at a time.

A set is given to the score only if no subset of it has been closed by an upper bound. The rule of dominance and the
bounds are those of `scorecache.scoring.pruning`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from scorecache.counting.families import BOUND_TOL, DEAD
from scorecache.counting.plain import ranks_without_each
from scorecache.counting.subsets import binomials
from scorecache.counting.types import Floats, Ints
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import FamilyScore
from scorecache.scoring.survivors import Pruning, Survivors


@dataclass(frozen=True, eq=False)
class FamilyBuild:
    """Everything that stays fixed while one child is scored."""

    child: int
    required: Ints
    order: Ints
    """The candidates beside the required parents."""
    n_levels: int
    binom: Ints
    dataset: Dataset
    score: FamilyScore
    pruning: Pruning


def prepare(
    dataset: Dataset, domain: Domain, child: int, n_free: int, score: FamilyScore, pruning: Pruning
) -> FamilyBuild:
    """A child that may have `n_free` parents beside the required ones."""
    order = np.array(sorted(domain.allowed[child]), dtype=np.int64)
    required = np.array(sorted(domain.required[child]), dtype=np.int64)
    n_free = min(n_free, len(order))
    return FamilyBuild(
        child, required, order, n_free + 1, binomials(len(order) + 1, n_free + 1), dataset, score, pruning
    )


def score_sets(build: FamilyBuild, size: int, first: int, last: int, below: Floats) -> tuple[Survivors, Floats]:
    """The sets of `size` candidates of ranks `first` to `last`: the families kept, and the best score at each set.

    `below[0]` is the best score among each set with one candidate less and its subsets; +inf where a bound closed it.
    """
    sets = sets_between(first, last, len(build.order), size, build.binom)
    floor = np.full(len(sets), -np.inf)
    if size:
        for without in ranks_without_each(sets, build.binom).T:
            np.maximum(floor, below[0, without], out=floor)
    is_open = np.flatnonzero(floor < DEAD)
    free, floor = build.order[sets[is_open]], floor[is_open]
    parents = np.sort(np.hstack([np.tile(build.required, (len(free), 1)), free]), axis=1)
    scores = _asked(build, "families", parents)
    gap = build.pruning.gap
    stays = np.flatnonzero((scores + gap > floor) if build.pruning.on else scores > -np.inf)
    reached = np.maximum(floor, scores)
    if build.pruning.on and size < build.n_levels - 1 and len(parents):
        bounds = _asked(build, "upper_bounds", parents)
        reached[reached >= bounds + gap + BOUND_TOL * np.maximum(1.0, np.abs(np.nan_to_num(bounds)))] = DEAD
    best = np.full((1, len(sets)), DEAD)
    best[0, is_open] = reached
    return (np.full(len(stays), build.child), scores[stays], free[stays]), best


def sets_between(first: int, last: int, n: int, size: int, binom: Ints) -> Ints:
    """The `size`-subsets of 0..n-1 of these ranks in colex order, one per row, ascending.

    Examples
    --------
    >>> sets_between(2, 4, 4, 2, binomials(5, 3)).tolist()
    [[1, 2], [0, 3]]
    """
    ranks = np.arange(first, last)
    sets = np.empty((len(ranks), size), dtype=np.int64)
    for i in range(size - 1, -1, -1):
        sets[:, i] = np.searchsorted(binom[:n, i + 1], ranks, side="right") - 1
        ranks = ranks - binom[sets[:, i], i + 1]
    return sets


def n_sets_of(build: FamilyBuild, level: int) -> int:
    """The number of sets of a level."""
    return comb(len(build.order), level - 1)


def _asked(build: FamilyBuild, what: str, parents: Ints) -> Floats:
    """What the score says of these families, checked."""
    if not len(parents):
        return np.empty(0)
    parents.flags.writeable = False
    said = getattr(build.score, what)(build.dataset, build.child, parents)
    if said is None and what == "upper_bounds":
        return np.full(len(parents), np.inf)
    values = np.asarray(said)
    if values.dtype != np.float64 or values.shape != (len(parents),):
        raise ParameterError(
            f"{what} of the score {build.score.name!r} must give one float64 number for each of the {len(parents)} "
            f"parent sets. Got {values.dtype} {values.shape} instead."
        )
    is_wrong = np.isnan(values) | ((values == np.inf) & (what == "families"))
    if is_wrong.any():
        at = int(np.argmax(is_wrong))
        names = build.dataset.names
        listed = ", ".join(names[parent] for parent in parents[at].tolist()) or "no parents"
        raise ParameterError(
            f"{what} of the score {build.score.name!r} must be numbers, or minus infinity. "
            f"Got {values[at]} for {names[build.child]!r} with {listed} instead."
        )
    return values.copy()
