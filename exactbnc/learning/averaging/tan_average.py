"""The average of all TAN networks under a decomposable prior (TBMATAN), and its structure-stubborn form (SSTBMATAN).

Every tree E over the features gives a TAN network: the class is a parent of all features, and the tree, rooted
anywhere, gives each but the root one more. With edge beliefs beta_uv = 1 and Dirichlet parameters N' (24) a priori, the
posterior is of the same kind, beta*_uv = W_uv (20, 22) and N'* = N' + N (21), and the sum over trees and the integral
over parameters are closed:

    P(S, c | D) = 1 / (Z_beta* N'*) prod_u N'*_u(s_u, c) * Z_{beta* h},                                    (17, 18)
    h_uv = N'*_uv(s_u, s_v, c) / (N'*_u(s_u, c) N'*_v(s_v, c)),                                                (19)

with Z_w the sum over all trees of the product of their weights (`tree_sum`). SSTBMATAN puts W~ (29) for W.
Reference: Cerquides, Lopez de Mantaras (2003), "Tractable Bayesian Learning of Tree Augmented Naive Bayes Models".

*Unknown values.* For one tree they sum out along the tree, but no closed form is known for the sum over trees, since
the state of an unknown feature couples all edges at it. So all completions of a row are added up; the states of a
feature that never occurred have equal counts and are visited once. A row with at most one known value needs none of
this: rooted there, every tree gives P(c) = N'*_C(c) / N'* or P(s_u, c) = N'*_u(s_u, c) / N'*.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from exactbnc.learning.averaging._kernels import EdgeTables, log_scaled_tree_sums
from exactbnc.learning.averaging.tree_sum import bottlenecks, edge_probabilities, log_excess, step_factors
from exactbnc.learning.averaging.weights import Floats, Ints, PairCounts, log_edge_weights, stubborn_weights
from exactbnc.network.codes import UNKNOWN, Codes
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.wording import listing

MOST_COMPLETIONS = 2**12
"""Ways to fill in the unknown values of a row; a row with more is refused."""

LEAST_WEIGHT, MOST_WEIGHT = 1e-12, 1e12
"""Bounds of lambda: within them h spans less than 70 decades for any data, and the kernel's bounds hold."""

_BATCH = 2**16


@dataclass(frozen=True, eq=False)
class TanAverage:
    """The posterior over all TAN networks. The features are the variables of the data but the class, in their order.

    `weight` is lambda, the equivalent sample size; `stubborn` is K, None for no transformation of the edges' weights.
    """

    class_name: str
    features: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    classes: tuple[Hashable, ...]
    counts: PairCounts
    weight: float = 10.0
    stubborn: float | None = None

    def __post_init__(self) -> None:
        if not LEAST_WEIGHT <= self.weight <= MOST_WEIGHT:
            raise ParameterError(
                f"weight must be a number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}. Got {self.weight!r} instead."
            )
        if self.stubborn is not None and not 0 < self.stubborn < math.inf:
            raise ParameterError(f"stubborn must be None or a number above 0. Got {self.stubborn!r} instead.")

    @classmethod
    def of(
        cls, dataset: Dataset, class_name: str, *, weight: float = 10.0, stubborn: float | None = None
    ) -> TanAverage:
        """Learn from a data set: TBMATAN, or with `stubborn=5` SSTBMATAN.

        Examples
        --------
        >>> data = Dataset.from_codes([[0, 1] * 8, [0, 0, 1, 1] * 4, [0, 1] * 8])
        >>> TanAverage.of(data, "2").edge_probabilities().round(6).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        features, class_index = _split(dataset, class_name)
        return cls(
            class_name,
            tuple(dataset.names[u] for u in features),
            tuple(dataset.states[u] for u in features),
            dataset.states[class_index],
            PairCounts.of(dataset, features, class_index),
            weight,
            stubborn,
        )

    def updated(self, dataset: Dataset) -> TanAverage:
        """Learn further rows; the result is that of learning all rows at once.

        States of a feature that were not there before come after those that were.
        """
        features, class_index = _split(dataset, self.class_name)
        if tuple(dataset.names[u] for u in features) != self.features:
            raise ParameterError(
                f"further rows must have the features {listing(map(repr, self.features))}, in this order. "
                f"Got {listing(repr(dataset.names[u]) for u in features)} instead."
            )
        listed_states = tuple(dataset.states[u] for u in features)
        for name, known, listed in zip(
            (*self.features, self.class_name),
            (*self.states, self.classes),
            (*listed_states, dataset.states[class_index]),
            strict=True,
        ):
            if listed[: len(known)] != known or (name == self.class_name and listed != known):
                raise ParameterError(
                    f"further rows must declare the same states of {name!r}, {listing(map(repr, known))}, and new ones "
                    f"of a feature after them. Got {listing(map(repr, listed))} instead."
                )
        counts = self.counts if listed_states == self.states else self.counts.widened(list(map(len, listed_states)))
        return replace(self, states=listed_states, counts=counts + PairCounts.of(dataset, features, class_index))

    def log_joint(self, codes: Codes) -> Floats:
        """log P(the known features of a row, c | data), rows x classes; `codes` are features x rows."""
        self._check(codes)
        is_unknown = codes == UNKNOWN
        n_known = (~is_unknown).sum(axis=0)
        found = np.empty((codes.shape[1], len(self.classes)))
        complete = np.flatnonzero((n_known == len(codes)) & (n_known > 1))
        found[complete] = self._log_joint_complete(np.ascontiguousarray(codes[:, complete]))
        for row in np.flatnonzero(n_known <= 1):
            found[row] = self._log_joint_of_one(codes[:, row])
        self._add_completions(codes, np.flatnonzero((n_known < len(codes)) & (n_known > 1)), found)
        return found

    def log_posterior(self, codes: Codes) -> Floats:
        """log P(c | the known features of a row, data), rows x classes."""
        from scipy.special import logsumexp  # takes 0.2 s to import

        joint = self.log_joint(codes)
        joint -= logsumexp(joint, axis=1, keepdims=True)
        return joint

    def edge_probabilities(self) -> Floats:
        """P(uv in the tree | data), features x features, symmetric; the upper half adds up to n - 1."""
        return edge_probabilities(self.log_beta)

    @cached_property
    def log_beta(self) -> Floats:
        """log beta*_uv: the log weights of the edges after the data, -inf on the diagonal."""
        plain = log_edge_weights(self.counts, self.weight)
        return plain if self.stubborn is None else stubborn_weights(plain, self.stubborn)

    @cached_property
    def _log_singles(self) -> tuple[Floats, ...]:
        return tuple(np.log(self.counts.smoothed(u, self.weight)) for u in range(len(self.features)))

    @cached_property
    def _log_total(self) -> float:
        """log N'*."""
        return math.log(float(self.counts.of_class.sum()) + self.weight)

    @cached_property
    def _tables(self) -> tuple[EdgeTables, float]:
        """The kernel's tables, and the log of what it leaves out: the scale of h for n - 1 edges, and Z_beta*.

        The weight of the heaviest tree is factored out of both tree sums: it is large, and would cost digits.
        """
        n, counts = len(self.features), self.counts
        bottleneck = bottlenecks(self.log_beta)
        log_h, scale = np.empty(counts.pairs.size), np.empty(counts.pairs.size)
        for u in range(n):
            for v in range(u + 1, n):
                table = np.log(counts.smoothed_pair(u, v, self.weight))
                table -= self._log_singles[u][:, None, :] + self._log_singles[v][None, :, :]
                place = slice(counts.start[u, v], counts.start[u, v] + table.size)
                log_h[place] = table.ravel()
                scale[place] = min(self.log_beta[u, v] - bottleneck[u, v], 0)
        middle = (log_h.max() + log_h.min()) / 2
        negligible = _negligible(n, log_h.max() - log_h.min())
        scale[scale < negligible] = -np.inf
        factors = [step_factors(bottleneck, v) for v in range(n - 1)]
        near = np.zeros((n, n))
        near[np.triu_indices(n, 1)] = np.concatenate([own for own, _ in factors])
        carry = np.concatenate([between[np.triu_indices(len(between), 1)] for _, between in factors])
        for array in (near, carry):
            array[array < math.exp(negligible)] = 0
        # copies, since numba compiles once more for arrays that are read-only
        tables = EdgeTables(counts.arities.copy(), counts.start.copy(), np.exp(log_h - middle + scale), near, carry)
        return tables, float((n - 1) * middle - log_excess(self.log_beta))

    def _log_joint_complete(self, codes: Codes) -> Floats:
        """Equations 17-19 for at least two features, all known."""
        found = np.empty((codes.shape[1], len(self.classes)))
        if len(found):
            tables, log_factor = self._tables
            log_scaled_tree_sums(codes, tables, found)
            found += log_factor - self._log_total
            for u, table in enumerate(self._log_singles):
                found += table[codes[u]]
        return found

    def _log_joint_of_one(self, values: Codes) -> Floats:
        """P(c), or P(s_u, c) where u alone is known."""
        for u in np.flatnonzero(values != UNKNOWN):
            alone: Floats = self._log_singles[u][values[u]] - self._log_total
            return alone
        return np.log(self.counts.of_class + self.weight / len(self.classes)) - self._log_total

    def _add_completions(self, codes: Codes, rows: Ints, found: Floats) -> None:
        """Add up the completions of the rows with unknown values, a batch at a time."""
        from scipy.special import logsumexp

        for batch in self._batches(codes, rows):
            completed = [self._completions(codes[:, row]) for row in batch]
            joint = self._log_joint_complete(np.concatenate([filled for filled, _ in completed], axis=1))
            joint += np.concatenate([log_times for _, log_times in completed])[:, None]
            first = 0
            for row, (filled, _) in zip(batch, completed, strict=True):
                found[row] = logsumexp(joint[first : first + filled.shape[1]], axis=0)
                first += filled.shape[1]

    def _batches(self, codes: Codes, rows: Ints) -> Iterator[list[int]]:
        n_distinct = np.array([len(listed) for listed, _ in self._distinct_states])
        batch: list[int] = []
        n_completions = 0
        for row in rows:
            unknown = np.flatnonzero(codes[:, row] == UNKNOWN)
            n_ways = math.prod(map(int, n_distinct[unknown]))
            if n_ways > MOST_COMPLETIONS:
                raise ParameterError(
                    f"row {row} has unknown values of {listing(repr(self.features[u]) for u in unknown)}, which can be "
                    f"filled in in {n_ways:,} ways, more than {MOST_COMPLETIONS:,}; impute some of them, or make "
                    "'missing' a state of its own"
                )
            if n_completions + n_ways > _BATCH:
                yield batch
                batch, n_completions = [], 0
            batch.append(int(row))
            n_completions += n_ways
        if batch:
            yield batch

    @cached_property
    def _distinct_states(self) -> tuple[tuple[Codes, Floats], ...]:
        """Per feature, representative states, and the log of how many each represents."""
        found = []
        for table in self.counts.singles:
            is_seen = table.any(axis=1)
            listed = [*np.flatnonzero(is_seen), *np.flatnonzero(~is_seen)[:1]]
            log_times = np.zeros(len(listed))
            if not is_seen.all():
                log_times[-1] = math.log(np.count_nonzero(~is_seen))
            found.append((np.array(listed, dtype=np.uint16), log_times))
        return tuple(found)

    def _completions(self, values: Codes) -> tuple[Codes, Floats]:
        """All completions of the row, features x completions, and the log of how many each represents."""
        unknown = np.flatnonzero(values == UNKNOWN)
        ways = np.array(list(product(*(self._distinct_states[u][0] for u in unknown))), dtype=np.uint16)
        times = list(product(*(self._distinct_states[u][1] for u in unknown)))
        filled = np.repeat(values[:, None], len(ways), axis=1)
        filled[unknown] = ways.T
        return filled, np.array(times).sum(axis=1)

    def _check(self, codes: Codes) -> None:
        if codes.dtype != np.uint16 or codes.ndim != 2 or len(codes) != len(self.features):
            raise ParameterError(
                f"codes must be uint16, {len(self.features)} features x rows. Got {codes.dtype} {codes.shape} instead."
            )
        for name, arity, row in zip(self.features, self.counts.arities, codes, strict=True):
            is_wrong = (row >= arity) & (row != UNKNOWN)
            if is_wrong.any():
                raise ParameterError(
                    f"codes of {name!r} must be from 0 to {arity - 1}, or {UNKNOWN} for unknown. "
                    f"Got {row[is_wrong][0]} instead."
                )


def _negligible(n: int, log_range: float) -> float:
    """The log of a factor that may be taken for 0 in the kernel.

    With h in [l, h] around 1 the bounds of `tree_sum` become a_ij <= n^2 h / 4, sigma_v >= l / n, r_ij <= n / l.
    Leaving out an edge, a term of a pivot or an update with a factor f changes Z by a share of f n^6 (h/l)^2 at most,
    and there are fewer than n^3 of them: f = 1e-20 / (n^9 (h/l)^2) keeps the sum far below the rounding.
    """
    return -(20 * math.log(10) + 9 * math.log(n) + 2 * log_range)


def _split(dataset: Dataset, class_name: str) -> tuple[list[int], int]:
    if class_name not in dataset.index:
        raise ParameterError(
            f"the class {class_name!r} is not a column; columns are {listing(map(repr, dataset.names))}"
        )
    class_index = dataset.index[class_name]
    return [u for u in range(dataset.n_vars) if u != class_index], class_index
