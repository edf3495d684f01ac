"""The subset lattice of a few variables in whole arrays, one layer after the other; no compiler is needed.

With b[v, S] the best score of v over families inside S - v, and minus infinity for sets without v,

    best[S] = max over v in S of  best[S - v] + b[v, S]

so a layer, the sets of one size, follows from the layer before it. The kernels of `_kernels` compute the same numbers,
bit for bit, for many variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_VARIABLES = 15
"""15 x 2^15 numbers take about 30 ms; beyond, loading the kernels pays."""


def n_numbers(n: int) -> int:
    """How many numbers `best_of_sets` holds at one time for n variables."""
    return (4 * n + 2) << n


def best_of_sets(needs: Sequence[tuple[Ints, Floats]]) -> Floats:
    """best[S] for every set S of the variables; `needs[v]` are the masks and the scores of the families of v."""
    n = len(needs)
    sets = np.arange(1 << n)
    bits = 1 << np.arange(n)[:, None]
    inside = np.full((n, 1 << n), -np.inf)
    for v, (masks, scores) in enumerate(needs):
        np.maximum.at(inside[v], masks, scores)
    subset_max(inside)
    own = sets ^ bits  # S - v where v is in S
    inside = np.where(sets & bits, np.take_along_axis(inside, own, axis=1), -np.inf)
    best = np.full(1 << n, -np.inf)
    best[0] = 0.0
    size = np.bitwise_count(sets)
    for level in range(1, n + 1):
        layer = np.flatnonzero(size == level)
        best[layer] = np.max(best[own[:, layer]] + inside[:, layer], axis=0)
    return best


def subset_max(values: NDArray[Any]) -> None:
    """values[..., S] becomes the maximum of values[..., W] over all W inside S."""
    for width in 1 << np.arange(values.shape[-1].bit_length() - 1):
        runs = values.reshape(-1, 2, width)
        np.maximum(runs[:, 1], runs[:, 0], out=runs[:, 1])
