"""Rows with missing values, completed in all ways: what structural EM takes its expected counts from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.preparation import States, observed_codes, observed_states
from exactbnc.network.codes import UNKNOWN, Codes, Floats
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError

MOST_COMPLETIONS = 5_000_000
"""Completed rows that are held at one time."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The distinct completed rows; way i to complete a row gives number `where[i]`.

    The ways of data row `row[k]` begin at `starts[k]`.
    """

    rows: Dataset
    where: NDArray[np.int64]
    row: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IncompleteData:
    """Distinct rows, the missing values of which have the code UNKNOWN, and how often each occurs."""

    names: tuple[str, ...]
    states: States
    codes: Codes
    weights: Floats

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
        n_completed = sum(len(rows) * n_ways for rows, _, n_ways in found._patterns())
        if n_completed > MOST_COMPLETIONS:
            raise DataError(
                f"the rows with missing values can be completed in {n_completed:,} ways, more than "
                f"{MOST_COMPLETIONS:,}: leave out columns with many missing values, or use missing='category'"
            )
        return found

    @cached_property
    def ways(self) -> Ways:
        """All completed rows; they are the same in every round."""
        codes, rows = [], []
        for own, lacking, n_ways in self._patterns():
            completed = np.repeat(self.codes[:, own], n_ways, axis=1)
            for v, values in zip(lacking, _all_values([len(self.states[v]) for v in lacking]), strict=True):
                completed[v] = np.tile(values, len(own))
            codes.append(completed)
            rows.append(np.repeat(own, n_ways))
        distinct, where = np.unique(np.concatenate(codes, axis=1), axis=1, return_inverse=True)
        row = np.concatenate(rows)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        own_rows = Dataset(self.names, self.states, np.ascontiguousarray(distinct))
        return Ways(own_rows, where.ravel(), row[starts], starts)

    def expected(self, log_p: Floats) -> tuple[Floats, float]:
        """How often each completed row is expected, and the sum over the data rows of log sum exp(log_p).

        `log_p` is the logarithm of what a completed row is as probable as; the sum is log P(observed) if it is log P.
        """
        ways = self.ways
        log_p = log_p[ways.where]
        largest = np.maximum.reduceat(log_p, ways.starts)
        n_ways = np.diff(ways.starts, append=len(log_p))
        p = np.exp(log_p - np.repeat(largest, n_ways))
        total = np.add.reduceat(p, ways.starts)
        weights = self.weights[ways.row]
        counts = np.bincount(ways.where, p * np.repeat(weights / total, n_ways), minlength=ways.rows.n_rows)
        return counts.astype(np.float64), float(weights @ (largest + np.log(total)))

    def completed(self, counts: Floats) -> Dataset:
        """The completed rows that are expected at all, weighted."""
        occurs = counts > 0
        return self._dataset(self.ways.rows.codes[:, occurs], counts[occurs])

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


def _all_values(sizes: list[int]) -> np.ndarray:
    """All combinations of values, one row per variable."""
    ways = list(product(*(range(size) for size in sizes)))
    return np.array(ways, dtype=np.uint16).reshape(len(ways), len(sizes)).T
