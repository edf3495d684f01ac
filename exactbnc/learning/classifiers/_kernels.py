"""From numbers to codes: a table of whole numbers, rows x columns, to codes, columns x rows; a column to intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN as UNKNOWN_CODE
from scorecache.system.compiled import kernel

UNKNOWN = np.uint16(UNKNOWN_CODE)
BLOCK = 256
"""Rows at a time: they are read once, and every column's codes are written side by side."""


@kernel
def encode_numbers(
    values: NDArray[np.generic],
    low: NDArray[np.int64],
    start: NDArray[np.int64],
    lookup: NDArray[np.uint16],
    of_missing: NDArray[np.uint16],
    codes: NDArray[np.uint16],
) -> None:
    """codes[column, row] for numbers whose states are whole: lookup[start[column] + value - low[column]].

    A number that is not a state is unknown; NaN gets the code `of_missing` of its column.
    """
    n_rows, n_columns = values.shape
    for begin in range(0, n_rows, BLOCK):
        end = min(begin + BLOCK, n_rows)
        for column in range(n_columns):
            first, span = low[column], start[column + 1] - start[column]
            for row in range(begin, end):
                value = values[row, column]
                if value != value:
                    codes[column, row] = of_missing[column]
                    continue
                code = UNKNOWN
                if first <= value < first + span:
                    whole = np.int64(value)  # compared before anything is subtracted, which would round
                    if whole == value:
                        code = lookup[start[column] + whole - first]
                codes[column, row] = code


@kernel
def find_bins(numbers: NDArray[np.float64], cuts: NDArray[np.float64], bins: NDArray[np.int64]) -> None:
    """How many cut points are below every number, -1 for NaN."""
    n_cuts = len(cuts)
    for row in range(len(numbers)):
        value = numbers[row]
        if value != value:
            bins[row] = -1
            continue
        low, high = 0, n_cuts
        while low < high:
            middle = (low + high) // 2
            if cuts[middle] < value:
                low = middle + 1
            else:
                high = middle
        bins[row] = low
