"""The two passes over all sets U: forward for a(U), backward for b(U), the families, the paths and kappa.

Both priors make the same sums, over all sets T that may follow U (`uniform_prior`) or over those of one variable
(`order_prior`); the notation is theirs.
"""

from __future__ import annotations

import numpy as np

from exactbnc.posterior import order_prior, uniform_prior
from exactbnc.posterior.lattice import Families, Ints, collect_block, completed, fill_block
from exactbnc.posterior.wide import DOWN, UP, ZERO, Floats, Wide, normal, plus
from scorecache.system.compiled import kernel

all_products, single_products = uniform_prior.products, order_prior.products


@kernel
def forward(t: Families, is_uniform: bool, blocks: Ints, thread: int, a_of: Wide) -> None:
    """a(U) of these blocks; what they add to other blocks goes to the row of this thread, and is added up there."""
    am, ae = a_of.m, a_of.e
    n_low, room = 1 << t.low_bits, 1 << t.n if is_uniform else t.n + 1
    m, e = np.empty((t.n, n_low)), np.empty((t.n, n_low), dtype=np.int32)
    qm, qe = np.empty(room), np.empty(room, dtype=np.int32)
    own, q = Wide(m, e), Wide(qm, qe)
    sets, members = np.empty(room, dtype=np.uint32), np.empty(t.n, dtype=np.int64)
    for h in blocks:
        fill_block(t, h, m, e)
        for i in range(n_low):
            u = (h << t.low_bits) | i
            a, exponent = completed(am, ae, u)
            if a == 0.0:
                continue
            if is_uniform:
                n_sets = 1 << all_products(t, u, i, own, sets, members, q)
            else:
                n_sets = 1 + single_products(t, u, i, own, sets, members, q)
            # a(U + T) += a(U) Q(T)
            for k in range(1, n_sets):
                w = sets[k]
                value, size = a * qm[k], exponent + qe[k]
                if size == ae[thread, w]:
                    am[thread, w] += value
                else:
                    value, size = plus(am[thread, w], int(ae[thread, w]), value, size)
                    am[thread, w], ae[thread, w] = value, size


@kernel
def backward(
    t: Families,
    is_uniform: bool,
    blocks: Ints,
    sets_of: Wide,
    sums: Wide,
    z_of: tuple[float, int],
    paths: Floats,
) -> float:
    """b(U) of these blocks, what they add to the sum of every family and to the paths, and their share of kappa.

    b(U) takes the place of a(U) in `sets_of`: a(U) is read for U alone, b(U + T) for sets that come before U. The sums
    of the families are in `sums`; Z is a number and its exponent. Paths have a meaning under the uniform prior only.
    """
    bm, be = sets_of.m, sets_of.e
    z, z_steps = z_of
    n_low, everything, room = 1 << t.low_bits, (1 << t.n) - 1, 1 << t.n if is_uniform else t.n + 1
    m, e = np.empty((t.n, n_low)), np.empty((t.n, n_low), dtype=np.int32)
    qm, qe = np.empty(room), np.empty(room, dtype=np.int32)
    own, q = Wide(m, e), Wide(qm, qe)
    sets, members = np.empty(room, dtype=np.uint32), np.empty(t.n, dtype=np.int64)
    kappa, none = 0.0, 32 * ZERO
    for h in blocks:
        fill_block(t, h, m, e)
        for i in range(n_low - 1, -1, -1):
            u = (h << t.low_bits) | i
            a, exponent = bm[u], int(be[u])
            if u == everything:
                bm[u], be[u] = 1.0, 0
            if is_uniform:
                r = all_products(t, u, i, own, sets, members, q)
                n_sets = 1 << r
            else:
                r = single_products(t, u, i, own, sets, members, q)
                n_sets = 1 + r
            # Q(T) b(U + T), all with the largest exponent among them
            largest = none
            for k in range(1, n_sets):
                w = sets[k]
                qm[k] = qm[k] * bm[w]
                qe[k] += be[w]
                largest = max(largest, int(qe[k]) if qm[k] != 0.0 else none)
            qm[0] = 0.0
            for k in range(1, n_sets):
                below = largest - qe[k]
                qm[k] *= 1.0 if below == 0 else (DOWN if below == 1 else 0.0)
            size = added(qm, 0, n_sets, True)
            if not is_uniform:
                qm[0] = size
            for position in range(r - 1, -1, -1):
                # A_j(U) X_j(U); all T are folded in halves, the upper of which holds those with the last variable left
                if is_uniform:
                    half = 1 << position
                    with_j = added(qm, half, 2 * half, False)
                    for k in range(half):
                        qm[k] += qm[half + k]
                else:
                    with_j = qm[1 + position]
                j = members[position]
                # g_j(U) = a(U) X_j(U) takes the place of A_j(U), and the network's share goes to the paths
                with_j = max(with_j, 0.0)  # rounding can leave nothing below zero
                factor, steps = normal(m[j, i], int(e[j, i]))
                share, share_steps = normal(with_j, largest)
                share, share_steps = normal(share * a, share_steps + exponent)
                if factor == 0.0 or share == 0.0:
                    m[j, i], e[j, i] = 0.0, ZERO
                    continue
                if is_uniform:
                    below = share_steps - z_steps
                    p = share / z * (1.0 if below == 0 else (DOWN if below == -1 else (UP if below == 1 else 0.0)))
                    for other in range(r):
                        paths[j, members[other]] += p
                g, steps = normal(share / factor, share_steps - steps)
                m[j, i], e[j, i] = g, steps
            for j in range(t.n):
                if (u >> j) & 1:
                    m[j, i], e[j, i] = 0.0, ZERO
            # b(U), the sum over all T, is in the first place
            if u != everything:
                b, steps = normal(qm[0], largest)
                if b > 0.0:
                    bm[u], be[u] = b, steps
                else:
                    bm[u], be[u] = 0.0, ZERO
            # kappa += a(U) sum of |Q(T) b(U + T)| / Z
            scale, steps = normal(size, largest)
            scale, steps = normal(scale * a, steps + exponent)
            below = steps - z_steps
            kappa += scale / z * (1.0 if below == 0 else (DOWN if below == -1 else (UP if below == 1 else 0.0)))
        collect_block(t, h, m, e, sums.m, sums.e)
    return kappa


@kernel
def added(values: Floats, first: int, last: int, are_sizes: bool) -> float:
    """The sum of these values, or of their sizes, in four parts that do not wait for each other."""
    a, b, c, d, k = 0.0, 0.0, 0.0, 0.0, first
    while k + 4 <= last:
        v, w, x, y = values[k], values[k + 1], values[k + 2], values[k + 3]
        a += abs(v) if are_sizes else v
        b += abs(w) if are_sizes else w
        c += abs(x) if are_sizes else x
        d += abs(y) if are_sizes else y
        k += 4
    while k < last:
        a += abs(values[k]) if are_sizes else values[k]
        k += 1
    return (a + b) + (c + d)
