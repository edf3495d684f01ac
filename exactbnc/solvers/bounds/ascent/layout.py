"""Where things stand in the arrays of an ascent (`exactbnc.solvers.bounds.ascent._kernels`).

Sets are rows of words, signed ones, so that they share arrays with numbers: fewer arrays make cheaper calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel

Bytes = NDArray[np.uint8]

INFINITE = np.int64(1 << 62)

REDUCED, COST, MASK = 0, 1, 2
"""Columns of a row of families or entries: (reduced cost or r, cost, words of the mask ...)."""
RAISED, MEMBERS = 0, 1
"""Columns of a raise: by how much, words of the cluster ..."""
(START, END, N_BYTES, BYTE_START, SUMS_START, COLUMN_START, COLUMN_END, FULL_START, FULL_END, MU) = range(10)
"""Columns of a child that stay."""
(N_ENTRIES, N_ZEROS, NEXT, PAID, INSIDE_ROW, INSIDE_COST, N_LOG) = range(10, 17)
"""Columns of a child at a state: entries, those with r = 0 among them, the next family to look at, what the child has
paid, the cheapest family inside S (-1: none that is alive), its cost, how often the child was raised."""
N_COLUMNS = 17
EMPTY, PLACED, STUCK, CLUSTER = 0, 1, 2, 3
"""Rows of the scratch sets."""
RAISES_PER_VARIABLE = 20
"""Steps of dual ascent at one state, per variable; a cap on memory that is rarely met."""


class Sorted(NamedTuple):
    """Families that the root left, per child by ascending reduced cost, and all families by ascending cost.

    Family a of child v pays, beyond its reduced cost, the multiplier of each free cut marked in its N_BYTES bytes from
    BYTE_START + (a - START) * N_BYTES of `bits`; bit j stands for cut `column_cut[COLUMN_START + j]`. `full` are all
    families, by cost; in place of the reduced cost they hold their row in `rows`, -1 if the root removed them.
    """

    rows: Ints
    full: Ints
    bits: Bytes
    column_cut: Ints
    cuts: Ints
    rho: Ints
    children: Ints


class Workspace(NamedTuple):
    """What one thread needs to look at one state.

    `entries[START:START + N_ENTRIES]` are the families of a child looked at, those with r = 0 first.
    """

    children: Ints
    entries: Ints
    free: Ints
    sums: Ints
    raises: Ints
    log: Ints
    sets: Ints
    outside: Ints
    waiting: Ints
    stuck: Ints
    rest: Ints
    order: Ints
    hits: Ints
    needs: Ints
    closed: Ints


def make_workspace(table: Sorted) -> Workspace:
    """Room for one thread."""
    n, n_words = len(table.children), table.rows.shape[1] - MASK
    n_bytes = int(table.children[:, N_BYTES].sum())
    most_raises = RAISES_PER_VARIABLE * n
    return Workspace(
        children=table.children.copy(),
        entries=np.zeros(table.rows.shape, dtype=np.int64),
        free=np.zeros(len(table.cuts), dtype=np.int64),
        sums=np.zeros((n_bytes, 256), dtype=np.int64),
        raises=np.zeros((most_raises, MEMBERS + n_words), dtype=np.int64),
        log=np.zeros((n, most_raises), dtype=np.int32),
        sets=np.zeros((4, n_words), dtype=np.int64),
        outside=np.zeros(n + 1, dtype=np.int64),
        waiting=np.zeros(n, dtype=np.int64),
        stuck=np.zeros(n, dtype=np.int64),
        rest=np.zeros(n, dtype=np.int64),
        order=np.zeros(2 * n, dtype=np.int64),
        hits=np.zeros(n, dtype=np.int64),
        needs=np.zeros((n, n_words), dtype=np.int64),
        closed=np.zeros((2, n_words), dtype=np.int64),
    )


@kernel(inline="always")
def holds(words: Ints, row: int, v: int) -> bool:
    """Is variable v in the set of that row?"""
    return bool((words[row, v >> 6] >> (v & 63)) & 1)


@kernel(inline="always")
def put(words: Ints, row: int, v: int) -> None:
    """Add variable v to the set of that row."""
    words[row, v >> 6] |= np.int64(1) << np.int64(v & 63)
