"""Log-determinants of all principal minors of a size, depth first over Schur complements.

With M the matrix and M/P its Schur complement after the elimination of the variables P,

    log det M_(P + x) = log det M_P + log (M/P)_xx,     (M/(P + v))_ab = (M/P)_ab - (M/P)_av (M/P)_bv / (M/P)_vv

Variables are eliminated from the largest down, so that rows P + {x}, x below P, in colex order share what they have
eliminated; the smallest variable of P needs the diagonal alone. A set costs about one logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from scorecache.counting.subsets import advance
from scorecache.counting.types import Floats, Ints
from scorecache.system.compiled import kernel

SMALLEST_PIVOT = 1e-4
"""Of a matrix with a unit diagonal: a pivot below it has lost more than four digits and is worked out another way."""


@kernel
def log_minors(row: Ints, n_rows: int, matrix: Floats, shift: Floats, out: Floats) -> None:
    """log det M_S + sum_{v in S} shift_v of the sets S = P + {x}, the first P in `row`; NaN where a pivot is small."""
    n, n_row = len(matrix), len(row)
    left = np.empty((max(n_row, 1), n, n), np.float64)  # left[i]: M/P, P the i largest variables of the row
    total = np.zeros(n_row + 1, np.float64)  # total[i]: their log-determinant and shifts
    for a in range(n):
        for b in range(a + 1):
            left[0, a, b] = matrix[a, b]
    changed = n_row - 1
    at = 0
    for rank in range(n_rows):
        if rank > 0:
            changed = advance(row, n_row)
        # eliminate the variables that changed, largest first: log det M_P and M/P without the smallest of the row
        for position in range(changed, 0, -1):
            i, v = n_row - 1 - position, row[position]
            pivot = left[i, v, v]
            if pivot < SMALLEST_PIVOT or total[i] != total[i]:
                total[i + 1] = np.nan
                continue
            total[i + 1] = total[i] + math.log(pivot) + shift[v]
            for a in range(v):
                factor = left[i, v, a] / pivot
                for b in range(a + 1):
                    left[i + 1, a, b] = left[i, a, b] - factor * left[i, v, b]
        if n_row == 0:
            for x in range(n):
                pivot = left[0, x, x]
                out[at] = math.log(pivot) + shift[x] if pivot >= SMALLEST_PIVOT else np.nan
                at += 1
            continue
        # the smallest variable of the row: the diagonal below it is all that is needed
        i, v = n_row - 1, row[0]
        last = left[i, v, v]
        known = total[i]
        known = np.nan if last < SMALLEST_PIVOT else known + math.log(last) + shift[v]
        inverse = 1.0 / last if last >= SMALLEST_PIVOT else 0.0
        for x in range(v):
            pivot = left[i, x, x] - left[i, v, x] * left[i, v, x] * inverse
            out[at] = known + math.log(pivot) + shift[x] if pivot >= SMALLEST_PIVOT else np.nan
            at += 1
