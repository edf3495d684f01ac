"""All networks weighted by the number of their orders: the order-modular prior (Koivisto and Sood 2004).

With a(U) the weight of all orders of U, and b(U) that of all ways to complete an order that began with U,

    a({}) = b(V) = 1
    a(U + j) += a(U) A_j(U)                                 for j outside U
    b(U)      = sum of A_j(U) b(U + j) over j outside U
    Z         = a(V) = b({})
    P(P are the parents of j) = w_j(P) / Z  sum of a(U) b(U + j) over the sets U that hold P and not j

because an order is a chain of prefixes, and j takes its parents from the prefix before it. Nothing is subtracted.
"""

from __future__ import annotations

import numpy as np

from exactbnc.posterior.lattice import Families, Ints, collect_block, completed, fill_block
from exactbnc.posterior.wide import ZERO, Exponents, Floats, normal, plus
from scorecache.system.compiled import kernel


@kernel
def forward(t: Families, blocks: Ints, thread: int, am: Floats, ae: Exponents) -> None:
    """a(U) of these blocks; what they add to other blocks goes to the row of this thread, and is added up there."""
    n_low = 1 << t.low_bits
    m, e = np.empty((t.n, n_low)), np.empty((t.n, n_low), dtype=np.int32)
    for h in blocks:
        fill_block(t, h, m, e)
        for i in range(n_low):
            u = (h << t.low_bits) | i
            a, exponent = completed(am, ae, u)
            if a == 0.0:
                continue
            # a(U + j) += a(U) A_j(U)
            for j in range(t.n):
                if not (u >> j) & 1:
                    w = u | (1 << j)
                    factor, steps = normal(m[j, i], int(e[j, i]))
                    value, size = plus(am[thread, w], int(ae[thread, w]), a * factor, exponent + steps)
                    am[thread, w], ae[thread, w] = normal(value, size)


@kernel
def backward(
    t: Families, blocks: Ints, am: Floats, ae: Exponents, bm: Floats, be: Exponents, sum_m: Floats, sum_e: Exponents
) -> None:
    """b(U) of these blocks, and what they add to the sum of every family."""
    n_low, everything = 1 << t.low_bits, (1 << t.n) - 1
    m, e = np.empty((t.n, n_low)), np.empty((t.n, n_low), dtype=np.int32)
    for h in blocks:
        fill_block(t, h, m, e)
        for i in range(n_low - 1, -1, -1):
            u = (h << t.low_bits) | i
            total, exponent = 0.0, int(ZERO)
            if u == everything:
                total, exponent = 1.0, 0
            for j in range(t.n):
                if (u >> j) & 1:
                    m[j, i], e[j, i] = 0.0, ZERO
                    continue
                # b(U) += A_j(U) b(U + j), and g_j(U) = a(U) b(U + j) takes the place of A_j(U)
                after, steps = bm[u | (1 << j)], int(be[u | (1 << j)])
                factor, size = normal(m[j, i], int(e[j, i]))
                total, exponent = plus(total, exponent, factor * after, size + steps)
                total, exponent = normal(total, exponent)
                g, size = normal(am[u] * after, int(ae[u]) + steps)
                m[j, i], e[j, i] = g, size
            bm[u], be[u] = total, exponent
        collect_block(t, h, m, e, sum_m, sum_e)
