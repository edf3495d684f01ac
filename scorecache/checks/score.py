"""The contract of a score of one's own, run on random data: `check_score`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from scorecache.counting.families import BOUND_TOL
from scorecache.counting.types import Floats, Ints
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.formats import read_cache, write_cache
from scorecache.scores import FamilyScore
from scorecache.scoring.build import build_cache

N_ROWS = 60
ARITIES = (2, 3, 2, 4, 3)
"""Of the random data; the last state of variable 3 never occurs."""


def check_score(score: FamilyScore, data: Dataset | None = None, *, seed: int = 0) -> None:
    """Test a score of one's own: what must hold for caches made with it to be right.

    - Every family has one number, minus infinity where it is left out, and the smallest parent set of a variable has a
      finite one.
    - The number does not depend on what else is asked for in the same call, and a second call gives the same bits.
    - No superset scores above an upper bound.
    - Pruning loses no best family, under general domains and those of classifiers.
    - Any number of threads gives the same cache, and a file gives it back.

    Parameters
    ----------
    score : FamilyScore
        With the parameters to be tested.
    data : Dataset, optional
        At most 8 variables; random codes by default, with a state that never occurs, or random numbers if the score
        takes measurements.
    seed : int
        Of the random data.

    Raises
    ------
    AssertionError
        Naming what does not hold, for which families.
    ParameterError
        If it is not a FamilyScore, or says something that is not a score.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sparse(FamilyScore):
    ...     price: float = 1.0
    ...     name = "sparse"
    ...     def families(self, data, child, parents):
    ...         return np.full(len(parents), 0.0 - self.price * parents.shape[1])
    ...     def upper_bounds(self, data, child, parents):
    ...         return np.full(len(parents), 0.0 - self.price * parents.shape[1])
    >>> check_score(Sparse())
    >>> check_score(Sparse(-1.0))
    Traceback (most recent call last):
        ...
    AssertionError: sparse: ('1',) of '0' scores 1.0, above the upper bound 0.0 of the subset ()
    """
    if not isinstance(score, FamilyScore):
        raise ParameterError(f"expected an instance of a subclass of scorecache.FamilyScore. Got {score!r} instead.")
    data = _random_data(score, seed) if data is None else data
    for child in range(data.n_vars):
        _check_families(score, data, child)
    domains = [Domain.of(data.names, max_parents=data.n_vars - 1)]
    if len(data.states[-1]) > 1:
        domains.append(Domain.of(data.names, "anb", class_name=data.names[-1], max_parents=data.n_vars - 1))
    for domain in domains:
        _check_caches(score, data, domain)


def _check_families(score: FamilyScore, data: Dataset, child: int) -> None:
    """Each set by itself, all of a size at once, and the bounds against every superset."""
    known: dict[tuple[int, ...], float] = {}
    bounds: dict[tuple[int, ...], float] = {}
    for sets in _sets(data.n_vars, child):
        at_once = np.asarray(score.families(data, child, sets))
        again = np.asarray(score.families(data, child, sets[::-1].copy()))[::-1]
        assert np.array_equal(at_once, again), f"{score.name}: the order of the parent sets changes the scores"
        alone = np.concatenate([np.asarray(score.families(data, child, sets[i : i + 1])) for i in range(len(sets))])
        assert np.array_equal(at_once, alone), f"{score.name}: a set asked for alone scores differently"
        upper = score.upper_bounds(data, child, sets)
        for at, members in enumerate(map(tuple, sets.tolist())):
            known[members] = float(at_once[at])
            bounds[members] = np.inf if upper is None else float(upper[at])
    assert np.isfinite(known[()]), f"{score.name}: {data.names[child]!r} without parents must have a finite score"
    for larger, value in known.items():
        for size in range(len(larger)):
            for smaller in combinations(larger, size):
                bound = bounds[smaller]
                named = [tuple(data.names[v] for v in members) for members in (larger, smaller)]
                assert value <= bound + BOUND_TOL * max(1.0, abs(value)), (
                    f"{score.name}: {named[0]} of {data.names[child]!r} scores {value}, above the upper bound {bound} "
                    f"of the subset {named[1]}"
                )


def _check_caches(score: FamilyScore, data: Dataset, domain: Domain) -> None:
    whole = build_cache(data, score, domain=domain, prune=False, n_jobs=1)
    pruned = build_cache(data, score, domain=domain, n_jobs=1)
    for child, name in enumerate(data.names):
        every = {parents: value for value, parents in whole.families(child)}
        kept = {parents: value for value, parents in pruned.families(child)}
        assert kept.items() <= every.items(), f"{score.name}: a pruned build scores families of {name!r} differently"
        for parents, value in every.items():
            best = max((own for subset, own in kept.items() if set(subset) <= set(parents)), default=-np.inf)
            assert best >= value, f"{score.name}: pruning lost {parents} of {name!r}, which scores {value}"
    assert pruned.equals(build_cache(data, score, domain=domain, n_jobs=2)), f"{score.name}: threads change the cache"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.jkl"
        write_cache(pruned, path)
        assert pruned.equals(read_cache(path)), f"{score.name}: a file does not give the cache back"


def _sets(n_vars: int, child: int) -> Iterator[Ints]:
    """All parent sets of a child, those of one size at a time."""
    others = [v for v in range(n_vars) if v != child]
    for size in range(n_vars):
        listed = list(combinations(others, size))
        yield np.array(listed, dtype=np.int64).reshape(len(listed), size)


def _random_data(score: FamilyScore, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    if score.takes_measurements:
        numbers: Floats = rng.normal(size=(len(ARITIES), N_ROWS))
        numbers[1] += numbers[0]
        return Dataset.from_columns(dict(zip("abcde", numbers, strict=True))).measured()
    codes = np.array([rng.integers(0, arity - (arity == 4), N_ROWS) for arity in ARITIES])
    codes[2] = (codes[0] + (rng.random(N_ROWS) < 0.2)) % 2
    return Dataset.from_codes(codes, ARITIES)
