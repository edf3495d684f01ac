"""One pass over the rows: the loss of the log-linear model, and what each cell adds to its gradient."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel


@kernel
def add_loss(
    tables: NDArray[np.float64],
    cells: NDArray[np.int32],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    offset: NDArray[np.float64],
    slope: float,
    gradient: NDArray[np.float64],
) -> tuple[float, float]:
    """-sum_i w_i log P(y_i | x_i), and its derivative by the slope.

    log P(. | x_i) = slope offset_i + sum_f tables[cells_if] - log Z. The gradient by the tables is added to `gradient`.
    An empty offset counts as 0.
    """
    n_rows, n_families = cells.shape
    n_classes = tables.shape[1]
    has_offset = len(offset) > 0
    scores = np.empty(n_classes)
    loss, by_slope = 0.0, 0.0
    for row in range(n_rows):
        w = weights[row]
        if w == 0.0:
            continue
        # the log-linear scores, slope offset_i + sum_f tables[cells_if]
        for c in range(n_classes):
            scores[c] = slope * offset[row, c] if has_offset else 0.0
        for f in range(n_families):
            cell = cells[row, f]
            for c in range(n_classes):
                scores[c] += tables[cell, c]
        # log P(y_i | x_i), by the largest score so that no exponential overflows
        largest = scores[0]
        for c in range(1, n_classes):
            largest = max(largest, scores[c])
        y = actual[row]
        of_actual = scores[y] - largest
        total = 0.0
        for c in range(n_classes):
            scores[c] = exp(scores[c] - largest)
            total += scores[c]
        loss += w * (log(total) - of_actual)
        for c in range(n_classes):  # the residuals w (P(c | x) - [c = y])
            scores[c] *= w / total
        scores[y] -= w
        # the derivatives by the slope and by every cell of the row
        if has_offset:
            for c in range(n_classes):
                by_slope += scores[c] * offset[row, c]
        for f in range(n_families):
            cell = cells[row, f]
            for c in range(n_classes):
                gradient[cell, c] += scores[c]
    return loss, by_slope
