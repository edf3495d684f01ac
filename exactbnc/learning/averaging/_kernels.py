"""The elimination of `tree_sum` for many rows and classes at once.

The weights of a row S and a class c are beta_uv h_uv(S, c); bottlenecks are those of beta alone, so that their factors
are the same for all. Rows and classes lie side by side in lanes: the inner loops run over lanes, which the compiler
turns into vector instructions. The weights' table holds beta_uv h_uv exp(-b_uv).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint16]

_N_LANES = 32
_PRODUCT_LIMIT = 1e100


class EdgeTables(NamedTuple):
    """The scaled weight of edge uv for states i, j and class c: `weights[start[u, v] + (i r_v + j) s + c]`, u < v.

    `near[v, i]` is exp(b_vi - m_v); `carry` holds exp(b_vi + b_vj - b_ij - m_v) for v < i < j, v slowest.
    """

    arities: Ints
    start: Ints
    weights: Floats
    near: Floats
    carry: Floats


@kernel
def log_scaled_tree_sums(codes: Codes, tables: EdgeTables, found: Floats) -> None:
    """found[row, c] = sum_v log sigma_v; codes are features x rows and all known."""
    n, s = codes.shape[0], found.shape[1]
    n_all = codes.shape[1] * s
    a = np.empty((n, n, _N_LANES))
    pivot, flow, product, total = np.empty(_N_LANES), np.empty(_N_LANES), np.empty(_N_LANES), np.empty(_N_LANES)
    for first in range(0, n_all, _N_LANES):
        n_lanes = min(_N_LANES, n_all - first)
        _gather(codes, tables, first, n_lanes, s, a)
        product[:] = 1.0
        total[:] = 0.0
        place = 0
        for v in range(n - 1):
            # sigma_v = sum_i a_vi exp(b_vi - m_v); logarithms are taken of products of many of them
            pivot[:] = 0.0
            for i in range(v + 1, n):
                near = tables.near[v, i]
                for t in range(_N_LANES):
                    pivot[t] += a[v, i, t] * near
            for t in range(_N_LANES):
                product[t] *= pivot[t]
                if not 1 / _PRODUCT_LIMIT < product[t] < _PRODUCT_LIMIT:
                    total[t] += math.log(product[t])
                    product[t] = 1.0
            # eliminate v: a_ij += a_vi a_vj / sigma_v, in the scale of b_ij
            for i in range(v + 1, n):
                for t in range(_N_LANES):
                    flow[t] = a[v, i, t] / pivot[t]
                for j in range(i + 1, n):
                    carry = tables.carry[place]
                    place += 1
                    if carry > 0.0:
                        for t in range(_N_LANES):
                            a[i, j, t] += flow[t] * a[v, j, t] * carry
        for t in range(n_lanes):
            found[(first + t) // s, (first + t) % s] = total[t] + math.log(product[t])


@kernel
def _gather(codes: Codes, tables: EdgeTables, first: int, n_lanes: int, s: int, a: Floats) -> None:
    """a[u, v, t]: the scaled weight of edge uv in lane t, which is row and class `first` + t; 1 in unused lanes."""
    n = codes.shape[0]
    for u in range(n):
        for v in range(u + 1, n):
            start, r = tables.start[u, v], tables.arities[v]
            row, c = first // s, first % s
            for t in range(n_lanes):
                a[u, v, t] = tables.weights[start + (np.int64(codes[u, row]) * r + np.int64(codes[v, row])) * s + c]
                c += 1
                if c == s:
                    row, c = row + 1, 0
            for t in range(n_lanes, _N_LANES):
                a[u, v, t] = 1.0
