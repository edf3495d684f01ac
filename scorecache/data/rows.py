"""Distinct rows with their multiplicities: what every counting kernel reads.

Tables repeat rows; counting each distinct one once, with its weight, is work proportional to what the data hold. Ten
million rows with a hundred thousand distinct configurations are a hundred thousand weighted rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorecache.data.dataset import Dataset
from scorecache.system.compiled import is_loaded, kernel

EMPTY = -1
MOST_VALUES_PLAIN = 1 << 18
"""Tables of up to this many values are merged in numpy: that takes some milliseconds, loading a kernel more."""

MOST_KEYS = 1 << 62
"""Whole numbers below this one tell rows apart in numpy."""

DENSE_FLOOR, DENSE_PER_ROW = 4096, 4
"""Labels are looked up in an array of up to this many places, or this many per row; beyond that they are sorted."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Weighted rows: `codes[v, d]` is the state of variable v in distinct row d, which occurs `weights[d]` times."""

    codes: NDArray[np.uint16]
    weights: NDArray[np.int64]

    def __post_init__(self) -> None:
        # read-only like a data set's own arrays: numba compiles a kernel once per kind of array
        self.codes.flags.writeable = False
        self.weights.flags.writeable = False

    def columns(self, order: NDArray[np.int64]) -> NDArray[np.uint16]:
        """The codes of these variables in this order, read-only; no copy if they are all in place."""
        if np.array_equal(order, np.arange(len(self.codes))):
            return self.codes
        codes = self.codes[order]
        codes.flags.writeable = False
        return codes

    @property
    def n_distinct(self) -> int:
        return int(self.codes.shape[1])


def all_rows(dataset: Dataset) -> Rows:
    """The rows as they are, equal ones side by side with their own weights; rows of weight zero vanish."""
    weights = dataset.counts
    if weights is None:
        return Rows(dataset.codes, np.ones(dataset.n_rows, dtype=np.int64))
    is_counted = weights > 0
    if is_counted.all():
        return Rows(dataset.codes, np.ascontiguousarray(weights))
    return Rows(np.ascontiguousarray(dataset.codes[:, is_counted]), weights[is_counted])


def distinct_rows(dataset: Dataset) -> Rows:
    """Merge equal rows, in order of first appearance; rows of weight zero vanish."""
    rows = all_rows(dataset)
    first, merged = merge_rows(rows.codes, rows.weights)
    if len(first) == rows.n_distinct:
        return rows
    return Rows(np.ascontiguousarray(rows.codes[:, first]), merged)


def merge_rows(
    codes: NDArray[np.uint16], weights: NDArray[np.int64], *, n_times: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each distinct row of positive weight occurs first, and its total weight; one of `n_times` such calls."""
    if n_times * codes.size <= MOST_VALUES_PLAIN and not is_loaded(_merge):
        return merge_rows_plain(codes, weights)
    codes, weights = codes.view(), weights.view()
    codes.flags.writeable = weights.flags.writeable = False
    return _merge(codes, weights, _hash_rows(codes))


def merge_rows_plain(
    codes: NDArray[np.uint16], weights: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same in numpy, for small tables."""
    counted = np.flatnonzero(weights > 0)
    labels, n_labels = np.zeros(len(counted), dtype=np.int64), min(1, len(counted))
    # as many columns at once as one number tells apart
    key, n_keys = np.zeros(len(counted), dtype=np.int64), 1
    for column in codes[:, counted]:
        arity = int(column.max(initial=0)) + 1
        if n_keys * arity > MOST_KEYS // max(n_labels, 1):
            labels, n_labels = refine_labels(labels, n_labels, key, n_keys)
            key, n_keys = np.zeros(len(counted), dtype=np.int64), 1
        key, n_keys = key * arity + column, n_keys * arity
    labels, n_labels = refine_labels(labels, n_labels, key, n_keys)
    first = np.empty(n_labels, dtype=np.int64)
    first[labels[::-1]] = counted[::-1]
    return first, np.bincount(labels, weights=weights[counted], minlength=n_labels).astype(np.int64)


def refine_labels(
    labels: NDArray[np.int64], n_labels: int, column: NDArray[np.integer], arity: int
) -> tuple[NDArray[np.int64], int]:
    """Split every label by the states of a column; labels are numbered in order of first appearance.

    Examples
    --------
    >>> labels, n_labels = refine_labels(np.array([0, 1, 0, 1]), 2, np.array([2, 0, 2, 1]), 3)
    >>> labels.tolist(), n_labels
    ([0, 1, 0, 2], 3)
    """
    cells = labels * arity + column
    if n_labels * arity <= DENSE_FLOOR + DENSE_PER_ROW * len(cells):
        first = np.full(n_labels * arity, -1, dtype=np.int64)
        first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)
        occurs = np.flatnonzero(first >= 0)
        number = np.empty(len(first), dtype=np.int64)
        number[occurs[np.argsort(first[occurs])]] = np.arange(len(occurs))
        return number[cells], len(occurs)
    _, first, where = np.unique(cells, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[where], len(first)


@kernel
def _hash_rows(codes: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """A 64-bit mix of each row, column by column so that memory is read in order."""
    n_vars, n_rows = codes.shape
    hashes = np.full(n_rows, np.uint64(0x9E3779B97F4A7C15))
    for v in range(n_vars):
        for row in range(n_rows):
            mixed = (hashes[row] ^ np.uint64(codes[v, row])) * np.uint64(0xFF51AFD7ED558CCD)
            hashes[row] = mixed ^ (mixed >> np.uint64(32))
    return hashes


@kernel
def _merge(
    codes: NDArray[np.uint16], weights: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of each group of equal rows and the group's weight, rows of weight 0 left out.

    Open addressing on the hashes; equal hashes are compared value by value.
    """
    n_vars, n_rows = codes.shape
    size = 1
    while size < 2 * n_rows:
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, EMPTY, dtype=np.int64)
    first = np.empty(n_rows, dtype=np.int64)
    merged = np.empty(n_rows, dtype=np.int64)
    n_distinct = 0
    for row in range(n_rows):
        if weights[row] == 0:
            continue
        # probe from the row's slot until it is empty (a new distinct row) or holds an equal row
        slot = hashes[row] & mask
        while True:
            found = slots[slot]
            if found == EMPTY:
                slots[slot] = n_distinct
                first[n_distinct] = row
                merged[n_distinct] = weights[row]
                n_distinct += 1
                break
            other = first[found]
            same = hashes[other] == hashes[row]
            for v in range(n_vars):
                if not same:
                    break
                same = codes[v, other] == codes[v, row]
            if same:
                merged[found] += weights[row]
                break
            slot = (slot + np.uint64(1)) & mask
    return first[:n_distinct].copy(), merged[:n_distinct].copy()
