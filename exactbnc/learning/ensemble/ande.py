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

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.ensemble import _kernels
from exactbnc.network.codes import Codes
from exactbnc.network.normalisation import normalise
from scorecache.errors import MemoryLimitError
from scorecache.system.compiled import for_work

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CELLS = 2**27
"""Numbers in the largest table (1 GiB); more are refused."""


@dataclass(frozen=True, eq=False)
class AnDE:
    """The counts of an estimator, and its answers.

    `tables[k]` has N(c, x) of all subsets of k features, up to order + 1, as `_kernels` lays them out.
    """

    order: int
    arities: Ints
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
        r = np.asarray(arities, dtype=np.int64)
        return cls(order, r, tuple(np.zeros(starts_of(r, n_classes, size)[-1]) for size in range(order + 2)))

    @property
    def of_class(self) -> Floats:
        """N(c)."""
        return self.tables[0]

    def updated(self, codes: Codes, actual: Ints, weights: Floats) -> AnDE:
        """The estimator that has seen these rows, too."""
        n_classes = len(self.of_class)
        tables = [table.copy() for table in self.tables]
        for size, table in enumerate(tables):
            subsets = subsets_of(len(codes), size)
            arguments = (codes, actual, weights, self.arities, subsets, starts_of(self.arities, n_classes, size))
            for_work(_kernels.count_subsets, 2 * len(subsets) * codes.shape[1])(*arguments, table)
        return AnDE(self.order, self.arities, tuple(tables))

    def grown(self, arities: Ints) -> AnDE:
        """The same counts where features have further states."""
        n_classes = len(self.of_class)
        wider = AnDE.empty(arities, n_classes, order=self.order)
        for size, (own, larger) in enumerate(zip(self.tables, wider.tables, strict=True)):
            starts = (starts_of(r, n_classes, size) for r in (self.arities, wider.arities))
            for subset, a, b in zip(subsets_of(len(arities), size), *starts, strict=False):
                shape, target = (n_classes, *self.arities[subset]), (n_classes, *wider.arities[subset])
                block = larger[b : b + math.prod(target)].reshape(target)
                block[tuple(map(slice, shape))] = own[a : a + math.prod(shape)].reshape(shape)
        return wider

    def log_posterior(self, codes: Codes) -> Floats:
        """log P(c | x), rows x classes."""
        return self._normalised(codes, np.empty(0, dtype=np.int64), np.empty(0))

    def leave_one_out(self, codes: Codes, actual: Ints, left_out: Floats) -> Floats:
        """The same for rows that were counted, each without as much of its weight as `left_out` says."""
        return self._normalised(codes, actual, left_out)

    def _normalised(self, codes: Codes, actual: Ints, left_out: Floats) -> Floats:
        scores = self._scores(codes, actual, left_out, self.order)
        for order in range(self.order - 1, -1, -1):
            missing = np.flatnonzero(np.isneginf(scores[:, 0]))
            if not len(missing):
                break
            own = (actual[missing], left_out[missing]) if len(actual) else (actual, left_out)
            scores[missing] = self._scores(np.ascontiguousarray(codes[:, missing]), *own, order)
        normalise(scores)
        return scores

    def _scores(self, codes: Codes, actual: Ints, left_out: Floats, order: int) -> Floats:
        """log P(c, x) but a constant; -inf where no S is left."""
        scores = np.empty((codes.shape[1], len(self.of_class)))
        tables = self._subsets[order]
        work = len(tables.features) * max(len(codes) - order, 1) * scores.size
        for_work(_kernels.estimator_scores, 3 * work)(codes, tables, actual, left_out, scores)
        return scores

    @cached_property
    def _subsets(self) -> list[_kernels.Subsets]:
        """By order, what the kernel reads."""
        d, n_classes, r = len(self.arities), len(self.of_class), self.arities
        starts = [starts_of(r, n_classes, size) for size in range(self.order + 2)]
        choose = np.array([[math.comb(v, size) for size in range(self.order + 2)] for v in range(d)], dtype=np.int64)
        # a factor is between 1/(r (N + 1)) and 1, and doubles reach down to 1e-308
        most = int(600 / math.log(max(2, r.max(initial=2)) * (2 + self.of_class.max(initial=0))))
        found = []
        for order in range(self.order + 1):
            counts = np.split(self.tables[order], starts[order][1:-1])
            observed = [max(1, np.count_nonzero(own.reshape(n_classes, -1).any(axis=0))) for own in counts]
            own = (self.tables[order], starts[order])
            further = (self.tables[order + 1], starts[order + 1])
            subsets = subsets_of(d, order)
            found.append(_kernels.Subsets(r, subsets, np.array(observed, float), *own, *further, choose, most))
        return found


def subsets_of(d: int, size: int) -> Ints:
    """The subsets of one size of d features in colexicographic order, subsets x size, ascending.

    Examples
    --------
    >>> subsets_of(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    if size == 0:
        return np.empty((1, 0), dtype=np.int64)
    smaller = subsets_of(d, size - 1)
    with_last = [np.insert(smaller[: math.comb(v, size - 1)], size - 1, v, axis=1) for v in range(d)]
    return np.concatenate([np.empty((0, size), dtype=np.int64), *with_last])


def starts_of(arities: Ints, n_classes: int, size: int) -> Ints:
    """Where the tables of all subsets of that size begin, and the end of the last one."""
    cells = np.array([n_classes], dtype=np.int64)
    for k in range(1, size + 1):  # the subsets with v as the largest feature: those of the features before v, and v
        of_last = [cells[: math.comb(v, k - 1)] * int(r) for v, r in enumerate(arities)]
        cells = np.concatenate([np.empty(0, dtype=np.int64), *of_last])
    return np.concatenate([[0], np.cumsum(cells)])


def n_cells(arities: Ints, n_classes: int, order: int) -> int:
    """The counts of an estimator of this order: C times the sum of r_a r_b ... over all o + 1 features."""
    sums = [1] + [0] * (order + 1)
    for r in map(int, arities):
        for size in range(order + 1, 0, -1):
            sums[size] += r * sums[size - 1]
    return n_classes * sums[order + 1]


def check_cells(arities: Ints, n_classes: int, order: int) -> None:
    """Refuse tables that are too large."""
    needed = n_cells(arities, n_classes, order)
    if needed > MOST_CELLS:
        raise MemoryLimitError(
            f"an A{order}DE of {len(arities)} features would need {needed:,} numbers, more than {MOST_CELLS:,}; "
            "use a lower order, fewer intervals or fewer features"
        )
