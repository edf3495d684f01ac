"""The sums of the weights of families over all sets of variables, a block of sets at a time.

    A_j(U) = sum of w_j(P) over the families P of j inside U,      U without j
    G_j(P) = sum of g_j(U) over the sets U that hold P

A set U is a pair (h, i): h its high variables, the number of the block, and i its low ones, the place in it. A block of
A_j is made by adding up the families whose high part is inside h, and then over the low variables one by one; so no
table of n 2^n numbers is ever held. Blocks whose h have the same size do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.posterior.wide import ZERO, Exponents, Floats, from_logs, normal, plus
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Sets = NDArray[np.uint32]
"""Sets of variables as masks; unsigned, so that they index an array as they are."""

LOW_BITS = 10
"""Blocks of 1,024 sets: the sums of all children for one block fit in the second level of the cache."""


class Families(NamedTuple):
    """The families of all children with their weights; those of child j are start[j] to start[j + 1].

    `high` and `low` are the two parts of a family's set of parents, `m` and `e` its weight. A_j(U) also counts
    `counts[j, |U & allowed[j]|]` families of weight one where U holds `required[j]`, if there are `counts`.
    """

    n: int
    low_bits: int
    start: Ints
    high: Ints
    low: Ints
    m: Floats
    e: Exponents
    counts: Floats
    allowed: Ints
    required: Ints


def families_of(cache: ScoreCache) -> tuple[Families, Floats]:
    """The families of a cache with w_j(P) = exp(score - the child's best score), and the best scores."""
    n = cache.n_vars
    children = np.repeat(np.arange(n), np.diff(cache.child_start))
    best = cache.scores[cache.child_start[:-1]]
    below = best[children]
    difference = cache.scores - below
    virtual = cache.scores - difference  # what rounding took from the difference (Knuth's two-sum)
    m, e = from_logs(difference, (cache.scores - (difference + virtual)) + (virtual - below))
    masks = np.zeros(cache.n_families, dtype=np.int64)
    np.bitwise_or.at(masks, np.repeat(np.arange(cache.n_families), cache.sizes), 1 << cache.parents.astype(np.int64))
    low_bits = min(n, LOW_BITS)
    low = masks & ((1 << low_bits) - 1)
    none = np.zeros(n, dtype=np.int64)
    families = Families(
        n, low_bits, cache.child_start, masks >> low_bits, low, m, e, np.zeros((0, 0)), none, none
    )  # fmt: skip
    return families, best


def allowed_families(domain: Domain) -> Families:
    """Every family of a domain with the weight one, by their number and not one by one, but those of TAN."""
    n = domain.n_vars
    if domain.structure == "tan":
        return families_of(ScoreCache.from_families(domain.names, _listed(domain)))[0]
    counts = np.zeros((n, n + 1))
    for j, (required, limit) in enumerate(zip(domain.required, domain.limits, strict=True)):
        for size in range(n + 1):
            counts[j, size] = sum(comb(size, free) for free in range(min(size, limit - len(required)) + 1))
    masks = [np.array([sum(1 << v for v in one) for one in sets]) for sets in (domain.allowed, domain.required)]
    nothing = np.zeros(0, dtype=np.int64)
    return Families(
        n, min(n, LOW_BITS), np.zeros(n + 1, dtype=np.int64), nothing, nothing, np.zeros(0),
        np.zeros(0, dtype=np.int32), counts, masks[0], masks[1],
    )  # fmt: skip


def _listed(domain: Domain) -> list[list[tuple[float, tuple[int, ...]]]]:
    """The families of a domain in which a child has at most one parent of its choice, all of the score 0."""
    listed = []
    for required, allowed, limit in zip(domain.required, domain.allowed, domain.limits, strict=True):
        free = [(v,) for v in allowed] if limit > len(required) else []
        listed.append([(0.0, tuple(sorted((*required, *own)))) for own in ((), *free)])
    return listed


def layers(families: Families) -> Iterator[Ints]:
    """The numbers of the blocks, those with fewer high variables first."""
    blocks = np.arange(1 << (families.n - families.low_bits))
    sizes = np.bitwise_count(blocks)
    for size in range(families.n - families.low_bits + 1):
        yield blocks[sizes == size]


@kernel
def fill_block(t: Families, h: int, m: Floats, e: Exponents) -> None:
    """A_j(h, i) for all i and for all children j that are not among the high variables of the block."""
    for j in range(t.n):
        if j < t.low_bits or not (h >> (j - t.low_bits)) & 1:
            _fill(t, j, h, m[j], e[j])


@kernel
def collect_block(t: Families, h: int, m: Floats, e: Exponents, sum_m: Floats, sum_e: Exponents) -> None:
    """Add g_j(h, i) to the sums of the families of the same children; g is overwritten."""
    for j in range(t.n):
        if j < t.low_bits or not (h >> (j - t.low_bits)) & 1:
            _collect(t, j, h, m[j], e[j], sum_m, sum_e)


@kernel
def _fill(t: Families, j: int, h: int, m: Floats, e: Exponents) -> None:
    """A_j(h, i) for all i; the places of sets with j are left undefined."""
    n_low = 1 << t.low_bits
    for i in range(n_low):
        m[i] = 0.0
        e[i] = ZERO
    # the families whose high part is inside h, at their low part
    for f in range(t.start[j], t.start[j + 1]):
        if t.high[f] & ~h == 0:
            i = t.low[f]
            m[i], e[i] = plus(m[i], e[i], t.m[f], t.e[f])
    # sums over subsets of i, one low variable after the other
    for bit in range(t.low_bits):
        if bit == j:
            continue
        width = 1 << bit
        for base in range(0, n_low, 2 * width):
            for i in range(base, base + width):
                if e[i] == e[i + width]:
                    m[i + width] += m[i]
                else:
                    m[i + width], e[i + width] = plus(m[i + width], e[i + width], m[i], e[i])
    # families that are counted and not listed, by the number of allowed variables in U
    if len(t.counts) > 0:
        for i in range(n_low):
            u = (h << t.low_bits) | i
            if t.required[j] & ~u == 0:
                inside, size = u & t.allowed[j], 0
                while inside != 0:
                    inside &= inside - 1
                    size += 1
                m[i], e[i] = plus(m[i], e[i], t.counts[j, size], 0)


@kernel
def _collect(t: Families, j: int, h: int, m: Floats, e: Exponents, sum_m: Floats, sum_e: Exponents) -> None:
    """Add g_j(U) of a block to the sums G_j(P) of all families P inside U; g is overwritten."""
    n_low = 1 << t.low_bits
    # sums over supersets of i, one low variable after the other
    for bit in range(t.low_bits):
        if bit == j:
            continue
        width = 1 << bit
        for base in range(0, n_low, 2 * width):
            for i in range(base, base + width):
                if e[i] == e[i + width]:
                    m[i] += m[i + width]
                else:
                    m[i], e[i] = plus(m[i], e[i], m[i + width], e[i + width])
    # each family takes the sum at its low part, if its high part is inside h
    for f in range(t.start[j], t.start[j + 1]):
        if t.high[f] & ~h == 0:
            i = t.low[f]
            sum_m[f], sum_e[f] = plus(sum_m[f], sum_e[f], m[i], e[i])


@kernel
def completed(am: Floats, ae: Exponents, u: int) -> tuple[float, int]:
    """a(U) once nothing is added to it any more: the shares of all threads, which row 0 holds from now on."""
    a, exponent = am[0, u], int(ae[0, u])
    for thread in range(1, am.shape[0]):
        a, exponent = plus(a, exponent, am[thread, u], int(ae[thread, u]))
        am[thread, u], ae[thread, u] = 0.0, ZERO
    a, exponent = normal(a, exponent)
    am[0, u], ae[0, u] = a, exponent
    return a, exponent
