"""Row labels: every row carries the number of its configuration, refined variable by variable.

Labels are compact (only configurations that occur have a number), so any arity and any number of variables can be
counted in time proportional to the distinct rows. The product label x state is looked up in a plain array while that is
small, in a hash table beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.data.rows import DENSE_FLOOR, DENSE_PER_ROW, Rows, refine_labels
from scorecache.system.compiled import kernel

Labels = NDArray[np.int32]

CLEARED_PER_ROW = 8
"""To clear this many cells of a plain array takes at most as long as to look one row's up."""


def dense_size(n_distinct: int) -> int:
    """Up to this many cells a plain array is used."""
    return max(DENSE_FLOOR, DENSE_PER_ROW * n_distinct)


def hash_size(n_distinct: int) -> int:
    """A power of two of at least twice the number of distinct rows."""
    return 1 << max(4, (2 * n_distinct - 1).bit_length())


class Lookup(NamedTuple):
    """Where the number of a product label x state is looked up.

    `numbers` (-1 where there is none) serves products below its length, the hash table of `keys` (-1 where empty) with
    their numbers in `slots` the others. Every user leaves both as they were found: all -1.
    """

    numbers: Labels
    keys: NDArray[np.int64]
    slots: Labels


def new_lookup(dense_size: int, hash_size: int) -> Lookup:
    """An empty lookup."""
    return Lookup(
        np.full(dense_size, -1, np.int32), np.full(hash_size, -1, np.int64), np.empty(hash_size, np.int32)
    )  # fmt: skip


@kernel
def refine(
    labels: Labels, n_labels: int, column: NDArray[np.uint16], arity: int, refined: Labels, lookup: Lookup
) -> int:
    """Split every label by the states of a column; the new number of labels, in order of first appearance."""
    numbers, keys, slots = lookup.numbers, lookup.keys, lookup.slots
    n_rows = len(labels)
    n_refined = 0
    # few cells: number them in a plain array, which is cleared as a whole, or by a second pass over the rows
    n_cells = n_labels * arity
    if n_cells <= len(numbers):
        put_cells(labels, column, arity, refined)
        for i in range(np.uint64(n_rows)):  # unsigned indices spare numba's test for negative ones
            cell = np.uint32(refined[i])
            number = numbers[cell]
            if number < 0:
                number = n_refined
                numbers[cell] = number
                n_refined += 1
            refined[i] = number
        if n_cells <= CLEARED_PER_ROW * n_rows:
            numbers[:n_cells] = -1
            return n_refined
        for i in range(np.uint64(n_rows)):
            numbers[np.uint32(labels[i]) * np.uint32(arity) + np.uint32(column[i])] = -1
        return n_refined
    # many: number them in the hash table
    mask = len(keys) - 1
    for i in range(n_rows):
        cell = np.int64(labels[i]) * arity + column[i]
        slot = _find(keys, mask, cell)
        if keys[slot] < 0:
            keys[slot] = cell
            slots[slot] = n_refined
            n_refined += 1
        refined[i] = slots[slot]
    keys[:] = -1
    return n_refined


@kernel
def put_cells(labels: Labels, column: NDArray[np.uint16], arity: int, cells: Labels) -> None:
    """The product label x state of every row: in a loop by itself, which becomes vector instructions."""
    n_states = np.int32(arity)
    for i in range(np.uint64(len(labels))):
        cells[i] = labels[i] * n_states + np.int32(column[i])


@kernel
def _find(keys: NDArray[np.int64], mask: int, key: int) -> int:
    """The slot that holds the key, or the empty one where it belongs."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = int(mixed >> np.uint64(33)) & mask
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


def base_labels(rows: Rows, variables: Sequence[int], arities: NDArray[np.int64]) -> tuple[Labels, int]:
    """Number the configurations of some variables that occur; no variables: one label."""
    labels, n_labels = np.zeros(rows.n_distinct, dtype=np.int64), 1
    for variable in variables:
        labels, n_labels = refine_labels(labels, n_labels, rows.codes[variable], int(arities[variable]))
    return labels.astype(np.int32), n_labels
