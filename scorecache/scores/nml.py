"""Normalised maximum likelihood: fNML and qNML.

    fNML(x | W) = sum_jk N_jk log(N_jk / N_j) - sum_j log C(r, N_j)
    qNML(x | W) = LL(x | W) - log C(r q, N) + log C(q, N)

C(K, n) is the normaliser of the multinomial NML with K states and n rows (see `log_normalisers`). References: Silander,
Roos, Kontkanen, Myllymaki (2008); Silander, Leppa-aho, Jaasaari, Roos (2018); Carvalho (2009), equation 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scorecache.scores._base import CellScore, Floats, Shape, n_log_n, product

EXACT_UP_TO = 1000
"""Below this many rows C(2, n) is summed; above, the asymptotic series is exact to 3e-12."""

NEGLIGIBLE = 1e-20
"""Terms of C(2, n) >= 1 that are left out."""

RECURRENCE_UP_TO = 10_000
"""Up to this many states the recurrence over K is used; beyond it the sum over n."""


@dataclass(frozen=True)
class FNML(CellScore):
    """Factorised normalised maximum likelihood."""

    name: ClassVar[str] = "fnml"
    title: ClassVar[str] = "factorised normalised maximum likelihood"
    reference: ClassVar[str] = "Silander et al. 2008; Carvalho 2009, eq. 14"
    aliases: ClassVar[tuple[str, ...]] = ("nml",)
    likelihood_weight: ClassVar[float | None] = 1.0

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return n_log_n(n_max)

    def parent_terms(self, n_max: int, r: int) -> Floats | None:
        return -n_log_n(n_max) - log_normalisers(r, n_max)

    def bound_terms(self, n_max: int, r: int, q_max: float) -> Floats | None:
        return -log_normalisers(r, n_max)


@dataclass(frozen=True)
class QNML(CellScore):
    """Quotient normalised maximum likelihood."""

    name: ClassVar[str] = "qnml"
    has_penalty: ClassVar[bool] = True
    title: ClassVar[str] = "quotient normalised maximum likelihood"
    reference: ClassVar[str] = "Silander et al. 2018"
    score_equivalent: ClassVar[bool] = True
    likelihood_weight: ClassVar[float | None] = 1.0

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return n_log_n(n_max)

    def penalty(self, r: int, shapes: Sequence[Shape], n: int) -> Floats:
        q = np.array([product(shape) for shape in shapes])
        needed = np.unique(np.concatenate([q, r * q]))
        value = log_normalisers_of(needed, n)
        return value[np.searchsorted(needed, r * q)] - value[np.searchsorted(needed, q)]


def log_normalisers(states: int, n_max: int) -> Floats:
    """log C(K, n) for n = 0..n_max by the ratios rho_K = C(K, n) / C(K-1, n) = 1 + (n / (K-2)) / rho_(K-1)."""
    total = np.zeros(n_max + 1)
    if states == 1 or n_max == 0:
        return total
    n = np.arange(1, n_max + 1, dtype=np.float64)
    ratio = _two_states(n)
    total[1:] = np.log(ratio)
    for k in range(3, states + 1):
        ratio = 1.0 + (n / (k - 2)) / ratio
        total[1:] += np.log(ratio)
    return total


def log_normalisers_of(states: Floats, n: int) -> Floats:
    """log C(K, n) for one n and several K: the recurrence over K while it is short, otherwise

    C(K, n) = sum_{k=0..n} n^(falling k) (K-1)^(rising k) / (n^k k!)     (Mononen, Myllymaki 2008).
    """
    if n == 0:
        return np.zeros(len(states))
    longest = int(min(max(states, default=1), RECURRENCE_UP_TO))
    total = np.zeros(longest + 1)
    if longest >= 2:
        ratio = float(_two_states(np.array([float(n)]))[0])
        total[2] = ratio
        for k in range(3, longest + 1):
            ratio = 1.0 + (n / (k - 2)) / ratio
            total[k] = ratio
        total[2:] = np.cumsum(np.log(total[2:]))
    return np.array([total[int(k)] if k <= longest else _sum_over_rows(k, n) for k in states])


def _sum_over_rows(states: float, n: int) -> float:
    i = np.arange(n, dtype=np.float64)
    steps = np.log1p(-i / n) + np.log(states - 1 + i) - np.log1p(i)
    from scipy.special import logsumexp  # scipy takes 0.2 s to import, and few scores need it

    return float(logsumexp(np.concatenate([[0.0], np.cumsum(steps)])))


def _two_states(n: Floats) -> Floats:
    """C(2, n) = 1 + sum_{k >= 1} prod_{i < k} (1 - i / n) for n >= 1; its asymptotic series for large n."""
    value = np.ones(len(n))
    small = n <= EXACT_UP_TO
    rows, product_so_far, k = n[small], np.ones(int(small.sum())), 1
    while np.any(product_so_far > 0):
        value[small] += product_so_far
        product_so_far = np.maximum(product_so_far * (1 - k / rows), 0.0)
        product_so_far[product_so_far < NEGLIGIBLE] = 0.0
        k += 1
    large = n[~small]
    g = np.sqrt(np.pi / (2 * large))
    value[~small] = large * g + 2 / 3 + g / 12 - 4 / (135 * large) + g / (288 * large) + 8 / (2835 * large**2)
    return value
