"""Distinct rows with their multiplicities: what every counting kernel reads.

Tables repeat rows; counting each distinct one once, with its weight, is work proportional to what the data hold. Ten
million rows with a hundred thousand distinct configurations are a hundred thousand weighted rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scorecache.data.dataset import Dataset

EMPTY = -1


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
    if dataset.weights is None:
        return Rows(dataset.codes, np.ones(dataset.n_rows, dtype=np.int64))
    counts = dataset.weights > 0
    if counts.all():
        return Rows(dataset.codes, np.ascontiguousarray(dataset.weights))
    return Rows(np.ascontiguousarray(dataset.codes[:, counts]), dataset.weights[counts])


def distinct_rows(dataset: Dataset) -> Rows:
    """Merge equal rows, in order of first appearance; rows of weight zero vanish."""
    rows = all_rows(dataset)
    first, merged = merge_rows(rows.codes, rows.weights)
    if len(first) == rows.n_distinct:
        return rows
    return Rows(np.ascontiguousarray(rows.codes[:, first]), merged)


def merge_rows(codes: NDArray[np.uint16], weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each distinct row of positive weight occurs first, and its total weight."""
    codes, weights = codes.view(), weights.view()
    codes.flags.writeable = weights.flags.writeable = False
    return _merge(codes, weights, _hash_rows(codes))


@njit(cache=True, nogil=True)
def _hash_rows(codes: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """A 64-bit mix of each row, column by column so that memory is read in order."""
    n_vars, n_rows = codes.shape
    hashes = np.full(n_rows, np.uint64(0x9E3779B97F4A7C15))
    for v in range(n_vars):
        for row in range(n_rows):
            mixed = (hashes[row] ^ np.uint64(codes[v, row])) * np.uint64(0xFF51AFD7ED558CCD)
            hashes[row] = mixed ^ (mixed >> np.uint64(32))
    return hashes


@njit(cache=True, nogil=True)
def _merge(
    codes: NDArray[np.uint16], weights: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Open addressing on the hashes; equal hashes are compared value by value."""
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
