"""All networks weighted by the number of their orders: the order-modular prior (Koivisto and Sood 2004).

With a(U) the weight of all orders of U, and b(U) that of all ways to complete an order that began with U,

    a({}) = b(V) = 1
    a(U + j) += a(U) A_j(U)                                 for j outside U
    b(U)      = sum of A_j(U) b(U + j) over j outside U
    Z         = a(V) = b({})
    P(P are the parents of j) = w_j(P) / Z  sum of a(U) b(U + j) over the sets U that hold P and not j

because an order is a chain of prefixes, and j takes its parents from the prefix before it. Nothing is subtracted. These
are the sums of `uniform_prior` over the sets T of one variable alone, with A_j(U) X_j(U) = A_j(U) b(U + j).
"""

from __future__ import annotations

import numpy as np

from exactbnc.posterior.lattice import Families, Ints, Sets
from exactbnc.posterior.wide import Wide, normal
from scorecache.system.compiled import kernel


@kernel
def products(t: Families, u: int, i: int, own: Wide, sets: Sets, members: Ints, q: Wide) -> int:
    """A_j(U) and U + j of every j in R, from place 1 on; the arguments are those of `uniform_prior.products`."""
    qm, qe, r = q.m, q.e, 0
    for j in range(t.n):
        if (u >> j) & 1:
            continue
        factor, steps = normal(own.m[j, i], int(own.e[j, i]))
        members[r] = j
        r += 1
        qm[r], qe[r], sets[r] = factor, steps, np.uint32(u | (1 << j))
    return r
