"""A cache whose families get the logarithm of a structure prior, and are pruned once more with it.

A family W that a subset W' dominates by the scores alone, s(W') >= s(W) + g, is dominated with a prior l too, if no
superset gains more than g by it: s(W') + l(W') >= s(W) + g + l(W') >= s(W) + l(W). So the scores are pruned with a gap
of g (`StructurePrior.most_gain`), and what that keeps is pruned again here.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from scorecache.cache import ScoreCache, starts_of
from scorecache.counting.types import Floats, Ints
from scorecache.record import Record
from scorecache.scores.prior import Families, StructurePrior
from scorecache.scoring.survivors import Pruning


def with_prior(cache: ScoreCache, prior: StructurePrior, arities: Ints, pruning: Pruning, record: Record) -> ScoreCache:
    """The cache with the prior in its scores; `arities` are 0 for columns of numbers.

    Examples
    --------
    >>> from scorecache.domain import Domain
    >>> domain = Domain.of("AB")
    >>> record = Record("mine", {}, domain, "dominance")
    >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
    >>> found = with_prior(cache, StructurePrior(edge=0.1), np.array([2, 2]), Pruning(True), record)
    >>> [found.n_families_of(child) for child in (0, 1)]
    [1, 1]
    """
    child = np.repeat(np.arange(len(cache.names)), np.diff(cache.child_start))
    families = Families(child, cache.parent_start, cache.parents, arities)
    scores = cache.scores + prior.of_families(record.domain, families)
    kept = undominated(cache, scores, pruning.gap) if pruning.on else np.ones(len(scores), dtype=np.bool_)
    sizes = families.n_parents
    parents = cache.parents[np.repeat(kept, sizes)]
    return ScoreCache.from_arrays(cache.names, child[kept], scores[kept], starts_of(sizes[kept]), parents, record)


def undominated(cache: ScoreCache, scores: Floats, gap: float) -> NDArray[np.bool_]:
    """The families whose score, with the gap added, exceeds that of every proper subset in the cache."""
    kept = np.ones(len(scores), dtype=np.bool_)
    sizes = np.diff(cache.parent_start)
    for begin, end in zip(cache.child_start[:-1].tolist(), cache.child_start[1:].tolist(), strict=True):
        tables = dict[int, tuple[NDArray[np.bytes_], Floats]]()
        for size in np.unique(sizes[begin:end]).tolist():
            own = begin + np.flatnonzero(sizes[begin:end] == size)
            places = cache.parent_start[own][:, None] + np.arange(size)
            sets = cache.parents[places]
            keys = _keys(sets)
            order = np.argsort(keys, kind="stable")
            floor = np.full(len(own), -np.inf)
            for smaller, (known, best) in tables.items():
                for columns in combinations(range(size), smaller):
                    asked = _keys(sets[:, columns])
                    at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
                    np.maximum(floor, np.where(known[at] == asked, best[at], -np.inf), out=floor)
            kept[own] = scores[own] + gap > floor
            tables[size] = keys[order], scores[own][order]
    return kept


def _keys(sets: NDArray[np.int32]) -> NDArray[np.bytes_]:
    """Sets of one size, ascending, as texts of equal length that compare as they do."""
    n, size = sets.shape
    if size == 0:
        return np.zeros(n, dtype="S1")
    text = np.empty((n, 4 * size + 1), dtype=np.uint8)  # numpy cuts zeros off the end, so the last byte is a one
    text[:, :-1] = np.ascontiguousarray(sets, dtype=">u4").view(np.uint8).reshape(n, 4 * size)
    text[:, -1] = 1
    return np.ascontiguousarray(text).view(f"S{4 * size + 1}").ravel()
