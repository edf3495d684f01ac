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

from exactbnc.posterior.lattice import Families, Ints, collect_block, completed, fill_block
from exactbnc.posterior.wide import DOWN, LARGE, SMALL, UP, ZERO, Exponents, Floats, normal, plus
from scorecache.system.compiled import kernel


@kernel
def signed_products(
    t: Families, u: int, i: int, m: Floats, e: Exponents, sets: Ints, members: Ints, qm: Floats, qe: Ints
) -> int:
    """-Q(T) and U + T for all T inside R, by doubling: T with the next variable after all T without it; returns |R|.

    A_j(U) is read from `m[j, i]` and `e[j, i]`; -Q(T) is written to `qm` and `qe`, U + T to `sets`, R to `members`.
    """
    qm[0], qe[0], sets[0], r = 1.0, 0, u, 0
    for j in range(t.n):
        if (u >> j) & 1:
            continue
        factor, steps = normal(m[j, i], int(e[j, i]))
        half = 1 << r
        for k in range(half):
            value, size = -qm[k] * factor, qe[k] + steps
            # normal, as `wide.normal`, without a branch
            shrink, grow = abs(value) >= LARGE, abs(value) < SMALL
            qm[half + k] = value * (DOWN if shrink else (UP if grow else 1.0))
            qe[half + k] = size + (1 if shrink else (-1 if grow else 0))
            sets[half + k] = sets[k] | (1 << j)
        members[r] = j
        r += 1
    return r


@kernel
def forward(t: Families, blocks: Ints, thread: int, am: Floats, ae: Exponents) -> None:
    """a(U) of these blocks; what they add to other blocks goes to the row of this thread, and is added up there."""
    n_low = 1 << t.low_bits
    m, e = np.empty((t.n, n_low)), np.empty((t.n, n_low), dtype=np.int32)
    qm, qe = np.empty(1 << t.n), np.empty(1 << t.n, dtype=np.int64)
    sets, members = np.empty(1 << t.n, dtype=np.int64), np.empty(t.n, dtype=np.int64)
    for h in blocks:
        fill_block(t, h, m, e)
        for i in range(n_low):
            u = (h << t.low_bits) | i
            a, exponent = completed(am, ae, u)
            if a == 0.0:
                continue
            # a(U + T) += a(U) Q(T)
            r = signed_products(t, u, i, m, e, sets, members, qm, qe)
            for k in range(1, 1 << r):
                w = sets[k]
                value, size = -a * qm[k], exponent + qe[k]
                if size == ae[thread, w]:
                    am[thread, w] += value
                else:
                    value, size = plus(am[thread, w], int(ae[thread, w]), value, size)
                    am[thread, w], ae[thread, w] = value, size


@kernel
def backward(
    t: Families,
    blocks: Ints,
    am: Floats,
    ae: Exponents,
    bm: Floats,
    be: Exponents,
    sum_m: Floats,
    sum_e: Exponents,
    z: float,
    z_steps: int,
    paths: Floats,
) -> float:
    """b(U) of these blocks, what they add to the sum of every family and to the paths, and their share of kappa.

    a(U) is read from `am` and `ae`, b(U) read and written in `bm` and `be`, the sums of the families are in `sum_m` and
    `sum_e`; Z is `z` with the exponent `z_steps`.
    """
    n_low, everything = 1 << t.low_bits, (1 << t.n) - 1
    m, e = np.empty((t.n, n_low)), np.empty((t.n, n_low), dtype=np.int32)
    qm, qe = np.empty(1 << t.n), np.empty(1 << t.n, dtype=np.int64)
    sets, members = np.empty(1 << t.n, dtype=np.int64), np.empty(t.n, dtype=np.int64)
    kappa = 0.0
    for h in blocks:
        fill_block(t, h, m, e)
        for i in range(n_low - 1, -1, -1):
            u = (h << t.low_bits) | i
            if u == everything:
                bm[u], be[u] = 1.0, 0
            r = signed_products(t, u, i, m, e, sets, members, qm, qe)
            n_sets = 1 << r
            # Q(T) b(U + T), all with the largest exponent among them
            largest = 64 * ZERO
            for k in range(1, n_sets):
                qm[k] = -qm[k] * bm[sets[k]]
                qe[k] += be[sets[k]]
                if qm[k] != 0.0:
                    largest = max(largest, qe[k])
            size = 0.0
            for k in range(1, n_sets):
                below = largest - qe[k]
                qm[k] *= 1.0 if below == 0 else (DOWN if below == 1 else 0.0)
                size += abs(qm[k])
            # fold in halves: the upper half holds the sets with the last variable left
            qm[0] = 0.0
            a, exponent = am[u], int(ae[u])
            for position in range(r - 1, -1, -1):
                half = 1 << position
                with_j = 0.0
                for k in range(half):
                    with_j += qm[half + k]
                    qm[k] += qm[half + k]
                j = members[position]
                # g_j(U) = a(U) X_j(U) takes the place of A_j(U), and the network's share goes to the paths
                with_j = max(with_j, 0.0)  # rounding can leave nothing below zero
                factor, steps = normal(m[j, i], int(e[j, i]))
                share, share_steps = normal(with_j, largest)
                share, share_steps = normal(share * a, share_steps + exponent)
                if factor == 0.0 or share == 0.0:
                    m[j, i], e[j, i] = 0.0, ZERO
                    continue
                below = share_steps - z_steps
                p = share / z * (1.0 if below == 0 else (DOWN if below == -1 else (UP if below == 1 else 0.0)))
                for other in range(r):
                    paths[j, members[other]] += p
                g, steps = normal(share / factor, share_steps - steps)
                m[j, i], e[j, i] = g, steps
            for j in range(t.n):
                if (u >> j) & 1:
                    m[j, i], e[j, i] = 0.0, ZERO
            # b(U): what the folds have left in the first place, the sum over all T
            if u != everything:
                total, steps = normal(qm[0], largest)
                if total > 0.0:
                    bm[u], be[u] = total, steps
                else:
                    bm[u], be[u] = 0.0, ZERO
            # kappa += a(U) sum of |Q(T) b(U + T)| / Z
            scale, steps = normal(size, largest)
            scale, steps = normal(scale * a, steps + exponent)
            below = steps - z_steps
            kappa += scale / z * (1.0 if below == 0 else (DOWN if below == -1 else (UP if below == 1 else 0.0)))
        collect_block(t, h, m, e, sum_m, sum_e)
    return kappa
