"""Rows with missing values, completed in all ways: what structural EM takes its expected counts from.

Where all ways of all rows are too many, each row keeps as many of the likeliest as there is room for; only those can
have a probability. The objective F of structural EM stays what it is, over fewer q, so that its rounds rise all the
same, and what they end with bounds the objective over all q from below. A row exchanges the ways that it keeps only for
others that are likelier together, which raises F, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from exactbnc.learning.likely_ways import Factor, Ints, likeliest_ways, log_product
from exactbnc.learning.preparation import States, observed_codes, observed_states
from exactbnc.network.codes import UNKNOWN, Codes, Floats
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError

MOST_COMPLETIONS = 300_000
"""Completed rows that are kept, of all rows with missing values together."""
LEAST_WAYS = 8
"""Ways that a row keeps at least, however many rows there are."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The distinct completed rows; way i to complete a row gives number `where[i]`.

    The ways of data row `row[k]` begin at `starts[k]`.
    """

    rows: Dataset
    where: Ints
    row: Ints
    starts: Ints


@dataclass(frozen=True, eq=False)
class IncompleteData:
    """Distinct rows, the missing values of which have the code UNKNOWN, and how often each occurs.

    A row with more ways than `most` keeps that many of them.
    """

    names: tuple[str, ...]
    states: States
    codes: Codes
    weights: Floats
    most: int = MOST_COMPLETIONS

    @classmethod
    def of(cls, dataset: Dataset) -> IncompleteData:
        """From a data set in which missing values are a state of their own."""
        dataset.require_categories()
        codes, states = observed_codes(dataset.states, dataset.codes), observed_states(dataset.states)
        for name, listed in zip(dataset.names, states, strict=True):
            if not listed:
                raise DataError(f"column {name!r} has no value; leave it out")
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        distinct, where = np.unique(codes, axis=1, return_inverse=True)
        own = np.bincount(where.ravel(), weights).astype(np.float64)
        found = cls(dataset.names, states, np.ascontiguousarray(distinct), own)
        return replace(found, most=_most_ways([(len(rows), n_ways) for rows, _, n_ways in found._patterns()]))

    @cached_property
    def wide(self) -> Ints:
        """The rows that do not keep all their ways."""
        found = [rows for rows, _, n_ways in self._patterns() if n_ways > self.most]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *found]))

    @cached_property
    def ways(self) -> Ways:
        """All completed rows, where all are kept; they are the same in every round."""
        return self._with_wide(np.empty((len(self.names), 0), dtype=np.uint16))

    @cached_property
    def _narrow(self) -> tuple[Codes, Ints, Ints, Ints]:
        """All ways of the rows that keep them: distinct codes, and `where`, `row` and `starts` as in `Ways`."""
        codes, rows = [np.empty((len(self.names), 0), dtype=np.uint16)], [np.empty(0, dtype=np.int64)]
        for own, lacking, n_ways in self._patterns():
            if n_ways > self.most:
                continue
            completed = np.repeat(self.codes[:, own], n_ways, axis=1)
            for v, values in zip(lacking, _all_values([len(self.states[v]) for v in lacking]), strict=True):
                completed[v] = np.tile(values, len(own))
            codes.append(completed)
            rows.append(np.repeat(own, n_ways))
        distinct, where = np.unique(np.concatenate(codes, axis=1), axis=1, return_inverse=True)
        row = np.concatenate(rows)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return distinct, where.ravel(), row[starts], starts

    def likeliest(self, factors: Sequence[Factor]) -> Ways:
        """The ways that are kept: all of them, or of `wide` rows the likeliest that are found."""
        if not len(self.wide):
            return self.ways
        return self._with_wide(likeliest_ways(self.codes[:, self.wide], factors, self.most)[1])

    def renewed(self, ways: Ways, factors: Sequence[Factor]) -> Ways:
        """The ways, those of a row exchanged where others are found that are likelier together."""
        if not len(self.wide):
            return ways
        before, found = self._of_wide(ways), self._of_wide(self.likeliest(factors))
        is_likelier = self._log_sums(found, factors) > self._log_sums(before, factors)
        return self._with_wide(np.where(np.repeat(is_likelier, self.most), found, before))

    def kept(self, ways: Ways, factors: Sequence[Factor]) -> Floats:
        """log sum of the product of the factors over the ways that each of the `wide` rows keeps."""
        return self._log_sums(self._of_wide(ways), factors)

    def _of_wide(self, ways: Ways) -> Codes:
        """The completed rows of `wide`: those after the ones of the other rows, `most` of each."""
        return ways.rows.codes[:, self._narrow[0].shape[1] :]

    def _log_sums(self, codes: Codes, factors: Sequence[Factor]) -> Floats:
        found: Floats = np.logaddexp.reduce(log_product(codes, factors).reshape(len(self.wide), self.most), axis=1)
        return found

    def _with_wide(self, codes: Codes) -> Ways:
        """All ways of the other rows, and these of `wide`."""
        distinct, where, row, starts = self._narrow
        rows = Dataset(self.names, self.states, np.concatenate([distinct, codes], axis=1))
        own = np.arange(codes.shape[1])
        starts = np.concatenate([starts, len(where) + own[:: self.most]])
        where = np.concatenate([where, distinct.shape[1] + own])
        return Ways(rows, where, np.concatenate([row, self.wide]), starts)

    def expected(self, log_p: Floats, ways: Ways | None = None) -> tuple[Floats, float]:
        """How often each completed row is expected, and the sum over the data rows of log sum exp(log_p).

        `log_p` is the logarithm of what a completed row is as probable as; the sum is log P(observed) if it is log P.
        """
        ways = ways or self.ways
        log_p = log_p[ways.where]
        largest = np.maximum.reduceat(log_p, ways.starts)
        n_ways = np.diff(ways.starts, append=len(log_p))
        p = np.exp(log_p - np.repeat(largest, n_ways))
        total = np.add.reduceat(p, ways.starts)
        weights = self.weights[ways.row]
        counts = np.bincount(ways.where, p * np.repeat(weights / total, n_ways), minlength=ways.rows.n_rows)
        return counts.astype(np.float64), float(weights @ (largest + np.log(total)))

    def completed(self, counts: Floats, ways: Ways | None = None) -> Dataset:
        """The completed rows that are expected at all, weighted."""
        occurs = counts > 0
        return self._dataset((ways or self.ways).rows.codes[:, occurs], counts[occurs])

    def drawn(self, random: np.random.Generator) -> Dataset:
        """Missing values drawn by how often the others of their column occur."""
        codes = self.codes.copy()
        for v, states in enumerate(self.states):
            lacks = codes[v] == UNKNOWN
            counts = np.bincount(codes[v][~lacks], self.weights[~lacks], minlength=len(states))
            codes[v, lacks] = random.choice(len(states), lacks.sum(), p=counts / counts.sum())
        return self._dataset(codes, self.weights)

    def _patterns(self) -> Iterator[tuple[np.ndarray, tuple[int, ...], int]]:
        """The rows that lack the same variables, these variables, and in how many ways they can be completed."""
        is_missing = self.codes == UNKNOWN
        kinds, where = np.unique(is_missing, axis=1, return_inverse=True)
        for kind in range(kinds.shape[1]):
            lacking = tuple(np.flatnonzero(kinds[:, kind]).tolist())
            n_ways = math.prod(len(self.states[v]) for v in lacking)
            yield np.flatnonzero(where.ravel() == kind), lacking, n_ways

    def _dataset(self, codes: Codes, weights: Floats) -> Dataset:
        return Dataset(self.names, self.states, np.ascontiguousarray(codes), weights)


def _most_ways(rows: Sequence[tuple[int, int]]) -> int:
    """How many ways a row may keep, for numbers of rows and of the ways of each of them.

    >>> _most_ways([(10**6, 1), (10, 2), (2, 2**40)]), _most_ways([(10**6, 6)])
    (149990, 300000)
    """
    incomplete = sorted((n_ways, n_rows) for n_rows, n_ways in rows if n_ways > 1)
    n_left = sum(n_rows for _, n_rows in incomplete)
    room = max(MOST_COMPLETIONS, LEAST_WAYS * n_left)
    for n_ways, n_rows in incomplete:
        if n_ways * n_left > room:
            return room // n_left
        room, n_left = room - n_rows * n_ways, n_left - n_rows
    return MOST_COMPLETIONS


def _all_values(sizes: list[int]) -> np.ndarray:
    """All combinations of values, one row per variable."""
    ways = list(product(*(range(size) for size in sizes)))
    return np.array(ways, dtype=np.uint16).reshape(len(ways), len(sizes)).T
