"""Compiled passes over the rows: maximum-likelihood tables of a family, and the conditional log-likelihood.

A *unit* is what remains of a cell once the class is taken out: the configuration of the other parents and the child's
value for a feature, the configuration of the parents for the class itself. Only units that occur have a number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Codes = NDArray[np.uint16]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def log_thetas(codes: Codes, weights: Floats, arities: Ints, others: Ints, child: int, target: int) -> Any:
    """The unit of every row, and log theta of the units x classes; `others` are the parents without the class.

    theta = N_jk / N_j, and 1/r where j never occurs (with that class).
    """
    n_rows, s, r = codes.shape[1], arities[target], arities[child]
    # j, the configuration of the parents without the class, of every row
    configurations = np.zeros(n_rows, np.int64)
    n_configurations = 1
    for v in others:
        n_configurations = _refine(configurations, n_configurations, codes[v], arities[v], configurations)
    actual = codes[target]
    # the class itself: N_jc / N_j, j is the unit
    if child == target:
        theta = np.zeros((n_configurations, s))
        for row in range(n_rows):
            theta[configurations[row], actual[row]] += weights[row]
        for j in range(n_configurations):
            total = theta[j].sum()
            for c in range(s):
                theta[j, c] = _log(theta[j, c] / total)
        return configurations, theta
    # a feature: N_jkc of the units (j, k), over N_jc
    units = np.empty(n_rows, np.int64)
    n_units = _refine(configurations, n_configurations, codes[child], r, units)
    theta = np.zeros((n_units, s))
    totals = np.zeros((n_configurations, s))
    configuration_of = np.empty(n_units, np.int64)
    for row in range(n_rows):
        theta[units[row], actual[row]] += weights[row]
        totals[configurations[row], actual[row]] += weights[row]
        configuration_of[units[row]] = configurations[row]
    for u in range(n_units):
        for c in range(s):
            total = totals[configuration_of[u], c]
            theta[u, c] = _log(theta[u, c] / total) if total > 0 else -math.log(r)
    return units, theta


@kernel
def cll_with(rest: Floats, units: Ints, log_theta: Floats, actual: Codes, weights: Floats) -> float:
    """sum over the rows of w log P(y | x), the class scores being those of `rest` plus the family's own.

    The row's own class has a positive probability wherever the tables come from these rows, so no sum is empty.
    """
    n_rows, s = rest.shape
    scores = np.empty(s)
    cll = 0.0
    for row in range(n_rows):
        u = units[row]
        largest = -math.inf
        for c in range(s):
            scores[c] = rest[row, c] + log_theta[u, c]
            largest = max(largest, scores[c])
        total = 0.0
        for c in range(s):
            total += 1.0 if scores[c] == largest else math.exp(scores[c] - largest)
        cll += weights[row] * (scores[actual[row]] - largest - math.log(total))
    return cll


@kernel
def _refine(labels: Ints, n_labels: int, column: Codes, arity: int, refined: Ints) -> int:
    """Number the pairs of label and value in order of appearance; `refined` may be `labels` itself."""
    number = np.full(n_labels * arity, -1, np.int64)
    n_found = 0
    for row in range(len(labels)):
        pair = labels[row] * arity + column[row]
        if number[pair] < 0:
            number[pair] = n_found
            n_found += 1
        refined[row] = number[pair]
    return n_found


@kernel
def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf
