"""The families that a build keeps, gathered piece by piece and sorted into the arrays of a cache.

The pieces are first dealt out to the children, so that all that follows looks at one child's families at a time. Scores
are sorted by the digits of their bit patterns: a pattern that is read as a whole number after flipping the bits of
negative numbers grows with the number it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.cache import break_ties
from scorecache.errors import MemoryLimitError
from scorecache.scoring.survivors import Survivors

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Parents = NDArray[np.int32]
Keys = NDArray[np.uint64]

DIGIT = 8
"""The bits that a pass of the sort looks at."""

FEW = 32
"""So many families of a child, or steps per family, are sorted by insertion."""

LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)


class Families(NamedTuple):
    """Families child by child; a larger key stands for a lower score."""

    keys: Keys
    scores: Floats
    parent_start: Ints
    parents: Parents


@dataclass
class Kept:
    """A growing list of families that refuses to outgrow its memory."""

    memory_limit: float
    n_bytes: int = 0
    pieces: list[tuple[Ints, Floats, Parents, Parents]] = field(default_factory=list)
    """Children, scores, free parents, and the parents that all families of the piece have besides."""

    def add(self, survivors: Survivors, base: tuple[int, ...]) -> None:
        """Take over families of one size; `base` are the parents that all of them have besides."""
        children, scores, free = survivors
        n_new, width = len(children), free.shape[1] + len(base)
        if n_new == 0:
            return
        self.n_bytes += 3 * (4 * width + 24) * n_new
        if self.n_bytes > self.memory_limit:
            raise MemoryLimitError(
                f"the families kept so far need {self.n_bytes / 1e9:.1f} GB to be sorted, more than the "
                f"{self.memory_limit / 1e9:.1f} GB allowed; lower --max-parents or raise --memory-limit"
            )
        self.pieces.append((children, scores, np.ascontiguousarray(free, np.int32), np.array(base, np.int32)))

    def collect(self, n_vars: int) -> tuple[Ints, Floats, Ints, Parents]:
        """The arrays of a cache: where each child's families start, scores, where their parents start, parents."""
        child_start, families = self._by_child(n_vars)
        order, unsettled = _by_score(child_start, families)
        for child in unsettled:
            own = slice(child_start[child], child_start[child + 1])
            keys = families.keys[own]
            break_ties(order[own], keys[1:] == keys[:-1], families.parent_start, families.parents)
        return child_start, *_in_order(order, families)

    def _by_child(self, n_vars: int) -> tuple[Ints, Families]:
        """Where each child's families start, and the families in the order in which they came."""
        child_start, child_parents = np.zeros(n_vars + 1, np.int64), np.zeros(n_vars + 1, np.int64)
        for children, _, free, base in self.pieces:
            _count(children, free.shape[1] + len(base), child_start[1:], child_parents[1:])
        np.cumsum(child_start, out=child_start)
        np.cumsum(child_parents, out=child_parents)
        n = int(child_start[-1])
        families = Families(
            np.empty(n, np.uint64), np.empty(n), np.empty(n + 1, np.int64), np.empty(child_parents[-1], np.int32)
        )
        families.parent_start[n] = child_parents[-1]
        next_family = child_start.copy()
        for piece in self.pieces:
            _deal(*piece, next_family, child_parents, families)
        return child_start, families


@njit(cache=True, nogil=True)
def _count(children: Ints, width: int, n_families: Ints, n_parents: Ints) -> None:
    """Add the families of a piece, and their parents, to those of each child."""
    for f in range(len(children)):
        n_families[children[f]] += 1
        n_parents[children[f]] += width


@njit(cache=True, nogil=True)
def _deal(
    children: Ints,
    scores: Floats,
    free: Parents,
    base: Parents,
    next_family: Ints,
    next_parent: Ints,
    families: Families,
) -> None:
    """Write the families of a piece behind those that their children have already, the parents of each ascending."""
    n_free, width = np.uint64(free.shape[1]), np.uint64(free.shape[1] + len(base))
    one = np.uint64(1)
    keys, parents = families.keys, families.parents
    patterns = (scores + 0.0).view(np.int64)  # the sum makes -0.0 the same as 0.0
    for f in range(np.uint64(len(children))):
        child = np.uint64(children[f])
        family, at = np.uint64(next_family[child]), np.uint64(next_parent[child])
        next_family[child] = family + one
        next_parent[child] = at + width
        keys[family] = np.uint64(patterns[f] ^ LARGEST if patterns[f] >= 0 else patterns[f])
        families.scores[family] = scores[f]
        families.parent_start[family] = at
        largest = np.int32(-1)
        for i in range(width):
            parent = free[f, i] if i < n_free else base[i - n_free]
            to = at + i
            if parent < largest:
                while to > at and parents[to - one] > parent:
                    parents[to] = parents[to - one]
                    to -= one
            parents[to] = parent
            largest = max(largest, parent)


@njit(cache=True, nogil=True)
def _by_score(child_start: Ints, families: Families) -> tuple[Ints, Ints]:
    """The order by child, falling score, size and parents; the keys are sorted on the way.

    Also the children whose families of equal score are not in order yet, being too many to be sorted by insertion.
    """
    n_vars = len(child_start) - 1
    keys, order = families.keys, np.arange(len(families.keys))
    most = 0
    for child in range(n_vars):
        most = max(most, child_start[child + 1] - child_start[child])
    spare_keys, spare_order = np.empty(most, np.uint64), np.empty(most, np.int64)
    unsettled = np.empty(n_vars, np.int64)
    n_unsettled = 0
    for child in range(n_vars):
        first, last = child_start[child], child_start[child + 1]
        if not _sort_keys(keys[first:last], order[first:last], spare_keys, spare_order, families):
            unsettled[n_unsettled] = child
            n_unsettled += 1
    return order, unsettled[:n_unsettled]


@njit(cache=True, nogil=True)
def _sort_keys(keys: Keys, order: Ints, spare_keys: Keys, spare_order: Ints, families: Families) -> bool:
    """Sort a child's keys: by their leading digits and then by insertion, which settles ties.

    Where that takes too long, by all digits; ties are left as they are then and the answer is false.
    """
    n = len(keys)
    if n > FEW:
        least, most = keys[0], keys[0]
        for f in range(n):
            least, most = min(least, keys[f]), max(most, keys[f])
        shift = np.uint64(0)
        while (most - least) >> shift >= 1 << 2 * DIGIT:
            shift += np.uint64(1)
        _sort_by_digit(least, shift, keys, order, spare_keys, spare_order)
        _sort_by_digit(least, shift + np.uint64(DIGIT), spare_keys[:n], spare_order, keys, order)
    if _sort_by_insertion(FEW * n, keys, order, families):
        return True
    for digit in range(0, 64, 2 * DIGIT):
        _sort_by_digit(least, np.uint64(digit), keys, order, spare_keys, spare_order)
        _sort_by_digit(least, np.uint64(digit + DIGIT), spare_keys[:n], spare_order, keys, order)
    return False


@njit(cache=True, nogil=True)
def _sort_by_digit(least: np.uint64, shift: np.uint64, keys: Keys, order: Ints, to_keys: Keys, to_order: Ints) -> None:
    """One pass of a radix sort, on the digit of key - least that begins at bit `shift`."""
    start = np.zeros((1 << DIGIT) + 1, np.uint64)
    mask, one = np.uint64((1 << DIGIT) - 1), np.uint64(1)
    n = np.uint64(len(keys))
    for f in range(n):
        start[((keys[f] - least) >> shift & mask) + one] += one
    for i in range(1 << DIGIT):
        start[i + 1] += start[i]
    for f in range(n):
        digit = (keys[f] - least) >> shift & mask
        to = start[digit]
        start[digit] = to + one
        to_keys[to] = keys[f]
        to_order[to] = order[f]


@njit(cache=True, nogil=True)
def _sort_by_insertion(most_steps: int, keys: Keys, order: Ints, families: Families) -> bool:
    """Sort families that are nearly sorted by their keys; false, with the run half sorted, if it takes more steps."""
    one = np.uint64(1)
    steps = np.uint64(0)
    for f in range(one, np.uint64(len(keys))):
        key, own, to = keys[f], order[f], np.uint64(f)
        while to > 0 and (
            keys[to - one] > key or (keys[to - one] == key and _precedes(own, order[to - one], families))
        ):
            keys[to], order[to] = keys[to - one], order[to - one]
            to -= one
        if to < f:
            keys[to], order[to] = key, own
            steps += f - to
            if steps > most_steps:
                return False
    return True


@njit(cache=True, nogil=True)
def _precedes(family: int, other: int, families: Families) -> bool:
    """Does a family come before another one of the same score: by size, then by parents?"""
    start, parents = families.parent_start, families.parents
    size, other_size = start[family + 1] - start[family], start[other + 1] - start[other]
    if size != other_size:
        return bool(size < other_size)
    for i in range(size):
        parent, other_parent = parents[start[family] + i], parents[start[other] + i]
        if parent != other_parent:
            return bool(parent < other_parent)
    return False


@njit(cache=True, nogil=True)
def _in_order(order: Ints, families: Families) -> tuple[Floats, Ints, Parents]:
    """Scores, where the parents start, and parents of the families in this order."""
    n = len(order)
    parent_start, parents = families.parent_start, families.parents
    new_scores, new_start = np.empty(n, np.float64), np.zeros(n + 1, np.int64)
    new_parents = np.empty(len(parents), np.int32)
    one = np.uint64(1)
    at = np.uint64(0)
    for f in range(np.uint64(n)):
        source = np.uint64(order[f])
        new_scores[f] = families.scores[source]
        for i in range(np.uint64(parent_start[source]), np.uint64(parent_start[source + one])):
            new_parents[at] = parents[i]
            at += one
        new_start[f + one] = at
    return new_scores, new_start, new_parents
