"""Adding up the logarithms of a row's table entries, for all states of the target at once.

Tables are flat, the target's states fastest: the entry of a family for target state t is `flat[base + s * cell + t]`
with `cell = sum_i stride_i * code_i` over the members of the family other than the target.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN as UNKNOWN_CODE
from scorecache.system.compiled import kernel

UNKNOWN = np.uint16(UNKNOWN_CODE)
BLOCK = 256
"""Rows at a time: their cell numbers and sums stay in the first-level cache."""


@kernel
def add_complete(
    codes: NDArray[np.uint16],
    start: NDArray[np.int64],
    members: NDArray[np.int64],
    strides: NDArray[np.int64],
    base: NDArray[np.int64],
    flat: NDArray[np.float64],
    s: int,
    sums: NDArray[np.float64],
) -> None:
    """sums[row, t] += the entries of all families, for rows without an unknown value."""
    n_rows = codes.shape[1]
    cells = np.empty(BLOCK, dtype=np.int64)
    for low in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - low)
        for f in range(len(base)):
            cells[:size] = base[f]  # cell = base + s sum_i stride_i code_i; the strides are in entries of `flat`
            for i in range(start[f], start[f + 1]):
                stride, column = strides[i], codes[members[i]]
                for row in range(size):
                    cells[row] += stride * column[low + row]
            if s == 2:  # the common case, without an inner loop
                for row in range(size):
                    sums[low + row, 0] += flat[cells[row]]
                    sums[low + row, 1] += flat[cells[row] + 1]
            else:
                for row in range(size):
                    for t in range(s):
                        sums[low + row, t] += flat[cells[row] + t]


@kernel
def add_known(
    codes: NDArray[np.uint16],
    start: NDArray[np.int64],
    members: NDArray[np.int64],
    strides: NDArray[np.int64],
    base: NDArray[np.int64],
    flat: NDArray[np.float64],
    s: int,
    sums: NDArray[np.float64],
) -> None:
    """As `add_complete`, but families with an unknown member are skipped."""
    for row in range(codes.shape[1]):
        for f in range(len(base)):
            cell = base[f]
            is_known = True
            for i in range(start[f], start[f + 1]):
                code = codes[members[i], row]
                if code == UNKNOWN:
                    is_known = False
                    break
                cell += strides[i] * code
            if is_known:
                for t in range(s):
                    sums[row, t] += flat[cell + t]


@kernel
def normalise_logs(sums: NDArray[np.float64]) -> int:
    """Take log sum exp off every row, in place; rows of -inf alone stay as they are, and their number is returned."""
    s, n_impossible = sums.shape[1], 0
    for row in range(len(sums)):
        largest = sums[row, 0]  # subtracted before the exponentials, so that none overflows
        for t in range(1, s):
            largest = max(largest, sums[row, t])
        if largest == -inf:
            n_impossible += 1
            continue
        total = 0.0
        for t in range(s):
            total += exp(sums[row, t] - largest)
        shift = largest + log(total)
        for t in range(s):
            sums[row, t] -= shift
    return n_impossible
