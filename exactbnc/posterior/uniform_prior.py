"""All networks weighted alike: the uniform prior (Tian and He 2009, with all arcs in 3^n steps).

With a(U) the weight of the networks on U, b(U) that of all ways to add the other variables R = V - U to a network on U,
and Q(T) = (-1)^(|T| + 1) prod of A_j(U) over j in T,

    a({}) = b(V) = 1
    a(U + T) += a(U) Q(T)                                   for T inside R, not empty
    b(U)      = sum of Q(T) b(U + T) over these T
    Z         = a(V) = b({})
    A_j(U) X_j(U) = sum of Q(T) b(U + T) over the T with j

(inclusion and exclusion over the sinks of U + T, and over the sources of R; j and T vary, U is fixed). a(U) A_j(U)
X_j(U) is the weight of the networks in which U are exactly the variables that do not descend from j, so that

    P(P are the parents of j)  = w_j(P) / Z  sum of a(U) X_j(U) over the sets U that hold P and not j
    P(a path from j to i)      = 1 / Z       sum of a(U) A_j(U) X_j(U) over the sets U without i and j

Terms cancel, but each is at most b(U) in size, so the relative error of Z is about n eps kappa, with
kappa = sum of a(U) |Q(T) b(U + T)| / Z over all U and T; the backward pass adds it up.
"""

from __future__ import annotations

import numpy as np

from exactbnc.posterior.lattice import Families, Ints, Sets
from exactbnc.posterior.wide import DOWN, LARGE, SMALL, UP, Wide, normal
from scorecache.system.compiled import kernel


@kernel(inline="always")
def products(t: Families, u: int, i: int, own: Wide, sets: Sets, members: Ints, q: Wide) -> int:
    """Q(T) and U + T for all T inside R, by doubling: T with the next variable after all T without it; returns |R|.

    A_j(U) is read from place [j, i] of `own`; Q(T) is written to `q`, U + T to `sets`, R to `members`.
    """
    qm, qe = q.m, q.e
    qm[0], qe[0], sets[0], r = -1.0, 0, np.uint32(u), 0
    for j in range(t.n):
        if (u >> j) & 1:
            continue
        factor, exponent = normal(own.m[j, i], int(own.e[j, i]))
        half, bit, steps = 1 << r, np.uint32(1 << j), np.int32(exponent)
        for k in range(half):
            value, size = -qm[k] * factor, qe[k] + steps
            # normal, as `wide.normal`, without a branch
            shrink, grow = abs(value) >= LARGE, abs(value) < SMALL
            qm[half + k] = value * (DOWN if shrink else (UP if grow else 1.0))
            qe[half + k] = size + np.int32(shrink) - np.int32(grow)
            sets[half + k] = sets[k] | bit
        members[r] = j
        r += 1
    return r
