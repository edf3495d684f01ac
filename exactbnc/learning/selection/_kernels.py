"""Counting and summing for the G^2 test: one pass over the rows, one over the cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Codes = NDArray[np.uint16]


@kernel
def g2(codes: Codes, arities: Ints, weights: Ints, x: int, y: int, given: Ints) -> tuple[float, int]:
    """G^2 of variables x and y given others, and its degrees of freedom; codes are variables x rows."""
    n_rows = codes.shape[1]
    r_x, r_y = arities[x], arities[y]
    table = np.zeros((_n_strata(arities, given), r_x, r_y), dtype=np.int64)
    for row in range(n_rows):
        stratum = 0
        for v in given:
            stratum = stratum * arities[v] + codes[v, row]
        table[stratum, codes[x, row], codes[y, row]] += weights[row]
    total = 0.0
    degrees = 0
    of_x = np.empty(r_x, dtype=np.int64)
    of_y = np.empty(r_y, dtype=np.int64)
    for stratum in range(len(table)):
        cells = table[stratum]
        n = _margins(cells, of_x, of_y)
        degrees += max(0, _n_positive(of_x) - 1) * max(0, _n_positive(of_y) - 1)
        for i in range(r_x):
            for j in range(r_y):
                if cells[i, j] > 0:
                    expected = float(of_x[i]) * float(of_y[j]) / n
                    total += cells[i, j] * math.log(cells[i, j] / expected)
    return 2.0 * total, degrees


@kernel
def _n_strata(arities: Ints, given: Ints) -> int:
    product = 1
    for v in given:
        product *= arities[v]
    return product


@kernel
def _margins(cells: Ints, of_x: Ints, of_y: Ints) -> int:
    """Fill in the sums of rows and of columns; the sum of all."""
    of_x[:] = 0
    of_y[:] = 0
    n = 0
    for i in range(len(of_x)):
        for j in range(len(of_y)):
            of_x[i] += cells[i, j]
            of_y[j] += cells[i, j]
            n += cells[i, j]
    return n


@kernel
def _n_positive(counts: Ints) -> int:
    found = 0
    for count in counts:
        if count > 0:
            found += 1
    return found
