"""The evidence for each edge: the counts of all pairs of features, log W_uv, and the stubborn transformation.

    W_uv = prod_{c,i} G(N'_u(i,c)) / G(N'_u(i,c) + N_u(i,c)) * the same for v
         * prod_{c,i,j} G(N'_uv(i,j,c) + N_uv(i,j,c)) / G(N'_uv(i,j,c))                                     (22)

with G the gamma function and the prior N'_uv(i,j,c) = lambda / (s r_u r_v), hence N'_u(i,c) = lambda / (s r_u) and
N'_C(c) = lambda / s (24). W_uv is the marginal likelihood of a tree with the edge over that of one without it, and may
be thousands of nats away from 1. The stubborn transformation draws the weights into [10^-K, 1]:

    l = log10 W,  a = K / (lmax - lmin) if lmax - lmin > K, else 1,  b = -K - a lmin,  log10 W~ = a l + b     (25-29)

Reference: Cerquides, Lopez de Mantaras (2003).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.parameters.counts import count_family
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BYTES = 2**30
"""Tables that would need more are refused before anything is counted."""

_STIRLING_FROM = 100.0


@dataclass(frozen=True, eq=False)
class PairCounts:
    """N_uv(i,j,c) of all pairs u < v of features, in one array: pair uv from `start[u, v]` on, c fastest, then j.

    `singles[u]` is N_u(i,c), features' states x classes; `of_class` is N_C(c).
    """

    arities: Ints
    start: Ints
    pairs: Floats
    singles: tuple[Floats, ...]
    of_class: Floats

    def __post_init__(self) -> None:
        for array in (self.arities, self.start, self.pairs, *self.singles, self.of_class):
            array.flags.writeable = False

    @classmethod
    def of(cls, dataset: Dataset, features: Sequence[int], class_index: int) -> PairCounts:
        """Count the rows of a data set, weighted."""
        arities = dataset.arities[list(features)]
        n, s = len(arities), int(dataset.arities[class_index])
        _check_memory(arities, s)
        start = _starts(arities, s)
        tables = [
            count_family(dataset, class_index, (features[u], features[v])).ravel()
            for u in range(n)
            for v in range(u + 1, n)
        ]
        return cls(
            arities,
            start,
            np.concatenate(tables) if tables else np.zeros(0),
            tuple(count_family(dataset, class_index, (u,)) for u in features),
            count_family(dataset, class_index, ()),
        )

    def __add__(self, other: PairCounts) -> PairCounts:
        """The counts of the rows of both; counts are whole numbers, so that the sum is exact."""
        singles = tuple(a + b for a, b in zip(self.singles, other.singles, strict=True))
        return PairCounts(self.arities, self.start, self.pairs + other.pairs, singles, self.of_class + other.of_class)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def widened(self, arities: Sequence[int]) -> PairCounts:
        """The same counts for features with further states, which come last and have not occurred."""
        wide = np.array(arities, dtype=np.int64)
        _check_memory(wide, self.n_classes)
        more = wide - self.arities
        tables = [
            np.pad(self.pair(u, v), [(0, int(more[u])), (0, int(more[v])), (0, 0)]).ravel()
            for u in range(self.n_features)
            for v in range(u + 1, self.n_features)
        ]
        singles = tuple(np.pad(table, [(0, int(more[u])), (0, 0)]) for u, table in enumerate(self.singles))
        pairs = np.concatenate(tables) if tables else np.zeros(0)
        return PairCounts(wide, _starts(wide, self.n_classes), pairs, singles, self.of_class.copy())

    @property
    def n_features(self) -> int:
        return len(self.arities)

    @property
    def n_classes(self) -> int:
        return len(self.of_class)

    def pair(self, u: int, v: int) -> Floats:
        """N_uv, states of u x states of v x classes, for u < v."""
        shape = (int(self.arities[u]), int(self.arities[v]), self.n_classes)
        return self.pairs[self.start[u, v] : self.start[u, v] + math.prod(shape)].reshape(shape)

    def smoothed(self, u: int, weight: float) -> Floats:
        """N'_u + N_u: the hyperparameters after the data (21)."""
        return self.singles[u] + weight / self.singles[u].size

    def smoothed_pair(self, u: int, v: int, weight: float) -> Floats:
        """N'_uv + N_uv, for u < v."""
        table = self.pair(u, v)
        return table + weight / table.size


def log_edge_weights(counts: PairCounts, weight: float) -> Floats:
    """log W_uv, a symmetric matrix; the diagonal, no edges, is -inf."""
    n = counts.n_features
    single = [_log_rising(table, weight) for table in counts.singles]
    found = np.full((n, n), -np.inf)
    for u in range(n):
        for v in range(u + 1, n):
            found[u, v] = found[v, u] = _log_rising(counts.pair(u, v), weight) - single[u] - single[v]
    return found


def stubborn_weights(log_weights: Floats, decades: float) -> Floats:
    """log W~_uv for K = `decades`: the logarithms shrunk, if need be, to a range of K decades and moved below 0."""
    is_edge = ~np.eye(len(log_weights), dtype=bool)
    if not is_edge.any():
        return log_weights
    log10 = log_weights / math.log(10)
    lowest, highest = log10[is_edge].min(), log10[is_edge].max()
    a = decades / (highest - lowest) if highest - lowest > decades else 1.0
    # a l + b = a (l - lmin) - K, which does not cancel when lmin is in the thousands
    shrunk: Floats = (a * (log10 - lowest) - decades) * math.log(10)
    return shrunk


def log_rising(prior: float, counts: Floats) -> Floats:
    """log G(prior + N) - log G(prior), elementwise.

    For a large prior the difference is that of two Stirling series, in which the leading terms do not cancel.
    """
    if prior < _STIRLING_FROM:
        from scipy.special import gammaln  # takes 0.2 s to import

        found: Floats = gammaln(prior + counts) - gammaln(prior)
        return found
    total = prior + counts
    main: Floats = (prior - 0.5) * np.log1p(counts / prior) + counts * (np.log(total) - 1)
    return main + (_stirling_tail(total) - _stirling_tail(np.float64(prior)))


def _stirling_tail(x: Floats | np.float64) -> Floats:
    # log G(x) - ((x - 1/2) log x - x + log(2 pi) / 2); the next term is below 1e-17 from x = 100 on
    return np.asarray((1 / 12 - (1 / 360 - 1 / (1260 * x * x)) / (x * x)) / x)


def _log_rising(counts: Floats, weight: float) -> float:
    return float(log_rising(weight / counts.size, counts).sum())


def _starts(arities: Ints, s: int) -> Ints:
    u, v = np.triu_indices(len(arities), 1)
    sizes = arities[u] * arities[v] * s
    start = np.zeros((len(arities), len(arities)), dtype=np.int64)
    start[u, v] = np.cumsum(sizes) - sizes
    return start


def _check_memory(arities: Ints, s: int) -> None:
    n = len(arities)
    n_cells = s * (int(arities.sum()) ** 2 - int((arities**2).sum())) // 2
    # counts, their list while they are gathered, the edges' table; then the factors of the elimination
    n_bytes = 8 * (3 * n_cells + n**3 // 6)
    if n_bytes > MOST_BYTES:
        raise MemoryLimitError(
            f"averaging over the trees of {n} features with up to {int(arities.max())} states and {s} classes needs "
            f"{n_bytes / 2**30:.1f} GiB of tables, more than {MOST_BYTES / 2**30:.0f} GiB; select features or merge "
            "states"
        )
