"""The score cache: the local score of every child with every parent set that was kept, in flat arrays.

Families of child v are the rows `child_start[v]:child_start[v + 1]`, best first, equal scores by size and then by the
parents' indices. Family f has the parents `parents[parent_start[f]:parent_start[f + 1]]`, ascending. Scores are natural
logarithms and always maximised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.errors import ParameterError
from scorecache.record import Record
from scorecache.wording import listing

Family = tuple[float, tuple[int, ...]]

_BLOCK = 2**14
"""Families, or parents, that are handled at a time: temporary arrays stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class ScoreCache:
    """The local scores of families, a child with its parents, in compact arrays.

    `build_cache` and `read_cache` make one; the module's docstring states the order of the arrays.

    Parameters
    ----------
    names : tuple of str
        The variables.
    child_start, scores, parent_start, parents : arrays
        The families, see the module's docstring; they become read-only.
    record : Record, optional
        How the cache was made and pruned; None for a file of another program.

    Examples
    --------
    >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
    >>> list(cache.families(1))
    [(-1.5, (0,)), (-2.0, ())]

    Scores of your own, by name:

    >>> table = {"rain": {(): -2.0}, "wet": {(): -3.0, ("rain",): -1.5}}
    >>> ScoreCache.from_families(["rain", "wet"], table).n_families
    3
    """

    names: tuple[str, ...]
    child_start: NDArray[np.int64]
    scores: NDArray[np.float64]
    parent_start: NDArray[np.int64]
    parents: NDArray[np.int32]
    record: Record | None = None

    def __post_init__(self) -> None:
        for array in (self.child_start, self.scores, self.parent_start, self.parents):
            array.flags.writeable = False

    @classmethod
    def from_arrays(
        cls,
        names: Sequence[str],
        children: NDArray[np.integer[Any]],
        scores: NDArray[np.float64],
        parent_start: NDArray[np.int64],
        parents: NDArray[np.integer[Any]],
        record: Record | None = None,
    ) -> ScoreCache:
        """Sort families given in any order into a cache.

        Parameters
        ----------
        names : sequence of str
            The variables.
        children : array of int
            The child of each family.
        scores : array of float
            The score of each family.
        parent_start, parents : arrays of int
            The parents of family f, ascending, are `parents[parent_start[f]:parent_start[f + 1]]`.
        record : Record, optional
            How the families were chosen, if it is known.

        Returns
        -------
        ScoreCache

        Examples
        --------
        >>> import numpy as np
        >>> scores, start, parents = np.array([-2.0, -1.0, -1.5]), np.array([0, 0, 0, 1]), np.array([0])
        >>> cache = ScoreCache.from_arrays("AB", np.array([1, 0, 1]), scores, start, parents)
        >>> list(cache.families(1))
        [(-1.5, (0,)), (-2.0, ())]
        """
        # by child, falling score, size, parents; numbers of 16 bits are sorted by radix
        narrow = children.astype(np.uint16 if len(names) < 1 << 16 else np.int64)
        order = np.argsort(narrow, kind="stable")
        child_start = np.searchsorted(narrow[order], np.arange(len(names) + 1))
        _sort_by_score(order, child_start, scores, parent_start, parents)
        sizes = np.empty(len(order), dtype=np.int32)
        np.subtract(parent_start[1:], parent_start[:-1], out=sizes, casting="same_kind")
        sizes = sizes[order]
        new_start = starts_of(sizes)
        sorted_parents = np.empty(len(parents), dtype=np.int32)
        for families, places in blocks_of(sizes):  # the places of all parents at once would be larger than the cache
            source = np.repeat(parent_start[order[families]] - new_start[families], sizes[families])
            source += np.arange(places.start, places.stop)
            sorted_parents[places] = parents[source]
        return cls(tuple(names), child_start, scores[order], new_start, sorted_parents, record)

    @classmethod
    def from_families(
        cls,
        names: Sequence[str],
        families: Sequence[Iterable[Family]] | Mapping[str, Mapping[tuple[str, ...], float]],
        record: Record | None = None,
    ) -> ScoreCache:
        """Build a cache from scores that were computed elsewhere.

        Parameters
        ----------
        names : sequence of str
            The variables.
        families : mapping or sequence
            By name, `{child: {parents: score}}` with the parents as a tuple of names; or, per child in the order of
            `names`, (score, parents) pairs with the parents as indices. Natural logarithms, larger is better.
        record : Record, optional
            How the families were chosen, if it is known; without it only the families listed count.

        Returns
        -------
        ScoreCache

        Raises
        ------
        ParameterError
            If families by name have an unknown variable, a child among its own parents, a set of parents twice, a
            score that is not finite, or a variable has none.

        Examples
        --------
        >>> ScoreCache.from_families(["rain", "wet"], {"rain": {(): -2.0}, "wet": {("rain",): -1.5}}).parents_of(1)
        (0,)
        """
        if isinstance(families, Mapping):
            families = _by_index(names, families)
        flat = [
            (child, score, tuple(sorted(parents))) for child, listed in enumerate(families) for score, parents in listed
        ]
        sizes = np.array([len(parents) for _, _, parents in flat], dtype=np.int64)
        return cls.from_arrays(
            names,
            np.array([child for child, _, _ in flat], dtype=np.int64),
            np.array([score for _, score, _ in flat], dtype=np.float64),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([parent for _, _, parents in flat for parent in parents], dtype=np.int32),
            record,
        )

    @property
    def n_vars(self) -> int:
        return len(self.names)

    @property
    def n_families(self) -> int:
        return len(self.scores)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of parents of every family."""
        return np.diff(self.parent_start)

    def n_families_of(self, child: int) -> int:
        """The number of families of a child.

        Parameters
        ----------
        child : int

        Returns
        -------
        int

        Examples
        --------
        >>> ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]]).n_families_of(1)
        2
        """
        return int(self.child_start[child + 1] - self.child_start[child])

    def families(self, child: int) -> Iterator[Family]:
        """The (score, parents) pairs of a child, best first.

        Parameters
        ----------
        child : int

        Returns
        -------
        iterator of (float, tuple of int)

        Examples
        --------
        >>> list(ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]]).families(0))
        [(-1.0, ())]
        """
        for family in range(self.child_start[child], self.child_start[child + 1]):
            yield float(self.scores[family]), self.parents_of(family)

    def parents_of(self, family: int) -> tuple[int, ...]:
        """The parents of a family, ascending.

        Parameters
        ----------
        family : int
            Its number among all families of the cache.

        Returns
        -------
        tuple of int

        Examples
        --------
        >>> ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]]).parents_of(1)
        (0,)
        """
        return tuple(self.parents[self.parent_start[family] : self.parent_start[family + 1]].tolist())

    def equals(self, other: ScoreCache) -> bool:
        """Whether names, families and scores are the same, bit for bit; the records may differ.

        Parameters
        ----------
        other : ScoreCache

        Returns
        -------
        bool

        Examples
        --------
        >>> cache = ScoreCache.from_families("A", [[(-1.0, ())]])
        >>> cache.equals(ScoreCache.from_families("A", [[(-1.0, ())]]))
        True
        """
        return self.names == other.names and all(
            np.array_equal(mine, theirs)
            for mine, theirs in (
                (self.child_start, other.child_start),
                (self.scores, other.scores),
                (self.parent_start, other.parent_start),
                (self.parents, other.parents),
            )
        )


def _by_index(
    names: Sequence[str], families: Mapping[str, Mapping[tuple[str, ...], float]]
) -> Sequence[Iterable[Family]]:
    """Families by name as (score, parents) pairs by index, checked."""
    index = {name: position for position, name in enumerate(names)}
    unknown = [child for child in families if child not in index]
    if unknown:
        raise ParameterError(f"families has {listing(map(repr, unknown))}, not in names")
    listed: list[dict[tuple[int, ...], float]] = [{} for _ in names]
    for child, own in families.items():
        for parents, score in own.items():
            where = f"the family {parents!r} of {child!r}"
            if isinstance(parents, str) or any(parent not in index for parent in parents):
                raise ParameterError(f"{where} must be a tuple of variables; variables are {listing(map(repr, names))}")
            key = tuple(sorted(index[parent] for parent in parents))
            if len(set(key)) < len(key) or index[child] in key or key in listed[index[child]]:
                raise ParameterError(f"{where} has a parent twice, its own child, or is listed twice")
            if not isfinite(score):
                raise ParameterError(f"{where} must have a finite score. Got {score!r} instead.")
            listed[index[child]][key] = float(score)
    empty = [name for name, own in zip(names, listed, strict=True) if not own]
    if empty:
        raise ParameterError(f"no family of {listing(map(repr, empty))}; list at least its score without parents, ()")
    return [[(score, parents) for parents, score in own.items()] for own in listed]


def starts_of(sizes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Where pieces of these sizes begin that lie one after the other, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def blocks_of(sizes: NDArray[np.integer[Any]]) -> Iterator[tuple[slice, slice]]:
    """Families some at a time, and the places of their parents: temporary arrays stay small."""
    first, place = 0, 0
    while first < len(sizes):
        ends = np.cumsum(sizes[first : first + _BLOCK], dtype=np.int64)
        n = max(1, int(np.searchsorted(ends, _BLOCK, side="right")))
        yield slice(first, first + n), slice(place, place + int(ends[n - 1]))
        first, place = first + n, place + int(ends[n - 1])


def _sort_by_score(
    order: NDArray[np.int64],
    child_start: NDArray[np.int64],
    scores: NDArray[np.float64],
    parent_start: NDArray[np.int64],
    parents: NDArray[np.integer[Any]],
) -> None:
    """Sort each child's places in an order by child, so that what is sorted stays in the processor's cache."""
    for first, last in pairwise(child_start.tolist()):
        own = order[first:last]
        falling = -scores[own]
        by_score = np.argsort(falling)
        own[:] = own[by_score]
        falling = falling[by_score]
        same = falling[1:] == falling[:-1]
        if same.any():
            _break_ties(own, same, parent_start, parents)


def _break_ties(
    order: NDArray[np.int64],
    same: NDArray[np.bool_],
    parent_start: NDArray[np.int64],
    parents: NDArray[np.integer[Any]],
) -> None:
    """Sort by size and parents, in place, what ties in an order by score; only these rows pay for it.

    `same[f]`: have place f and the next one the same score?
    """
    tied = np.zeros(len(order), dtype=np.bool_)
    tied[:-1] = same
    tied[1:] |= same
    where = np.flatnonzero(tied)
    rows = order[where]
    run = np.cumsum((where == 0) | ~same[where - 1], dtype=np.int32)
    sizes = (parent_start[rows + 1] - parent_start[rows]).astype(np.int32)
    table = np.full((len(rows), int(sizes.max())), -1, dtype=np.int32)
    for position in range(table.shape[1]):
        has = sizes > position
        table[has, position] = parents[parent_start[rows[has]] + position]
    order[where] = rows[np.lexsort((*table.T[::-1], sizes, run))]
