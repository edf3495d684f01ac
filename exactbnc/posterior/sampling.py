"""Exact, independent draws of networks from their posterior.

Under the order prior a draw places one variable after the other: after U the next one is j with probability
A_j(U) b(U + j) / b(U), and its parents are P inside U with probability w_j(P) / A_j(U).

Under the uniform prior it places layers (Kuipers and Moffa 2015): the first layer are the variables without parents,
each later one those whose parents have been placed, one of them at least in the layer before. With S placed, U = S
without its last layer and D_j = sum of w_j(P) over P inside S and not inside U (over P = {} at first), the next layer
is L inside X = V - S with a probability proportional to

    prod of D_j over j in L  times  f(X - L),      f(Y) = sum over T inside Y of (-1)^|T| prod of A_j(S) b(V - Y + T)
                                                                                              (j in T)

where f(Y) is the weight of all ways to add Y later, no member with parents in S alone. All f(Y) come from b by
f(Y) -= A_j(S) f(Y - j), one j after the other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exactbnc.posterior.lattice import Families, Ints
from exactbnc.posterior.wide import DOWN, STEP, ZERO, Exponents, Floats, Wide, from_logs, log_of, normal, plus
from scorecache.system.compiled import kernel


class Sampler:
    """Draws parents of all variables, as lists of masks, from the families and the values of b."""

    def __init__(self, families: Families, bm: Floats, be: Exponents, seed: int) -> None:
        self.families, self.bm, self.be = families, bm, be
        self.random = np.random.default_rng(seed)
        self.masks = (families.high << families.low_bits) | families.low
        with np.errstate(divide="ignore"):
            self.logs = np.log(families.m) + families.e * STEP

    def by_order(self) -> list[int]:
        """One draw under the order prior."""
        n = self.families.n
        parents, placed = [0] * n, 0
        for _ in range(n):
            outside = [j for j in range(n) if not (placed >> j) & 1]
            weights = []
            for j in outside:
                after = placed | (1 << j)
                weights.append(_log_sum(self._inside(j, placed)) + log_of(self.bm[after], int(self.be[after])))
            j = outside[self._choice(np.array(weights))]
            parents[j] = self._parents(j, placed, None)
            placed |= 1 << j
        return parents

    def by_layers(self) -> Iterator[list[int]]:
        """Draws under the uniform prior; the weights of the first layer are computed once."""
        n = self.families.n
        first = None
        while True:
            parents, placed, before = [0] * n, 0, None
            while placed != (1 << n) - 1:
                if placed == 0:
                    first = self._layers(0, None) if first is None else first
                    sets, probabilities = first
                else:
                    sets, probabilities = self._layers(placed, before)
                layer = int(sets[np.searchsorted(probabilities, self.random.random() * probabilities[-1], "right")])
                for j in range(n):
                    if (layer >> j) & 1:
                        parents[j] = self._parents(j, placed, before)
                before, placed = placed, placed | layer
            yield parents

    def _layers(self, placed: int, before: int | None) -> tuple[Ints, Floats]:
        """All sets that the next layer can be, and their probabilities added up."""
        rest = [j for j in range(self.families.n) if not (placed >> j) & 1]
        inside = [_log_sum(self._inside(j, placed)) for j in rest]
        new = [_log_sum(self._inside(j, placed, before)) for j in rest]
        sets = np.zeros(1 << len(rest), dtype=np.int64)
        weights = np.zeros(1 << len(rest))
        a, d = from_logs(np.array(inside)), from_logs(np.array(new))
        layer_weights(np.array(rest), placed, Wide(self.bm, self.be), a, d, sets, weights)
        return sets, np.cumsum(weights)

    def _parents(self, j: int, placed: int, before: int | None) -> int:
        """Parents of j among those placed, and not all before the last layer."""
        first, last = self.families.start[j], self.families.start[j + 1]
        return int(self.masks[first:last][self._choice(self._inside(j, placed, before))])

    def _inside(self, j: int, placed: int, before: int | None = None) -> Floats:
        """The log weights of the families of j, minus infinity for those that are not inside."""
        own = slice(self.families.start[j], self.families.start[j + 1])
        masks = self.masks[own]
        fits = masks & ~placed == 0
        if before is not None:
            fits &= masks & ~before != 0
        return np.where(fits, self.logs[own], -np.inf)

    def _choice(self, logs: Floats) -> int:
        """An index, with probabilities proportional to exp(logs)."""
        sums = np.cumsum(np.exp(logs - logs.max()))
        return int(np.searchsorted(sums, self.random.random() * sums[-1], "right"))


def _log_sum(logs: Floats) -> float:
    """log of the sum of exp(logs)."""
    largest = logs.max(initial=-np.inf)
    return float(largest + np.log(np.exp(logs - largest).sum())) if np.isfinite(largest) else -np.inf


@kernel
def layer_weights(
    rest: Ints,
    placed: int,
    b: Wide,
    a: Wide,
    d: Wide,
    sets: Ints,
    weights: Floats,
) -> None:
    """The weight of every set L of `rest` as the next layer, up to a common factor.

    b(U) is `b`, A_j(S) `a` and D_j `d`, j by its place in `rest` and S the variables `placed`. Written are `sets`,
    every subset L, and `weights`, what it weighs.
    """
    bm, be, am, ae, dm, de = b.m, b.e, a.m, a.e, d.m, d.e
    r = len(rest)
    n_sets = 1 << r
    everything = placed
    for i in range(r):
        everything |= 1 << rest[i]
    # all subsets of X, by doubling
    for i in range(r):
        for k in range(1 << i):
            sets[(1 << i) + k] = sets[k] | (1 << rest[i])
    # f(Y), beginning with b once Y alone is missing
    fm, fe = np.empty(n_sets), np.empty(n_sets, dtype=np.int64)
    for k in range(n_sets):
        fm[k], fe[k] = bm[everything & ~sets[k]], be[everything & ~sets[k]]
    for i in range(r):
        half = 1 << i
        for k in range(n_sets):
            if k & half:
                value, steps = normal(am[i] * fm[k ^ half], fe[k ^ half] + ae[i])
                value, steps = plus(fm[k], fe[k], -value, steps)
                fm[k], fe[k] = normal(value, steps)
    # prod of D_j over L, by doubling, times f(X - L); rounding can leave a weight of nothing below zero
    pm, pe = np.empty(n_sets), np.empty(n_sets, dtype=np.int64)
    pm[0], pe[0] = 1.0, 0
    largest = 64 * ZERO
    for i in range(r):
        half = 1 << i
        for k in range(half):
            pm[half + k], pe[half + k] = normal(pm[k] * dm[i], pe[k] + de[i])
    weights[0] = 0.0
    for k in range(1, n_sets):
        weights[k], pe[k] = normal(pm[k] * max(fm[n_sets - 1 - k], 0.0), pe[k] + fe[n_sets - 1 - k])
        if weights[k] > 0.0:
            largest = max(largest, pe[k])
    # in doubles, with the largest exponent among them
    for k in range(1, n_sets):
        below = largest - pe[k]
        weights[k] *= 1.0 if below == 0 else (DOWN if below == 1 else 0.0)
