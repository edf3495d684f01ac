"""Scores of classes, known up to a constant per row, to the logarithms of probabilities."""

from __future__ import annotations

import numpy as np

from exactbnc.network._kernels import normalise_logs
from exactbnc.network.codes import Floats
from scorecache.system.compiled import is_loaded

FEW_SCORES = 2**17
"""Up to this many, numpy is quicker than loading numba."""


def normalise(scores: Floats) -> int:
    """Take log sum exp off every row, in place; rows of -inf alone stay as they are, and their number is returned.

    Examples
    --------
    >>> scores = np.log([[1.0, 3.0], [0.2, 0.2]]) - 2000
    >>> normalise(scores), np.exp(scores).round(12).tolist()
    (0, [[0.25, 0.75], [0.5, 0.5]])
    """
    if is_loaded(normalise_logs) or scores.size > FEW_SCORES:
        return normalise_logs(scores)
    largest = scores.max(axis=1, keepdims=True)
    is_impossible = np.isneginf(largest)
    largest[is_impossible] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        scores -= largest + np.log(np.exp(scores - largest).sum(axis=1, keepdims=True))
    scores[is_impossible[:, 0]] = -np.inf  # -inf less -inf is no number
    return int(np.count_nonzero(is_impossible))
