"""The families that a build keeps, gathered piece by piece and sorted into the arrays of a cache.

Scores are sorted child by child, by the digits of their bit patterns: a pattern that is read as a whole number after
flipping the bits of negative numbers grows with the number it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.cache import break_ties
from scorecache.errors import MemoryLimitError
from scorecache.survivors import Survivors

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Parents = NDArray[np.int32]
Keys = NDArray[np.uint64]

DIGIT = 8
"""The bits that a pass of the sort looks at."""

FEW = 32
"""So many families of a child, or steps per family, are sorted by insertion."""

LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)


@dataclass
class Kept:
    """A growing list of families that refuses to outgrow its memory."""

    memory_limit: float
    n_bytes: int = 0
    n_families: int = 0
    children: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    scores: Floats = field(default_factory=lambda: np.empty(0, np.float64))
    parent_start: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    parents: Parents = field(default_factory=lambda: np.empty(0, np.int32))

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
        n_families = self.n_families + n_new
        n_parents = int(self.parent_start[self.n_families]) + width * n_new
        self.children = _with_room(self.children, self.n_families, n_families)
        self.scores = _with_room(self.scores, self.n_families, n_families)
        self.parents = _with_room(self.parents, n_parents - width * n_new, n_parents)
        self.parent_start = _with_room(self.parent_start, self.n_families + 1, n_families + 1)
        _append(
            children, scores, np.ascontiguousarray(free, np.int32), np.array(base, np.int32),
            self.n_families, self.children, self.scores, self.parent_start, self.parents,
        )  # fmt: skip
        self.n_families = n_families

    def collect(self, n_vars: int) -> tuple[Ints, Floats, Ints, Parents]:
        """The arrays of a cache: where each child's families start, scores, where their parents start, parents."""
        children, scores = self.children[: self.n_families], self.scores[: self.n_families]
        child_start, order, ties = _by_child_and_score(n_vars, children, scores)
        break_ties(order, ties, self.parent_start, self.parents)
        return child_start, *_in_order(order, scores, self.parent_start, self.parents)


def _with_room(array: NDArray[Any], n_used: int, n_needed: int) -> NDArray[Any]:
    """The array, or if it is too short a longer one with the same beginning."""
    if n_needed <= len(array):
        return array
    longer = np.empty(max(n_needed, 2 * n_used), array.dtype)
    longer[:n_used] = array[:n_used]
    return longer


@njit(cache=True, nogil=True)
def _append(
    children: Ints,
    scores: Floats,
    free: Parents,
    base: Parents,
    n_before: int,
    all_children: Ints,
    all_scores: Floats,
    parent_start: Ints,
    parents: Parents,
) -> None:
    """Write families of one size behind the others, the parents of each ascending."""
    n_free, n_base = np.uint64(free.shape[1]), np.uint64(len(base))
    one = np.uint64(1)
    at = np.uint64(parent_start[n_before])
    to_family = np.uint64(n_before)
    for f in range(np.uint64(len(children))):
        all_children[to_family] = children[f]
        all_scores[to_family] = scores[f]
        for i in range(n_free + n_base):
            parent = free[f, i] if i < n_free else base[i - n_free]
            to = at + i
            while to > at and parents[to - one] > parent:
                parents[to] = parents[to - one]
                to -= one
            parents[to] = parent
        at += n_free + n_base
        to_family += one
        parent_start[to_family] = at


@njit(cache=True, nogil=True)
def _by_child_and_score(n_vars: int, children: Ints, scores: Floats) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Where each child's families start, the order by child and falling score, and which tie with the next in both."""
    n = len(children)
    child_start = np.zeros(n_vars + 1, np.int64)
    for f in range(n):
        child_start[children[f] + 1] += 1
    for child in range(n_vars):
        child_start[child + 1] += child_start[child]
    keys, spare_keys = np.empty(n, np.uint64), np.empty(n, np.uint64)
    order, spare_order = np.empty(n, np.int64), np.empty(n, np.int64)
    patterns = (scores + 0.0).view(np.int64)  # the sum makes -0.0 the same as 0.0
    free = child_start.copy()
    for f in range(n):
        to = free[children[f]]
        free[children[f]] += 1
        keys[to] = np.uint64(patterns[f] ^ LARGEST if patterns[f] >= 0 else patterns[f])
        order[to] = f
    ties = np.zeros(max(n - 1, 0), np.bool_)
    for child in range(n_vars):
        first, last = np.uint64(child_start[child]), np.uint64(child_start[child + 1])
        _sort_keys(first, last, keys, order, spare_keys, spare_order)
        for f in range(child_start[child] + 1, child_start[child + 1]):
            ties[f - 1] = keys[f] == keys[f - 1]
    return child_start, order, ties


@njit(cache=True, nogil=True)
def _sort_keys(first: np.uint64, last: np.uint64, keys: Keys, order: Ints, spare_keys: Keys, spare_order: Ints) -> None:
    """Sort a run of keys: by their leading digits and then by insertion, or by all digits where that takes longer."""
    n = last - first
    if n > FEW:
        least, most = keys[first], keys[first]
        for f in range(first, last):
            least, most = min(least, keys[f]), max(most, keys[f])
        shift = np.uint64(0)
        while (most - least) >> shift >= 1 << 2 * DIGIT:
            shift += np.uint64(1)
        _sort_by_digit(first, last, least, shift, keys, order, spare_keys, spare_order)
        _sort_by_digit(first, last, least, shift + np.uint64(DIGIT), spare_keys, spare_order, keys, order)
    if not _sort_by_insertion(first, last, FEW * n, keys, order):
        for digit in range(0, 64, 2 * DIGIT):
            shift = np.uint64(digit)
            _sort_by_digit(first, last, least, shift, keys, order, spare_keys, spare_order)
            _sort_by_digit(first, last, least, shift + np.uint64(DIGIT), spare_keys, spare_order, keys, order)


@njit(cache=True, nogil=True)
def _sort_by_digit(
    first: np.uint64,
    last: np.uint64,
    least: np.uint64,
    shift: np.uint64,
    keys: Keys,
    order: Ints,
    to_keys: Keys,
    to_order: Ints,
) -> None:
    """One pass of a radix sort, on the digit of key - least that begins at bit `shift`."""
    start = np.zeros((1 << DIGIT) + 1, np.uint64)
    mask, one = np.uint64((1 << DIGIT) - 1), np.uint64(1)
    for f in range(first, last):
        start[((keys[f] - least) >> shift & mask) + one] += one
    start[0] = first
    for i in range(1 << DIGIT):
        start[i + 1] += start[i]
    for f in range(first, last):
        digit = (keys[f] - least) >> shift & mask
        to = start[digit]
        start[digit] = to + one
        to_keys[to] = keys[f]
        to_order[to] = order[f]


@njit(cache=True, nogil=True)
def _sort_by_insertion(first: np.uint64, last: np.uint64, most_steps: np.uint64, keys: Keys, order: Ints) -> bool:
    """Sort a run of keys that is nearly sorted; false, with the run half sorted, if it takes more steps."""
    one = np.uint64(1)
    steps = np.uint64(0)
    for f in range(first + one, last):
        key = keys[f]
        if keys[f - one] <= key:
            continue
        own, to = order[f], np.uint64(f)
        while to > first and keys[to - one] > key:
            keys[to], order[to] = keys[to - one], order[to - one]
            to -= one
        keys[to], order[to] = key, own
        steps += f - to
        if steps > most_steps:
            return False
    return True


@njit(cache=True, nogil=True)
def _in_order(order: Ints, scores: Floats, parent_start: Ints, parents: Parents) -> tuple[Floats, Ints, Parents]:
    """Scores, where the parents start, and parents of the families in this order."""
    n = len(order)
    new_scores, new_start = np.empty(n, np.float64), np.zeros(n + 1, np.int64)
    new_parents = np.empty(parent_start[n], np.int32)
    one = np.uint64(1)
    at = np.uint64(0)
    for f in range(np.uint64(n)):
        source = np.uint64(order[f])
        new_scores[f] = scores[source]
        for i in range(np.uint64(parent_start[source]), np.uint64(parent_start[source + one])):
            new_parents[at] = parents[i]
            at += one
        new_start[f + one] = at
    return new_scores, new_start, new_parents
