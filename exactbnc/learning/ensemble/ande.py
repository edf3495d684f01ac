"""Averaged n-dependence estimators (AnDE): the mean of all models in which n features are parents of all others.

    P(c, x) ~ sum over S, |S| = o, N(s) > 0, of
        (N(c,s) + 1/(C R_S)) / (n + 1)  *  prod over k not in S of (N(c,s,x_k) + 1/r_k) / (N(c,s) + 1)

s are the row's values of the features S, R_S the number of their configurations that occur, o = 1 (A1DE, or AODE) or 2
(A2DE). A row for which no S is left is answered by the next lower order, down to naive Bayes. Unknown values are left
out: S runs over known features, and so does k. Leaving a training row out takes its weight off the counts it is in;
S with N(s) = 0 after that are skipped, so that the result is that of counting again without the row.
Reference: Webb, Boughton, Zheng, Ting, Salem (2012), "Learning by extrapolation from marginal to full-multivariate
probability distributions".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.ensemble import _kernels
from exactbnc.network.codes import UNKNOWN, Codes
from scorecache.errors import MemoryLimitError
from scorecache.system.compiled import for_work

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CELLS = 2**27
"""Numbers in the largest table (1 GiB); more are refused."""


@dataclass(frozen=True, eq=False)
class AnDE:
    """The counts of an estimator, and its answers.

    `tables[k]` has N(c, x) of all subsets of k + 1 features up to order + 1, in lexicographic order, the class fastest;
    `of_class` is N(c).
    """

    order: int
    arities: Ints
    of_class: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, codes: Codes, actual: Ints, weights: Floats, arities: Ints, n_classes: int, *, order: int = 1) -> AnDE:
        """Count rows; codes are features x rows, all known.

        Examples
        --------
        >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint16)
        >>> xor = AnDE.of(codes, np.array([0, 1, 1, 0]), np.ones(4), np.array([2, 2]), 2)
        >>> xor.log_posterior(codes).argmax(axis=1).tolist()
        [0, 1, 1, 0]
        """
        empty = cls.empty(arities, n_classes, order=order)
        return empty.updated(codes, actual, weights)

    @classmethod
    def empty(cls, arities: Ints, n_classes: int, *, order: int = 1) -> AnDE:
        """The estimator that has seen no row."""
        check_cells(arities, n_classes, order)
        tables = tuple(np.zeros(int(starts_of(arities, n_classes, size)[-1])) for size in range(1, order + 2))
        return cls(order, np.asarray(arities, dtype=np.int64), np.zeros(n_classes), tables)

    def updated(self, codes: Codes, actual: Ints, weights: Floats) -> AnDE:
        """The estimator that has seen these rows, too."""
        n_classes = len(self.of_class)
        tables = [table.copy() for table in self.tables]
        for v, (own, first) in enumerate(zip(codes, self._starts(1), strict=False)):
            cells = own.astype(np.int64) * n_classes + actual
            found = np.bincount(cells, weights, minlength=int(self.arities[v]) * n_classes)
            tables[0][first : first + len(found)] += found
        counters = (_kernels.count_pairs, _kernels.count_triples)
        for size, count in zip(range(2, self.order + 2), counters, strict=False):
            work = math.comb(len(codes), size) * codes.shape[1]
            arguments = (codes, actual, weights, self.arities, self._starts(size), n_classes)
            for_work(count, 2 * work)(*arguments, tables[size - 1])
        of_class = self.of_class + np.bincount(actual, weights, minlength=n_classes)
        return AnDE(self.order, self.arities, of_class, tuple(tables))

    def grown(self, arities: Ints) -> AnDE:
        """The same counts where features have further states."""
        n_classes = len(self.of_class)
        wider = AnDE.empty(arities, n_classes, order=self.order)
        for size, (own, larger) in enumerate(zip(self.tables, wider.tables, strict=True), start=1):
            subsets = combinations(range(len(arities)), size)
            for subset, a, b in zip(subsets, self._starts(size), wider._starts(size), strict=False):
                shape = [*(int(self.arities[v]) for v in subset), n_classes]
                target = [*(int(arities[v]) for v in subset), n_classes]
                block = larger[b : b + math.prod(target)].reshape(target)
                block[tuple(slice(length) for length in shape)] = own[a : a + math.prod(shape)].reshape(shape)
        return AnDE(self.order, wider.arities, self.of_class, wider.tables)

    def log_posterior(self, codes: Codes) -> Floats:
        """log P(c | x), rows x classes."""
        return self._normalised(codes, np.empty(0, dtype=np.int64), np.empty(0))

    def leave_one_out(self, codes: Codes, actual: Ints, left_out: Floats) -> Floats:
        """The same for rows that were counted, each without as much of its weight as `left_out` says."""
        return self._normalised(codes, actual, left_out)

    def _normalised(self, codes: Codes, actual: Ints, left_out: Floats) -> Floats:
        scores = np.empty((codes.shape[1], len(self.of_class)))
        missing = np.arange(codes.shape[1])
        for order in range(self.order, -1, -1):
            rows = np.ascontiguousarray(codes[:, missing]) if len(missing) < codes.shape[1] else codes
            own = actual[missing] if len(actual) else actual
            less = left_out[missing] if len(actual) else left_out
            found = self._scores(rows, own, less, order)
            scores[missing] = found
            missing = missing[np.isneginf(found[:, 0])] if order else missing[:0]
            if not len(missing):
                break
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def _scores(self, codes: Codes, actual: Ints, left_out: Floats, order: int) -> Floats:
        """log P(c, x) but a constant; -inf where no S is left."""
        if order == 0:
            return self._naive_bayes(codes, actual, left_out)
        scores = np.full((codes.shape[1], len(self.of_class)), -np.inf)
        if len(codes) < order:
            return scores
        kernel: Any = (_kernels.a1de_scores, _kernels.a2de_scores)[order - 1]
        work = math.comb(len(codes), order + 1) * scores.size * (order + 1)
        observed, logs = self._of_parents[order - 1]
        parents = (self.tables[order - 1], self._starts(order), observed, logs)
        whole = (self.tables[order], self._starts(order + 1), self._logs[order - 1])
        arguments = (codes, self.arities, *parents, *whole)
        for_work(kernel, 2 * work)(*arguments, actual, left_out, scores)
        return scores

    def _naive_bayes(self, codes: Codes, actual: Ints, left_out: Floats) -> Floats:
        n_classes = len(self.of_class)
        rows = np.arange(codes.shape[1])
        above = np.broadcast_to(self.of_class, (codes.shape[1], n_classes)).copy()
        if len(actual):
            above[rows, actual] -= left_out
        scores: Floats = np.log(above + 1 / n_classes)
        for v, first in zip(range(len(codes)), self._starts(1), strict=False):
            known = np.flatnonzero(codes[v] != UNKNOWN)
            table = self.tables[0][first : first + int(self.arities[v]) * n_classes].reshape(-1, n_classes)
            counts = table[codes[v, known]]
            if len(actual):
                counts[np.arange(len(known)), actual[known]] -= left_out[known]
            scores[known] += np.log((counts + 1 / self.arities[v]) / (above[known] + 1))
        return scores

    def _starts(self, size: int) -> Ints:
        return starts_of(self.arities, len(self.of_class), size)

    def _observed(self, size: int) -> Floats:
        """R_S of all subsets of that size."""
        occurs = self.tables[size - 1].reshape(-1, len(self.of_class)).sum(axis=1) > 0
        starts = self._starts(size) // len(self.of_class)
        totals = np.concatenate([[0], np.cumsum(occurs)])
        observed: Floats = np.maximum(totals[starts[1:]] - totals[starts[:-1]], 1).astype(np.float64)
        return observed

    @cached_property
    def _of_parents(self) -> list[tuple[Floats, Floats]]:
        """By order o, R_S of all S, and log(N + 1/(C R_S)) beside log(N + 1) of their counts."""
        found = []
        for size in range(1, self.order + 1):
            table, observed = self.tables[size - 1], self._observed(size)
            smallest = np.repeat(1 / (len(self.of_class) * observed), np.diff(self._starts(size)))
            found.append((observed, np.column_stack([np.log(table + smallest), np.log(table + 1)]).ravel()))
        return found

    @cached_property
    def _logs(self) -> list[Floats]:
        """By order o, log(N + 1/r) of the tables of o + 1 features, for each feature that is not in S."""
        found = []
        for size in range(2, self.order + 2):
            table, starts = self.tables[size - 1], self._starts(size)
            logs = np.empty((len(table), size))
            for subset, first, end in zip(
                combinations(range(len(self.arities)), size), starts[:-1], starts[1:], strict=True
            ):
                for position, v in enumerate(reversed(subset)):
                    logs[first:end, position] = np.log(table[first:end] + 1 / self.arities[v])
            found.append(logs.ravel())
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"order": self.order, "arities": self.arities, "of_class": self.of_class, "tables": self.tables}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def starts_of(arities: Ints, n_classes: int, size: int) -> Ints:
    """Where the tables of all subsets of that size begin, and the end of the last one."""
    r = np.asarray(arities, dtype=np.int64)
    if size == 1:
        cells = r
    elif size == 2:
        a, b = np.triu_indices(len(r), 1)
        cells = r[a] * r[b]
    else:
        triples = np.array(list(combinations(range(len(r)), 3)), dtype=np.int64).reshape(-1, 3)
        cells = r[triples].prod(axis=1)
    return np.concatenate([[0], np.cumsum(cells * n_classes)]).astype(np.int64)


def n_cells(arities: Ints, n_classes: int, order: int) -> int:
    """The logarithms of an estimator of this order: (o + 1) C times the sum of r_a r_b ... over all o + 1 features."""
    sums = [1] + [0] * (order + 1)
    for r in map(int, arities):
        for size in range(order + 1, 0, -1):
            sums[size] += r * sums[size - 1]
    return (order + 1) * n_classes * sums[order + 1]


def check_cells(arities: Ints, n_classes: int, order: int) -> None:
    """Refuse tables that are too large."""
    needed = n_cells(arities, n_classes, order)
    if needed > MOST_CELLS:
        raise MemoryLimitError(
            f"an A{order}DE of {len(arities)} features would need {needed:,} numbers, more than {MOST_CELLS:,}; "
            "use a lower order, fewer intervals or fewer features"
        )
