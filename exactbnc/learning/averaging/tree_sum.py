"""The sum over all spanning trees, Z = sum_T prod_{uv in T} w_uv, to full accuracy however far apart the weights are.

By the matrix tree theorem Z is the determinant of the Laplacian without its last row and column, hence the product of
the pivots of Gaussian elimination. Eliminating v turns the Laplacian of a graph into that of a graph on the other
vertices, with

    pivot s_v = sum_i w_vi,        w_ij := w_ij + w_vi w_vj / s_v,

where s_v is summed afresh from the weights, never carried along (Grassmann, Taksar, Heyman 1985). Only positive numbers
are added, multiplied and divided: nothing cancels, so the relative error is about n^3 eps for every dynamic range. No
pivoting and no arbitrary precision is needed; the determinant is ill-conditioned only as a function of the diagonal.

*Range.* Weights are positive but may be thousands of nats apart. Let b_ij be the log of the bottleneck of i and j: the
smallest weight on their path in a heaviest spanning tree, b_ij >= min(b_iv, b_vj). The elimination runs on
a_ij = w_ij exp(-b_ij); with m_v = max_i b_vi over the vertices that are left it reads

    sigma_v = sum_i a_vi exp(b_vi - m_v),        a_ij := a_ij + a_vi a_vj / sigma_v * exp(b_vi + b_vj - b_ij - m_v),

    log Z = sum_v m_v + log sigma_v.

No exponent is above 0. i and j are joined by a path of weights of exp(b_ij) or more and are parted by a cut of at most
n^2/4 edges of weights of exp(b_ij) or less; elimination keeps the effective conductance between them, and w_ij is at
most that. So a_ij <= n^2/4 and sigma_v >= 1/(n-1), in plain doubles. What underflows is an amount x lost from some
a_ij; it changes Z by the factor 1 - x r_ij at most, where the effective resistance exp(-b_ij) r_ij is below that of the
path, r_ij <= n - 1.

*Edges.* P(uv in T) = d log Z / d log w_uv = w_uv R_uv with the effective resistance R. Differentiating one step of the
elimination, with p_j = w_vj / s_v,

    R_vi = 1/s_v + sum_j p_j R_ij - sum_{j<k} p_j p_k R_jk,

and the sum taken away is at most (n-1)/s_v (Foster: sum w_jk R_jk = n-1, and w_jk >= s_v p_j p_k after the step) while
R_vi >= 1/s_v: at most n-fold amplification of the rounding, again for every range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_excess(log_weights: Floats) -> float:
    """sum_v log sigma_v: log Z less the log weight of the heaviest tree, sum_v m_v; from 0 to (n-2) log n.

    `log_weights` is symmetric and finite; its diagonal is not read. One vertex has one tree, the empty one. It is
    accurate to a few eps of the differences of the log weights, where log Z has the eps of a large number.
    """
    return math.fsum(math.log(step.pivot) for step in _eliminate(log_weights))


def edge_probabilities(log_weights: Floats) -> Floats:
    """P(uv in T) when trees are drawn with probabilities proportional to their weights; 0 on the diagonal."""
    steps = _eliminate(log_weights)
    resistance = np.zeros_like(log_weights)
    for v, step in reversed(list(enumerate(steps))):
        pulled = step.carry * resistance[v + 1 :, v + 1 :]
        through = pulled @ step.flow
        found = step.near * (1 / step.pivot - step.flow @ through / 2) + through
        resistance[v, v + 1 :] = resistance[v + 1 :, v] = found
    return _scaled(log_weights, bottlenecks(log_weights)) * resistance


def bottlenecks(log_weights: Floats) -> Floats:
    """b_ij: the smallest weight on the way from i to j in a heaviest spanning tree (Prim's); infinite for i = j."""
    n = len(log_weights)
    found = np.full((n, n), np.inf)
    reached = np.zeros(n, dtype=bool)
    link, heaviest = np.zeros(n, dtype=np.int64), np.full(n, -np.inf)
    vertex = 0
    for _ in range(n - 1):
        reached[vertex] = True
        is_heavier = log_weights[vertex] > heaviest
        link[is_heavier], heaviest[is_heavier] = vertex, log_weights[vertex, is_heavier]
        vertex = int(np.argmax(np.where(reached, -np.inf, heaviest)))
        found[vertex, reached] = np.minimum(found[link[vertex], reached], heaviest[vertex])
        found[reached, vertex] = found[vertex, reached]
    return found


def step_factors(bottleneck: Floats, v: int) -> tuple[Floats, Floats]:
    """exp(b_vi - m_v) and exp(b_vi + b_vj - b_ij - m_v), 0 for i = j, over the vertices after v."""
    own = bottleneck[v, v + 1 :]
    most = float(own.max())
    near = np.exp(own - most)
    # never above 0 but for rounding, which would be thousands of eps where the b are thousands
    exponent = np.minimum((own[:, None] - bottleneck[v + 1 :, v + 1 :]) + (own - most), 0)
    return near, np.exp(exponent)


@dataclass(frozen=True, eq=False)
class _Step:
    """The elimination of a vertex: sigma_v, a_vi / sigma_v, and its factors."""

    pivot: float
    flow: Floats
    near: Floats
    carry: Floats


def _eliminate(log_weights: Floats) -> list[_Step]:
    bottleneck = bottlenecks(log_weights)
    weights = _scaled(log_weights, bottleneck)
    steps = []
    for v in range(len(weights) - 1):
        near, carry = step_factors(bottleneck, v)
        row = weights[v, v + 1 :]
        pivot = float(row @ near)
        steps.append(_Step(pivot, row / pivot, near, carry))
        weights[v + 1 :, v + 1 :] += np.outer(row, row / pivot) * carry
    return steps


def _scaled(log_weights: Floats, bottleneck: Floats) -> Floats:
    scaled = np.exp(np.minimum(log_weights - bottleneck, 0))
    np.fill_diagonal(scaled, 0)
    return scaled
