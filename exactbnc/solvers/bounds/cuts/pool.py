"""Valid inequalities in the one form that bounds, LPs and searches share.

Every cut reads  sum over v in C of a(v, W_v) >= rho  with whole a >= 0, in every network:

- a cluster C with k: a(v, W) = 1 if fewer than k of W are in C, rho = k: the first k members of C in an order.
- a facet of the polytope of four variables C (`exactbnc.solvers.bounds.cuts.facets`): a(v, W) from its table, by W n C.

With nonnegative multipliers lambda on cuts, whatever their origin,

    reduced(v, W) = cost(v, W) - sum lambda a(v, W) - mu(v),   mu(v) = the least such value without mu
    cost of every network >= sum lambda rho + sum_v mu(v)

by weak duality; in whole numbers, so nothing is rounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.solvers.bounds.cuts.facets import coefficient_table, rho_table
from exactbnc.solvers.costs.bits import has
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import WORD, CostTable, Words
from scorecache.system.compiled import kernel, popcount, trailing_zeros

CLUSTER = -1
"""In place of the number of a facet."""


class Cuts(NamedTuple):
    """Cut q: the members `masks[q]`; `k[q]` where `facet[q]` is CLUSTER, else the facet at the four `corners[q]`."""

    masks: Words
    k: Ints
    facet: Ints
    corners: Ints

    @property
    def n_cuts(self) -> int:
        return len(self.k)

    @property
    def n_bytes(self) -> int:
        """What the arrays take."""
        return sum(array.nbytes for array in self)

    def chosen(self, which: NDArray[np.bool_] | Ints) -> Cuts:
        """Those cuts."""
        return Cuts(self.masks[which], self.k[which], self.facet[which], self.corners[which])


class Reduced(NamedTuple):
    """Reduced costs of all families, per child the least cost `mu`, and the bound on every network's cost."""

    cost: Ints
    mu: Ints
    bound: int


def no_cuts(n_words: int) -> Cuts:
    """An empty list of cuts."""
    return cluster_cuts(np.zeros((0, n_words), dtype=np.uint64), 1)


def cluster_cuts(masks: Words, k: int) -> Cuts:
    """Cluster cuts of these masks."""
    n = len(masks)
    return Cuts(masks, np.full(n, k), np.full(n, CLUSTER), np.zeros((n, 4), dtype=np.int64))


def facet_cuts(corners: Ints, facet: Ints, n_words: int) -> Cuts:
    """Facets at their four corners."""
    masks = np.zeros((len(facet), n_words), dtype=np.uint64)
    for corner in corners.T:
        masks[np.arange(len(facet)), corner // WORD] |= np.uint64(1) << (corner % WORD).astype(np.uint64)
    return Cuts(masks, np.zeros(len(facet), dtype=np.int64), facet.astype(np.int64), corners.astype(np.int64))


def masks_of(members: NDArray[np.bool_], n_words: int) -> Words:
    """Sets of variables, a row each, as masks."""
    padded = np.zeros((len(members), n_words * WORD), dtype=np.bool_)
    padded[:, : members.shape[1]] = members
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def members_of(masks: Words, n_vars: int) -> NDArray[np.bool_]:
    """The other way round."""
    bits = np.unpackbits(np.ascontiguousarray(masks).view(np.uint8), axis=1, bitorder="little")
    return np.asarray(bits[:, :n_vars], dtype=np.bool_)


def joined(*parts: Cuts) -> Cuts:
    """All cuts, one list after the other."""
    return Cuts(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def right_hand_sides(cuts: Cuts) -> Ints:
    """rho of every cut."""
    of_facets = rho_table()[:, 0].astype(np.int64)
    return np.where(cuts.facet == CLUSTER, cuts.k, of_facets[np.maximum(cuts.facet, 0)])


def coefficients(table: CostTable, cuts: Cuts, q: int) -> tuple[Ints, Ints]:
    """The families in which cut q has a > 0, and a."""
    return _coefficients(table.child_start, table.masks, cuts, q, coefficient_table())


def reduced_costs(table: CostTable, cuts: Cuts, multipliers: Ints) -> Reduced:
    """Reduced costs and the bound for multipliers in the table's unit."""
    cost = table.cost.copy()
    _subtract(table.child_start, table.masks, cuts, multipliers, coefficient_table(), cost)
    mu = np.minimum.reduceat(cost, table.child_start[:-1])
    cost -= mu[table.child]
    return Reduced(cost, mu, int(np.sum(right_hand_sides(cuts) * multipliers) + np.sum(mu)))


@kernel(inline="always")
def misses(masks: Words, f: int, cut_masks: Words, cut_k: Ints, q: int) -> int:
    """a(v, W) of a cluster for family f of a member: has it fewer than k members inside?

    With the arrays of the cuts one by one: all together they would cost ten times the work.
    """
    n_common = np.int64(0)
    for w in range(masks.shape[1]):
        n_common += np.int64(popcount(masks[f, w] & cut_masks[q, w]))
    return int(n_common < cut_k[q])


@kernel
def cut_value(masks: Words, f: int, v: int, cuts: Cuts, q: int, facets: NDArray[np.int8]) -> int:
    """a(v, W) of cut q for family f of its member v."""
    if cuts.facet[q] < 0:
        return int(misses(masks, f, cuts.masks, cuts.k, q))
    inside, own = 0, 0
    for c in range(4):
        u = cuts.corners[q, c]
        if u == v:
            own = c
        inside |= int((masks[f, u >> 6] >> np.uint64(u & 63)) & np.uint64(1)) << c
    return int(facets[cuts.facet[q], own, inside])


@kernel
def _subtract(
    child_start: Ints, masks: Words, cuts: Cuts, multipliers: Ints, facets: NDArray[np.int8], cost: Ints
) -> None:
    """Child by child: its clusters with k = 1 and 2 side by side, in loops without branches; the rest one by one."""
    n_cuts, n_words = len(multipliers), masks.shape[1]
    members = np.empty((n_words, n_cuts), dtype=np.uint64)
    price = np.empty(n_cuts, dtype=np.int64)
    met = np.empty(n_cuts, dtype=np.uint64)
    met_twice = np.empty(n_cuts, dtype=np.uint64)
    for v in range(len(child_start) - 1):
        # clusters of the child with this k: a(v, W) is 1 for families with fewer than k members in them
        for k in (1, 2):
            n = 0
            for q in range(n_cuts):
                if multipliers[q] and cuts.facet[q] < 0 and cuts.k[q] == k and has(cuts.masks, q, v):
                    members[:, n] = cuts.masks[q]
                    price[n] = multipliers[q]
                    n += 1
            if n == 0:
                continue
            for f in range(child_start[v], child_start[v + 1]):
                if k == 1:
                    _meet(masks[f], members, n, met)
                    cost[f] -= _price_of_none(met, price, n)
                else:
                    _meet_twice(masks[f], members, n, met, met_twice)
                    cost[f] -= _price_of_none(met_twice, price, n)
        # facets and clusters with a larger k
        for q in range(n_cuts):
            if multipliers[q] and (cuts.facet[q] >= 0 or cuts.k[q] > 2) and has(cuts.masks, q, v):
                for f in range(child_start[v], child_start[v + 1]):
                    cost[f] -= multipliers[q] * cut_value(masks, f, v, cuts, q, facets)


@kernel
def _meet(family: Words, members: Words, n: int, met: Words) -> None:
    """met[q] != 0: the family meets cluster q."""
    met[:n] = 0
    for w in range(len(family)):
        word = family[w]
        if word:
            for q in range(n):
                met[q] |= word & members[w, q]


@kernel
def _meet_twice(family: Words, members: Words, n: int, met: Words, met_twice: Words) -> None:
    """met_twice[q] != 0: the family has at least two members in cluster q."""
    met[:n] = 0
    met_twice[:n] = 0
    for w in range(len(family)):
        word = family[w]
        if word:
            for q in range(n):
                common = word & members[w, q]
                met_twice[q] |= (common & (common - np.uint64(1))) | (common if met[q] else np.uint64(0))
                met[q] |= common


@kernel
def _price_of_none(met: Words, price: Ints, n: int) -> int:
    total = 0
    for q in range(n):
        total += 0 if met[q] else price[q]
    return total


@kernel
def _coefficients(child_start: Ints, masks: Words, cuts: Cuts, q: int, facets: NDArray[np.int8]) -> tuple[Ints, Ints]:
    families = np.empty(len(masks), dtype=np.int64)
    values = np.empty(len(masks), dtype=np.int64)
    cut_masks, cut_k, is_cluster = cuts.masks, cuts.k, cuts.facet[q] < 0
    n_found = 0
    for w in range(masks.shape[1]):
        members = cut_masks[q, w]
        while members:
            v = 64 * w + trailing_zeros(members)
            members &= members - np.uint64(1)
            for f in range(child_start[v], child_start[v + 1]):
                value = misses(masks, f, cut_masks, cut_k, q) if is_cluster else cut_value(masks, f, v, cuts, q, facets)
                if value > 0:
                    families[n_found], values[n_found] = f, value
                    n_found += 1
    return families[:n_found].copy(), values[:n_found].copy()
