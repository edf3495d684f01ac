"""Rows with missing numbers (and states), completed for structural EM.

In each way z to complete the states of a row, the missing numbers M are Gaussian given what is observed, with a mean m
and a covariance P that `exactbnc.network.gaussian` integrates exactly. A Gaussian log-likelihood is quadratic in the
numbers, so its expectation depends on m and P alone, and d + 1 points with these moments take M's place (d numbers
missing):

    m + sqrt(d + 1) L h_i,     L L' = P,     h_i the columns of a d x (d + 1) Helmert matrix H,  H H' = I,  H 1 = 0

each with the weight P(z | observed) / (d + 1). What a family scores on these rows is its exact expected score, and with
the entropy of the Gaussians and of z, the rounds raise log P(observed) less the penalty as they do for states alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.learning.preparation import States, observed_codes, observed_states
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes, Floats, Rows
from exactbnc.network.gaussian import components_of, integrate
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import Frequencies
from exactbnc.network.regressions import regression_of
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED
from scorecache.errors import DataError

MOST_COMPLETIONS = 5_000_000
"""Completed rows that are held at one time."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IncompleteNumbers:
    """Rows of numbers and states; what is missing has the code UNKNOWN."""

    names: tuple[str, ...]
    states: States
    rows: Rows
    weights: Floats
    is_number: NDArray[np.bool_]

    @classmethod
    def of(cls, dataset: Dataset) -> IncompleteNumbers:
        """From a data set in which missing values are a state of their own, and missing numbers NaN."""
        is_number = np.array([name in dataset.measurements for name in dataset.names])
        codes, listed = observed_codes(dataset.states, dataset.codes), observed_states(dataset.states)
        numbers = np.full(codes.shape, np.nan)
        for name, own in dataset.measurements.items():
            v = dataset.index[name]
            numbers[v], codes[v] = own, np.where(np.isfinite(own), 0, UNKNOWN)
        for v, name in enumerate(dataset.names):
            if (codes[v] == UNKNOWN).all():
                raise DataError(f"column {name!r} has no value; leave it out")
        states = tuple((MEASURED,) if number else own for number, own in zip(is_number, listed, strict=True))
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        found = cls(dataset.names, states, Rows(codes, numbers), weights, is_number)
        n_missing = (codes[is_number] == UNKNOWN).sum(axis=0) + 1
        n_completed = sum(n_ways * int(n_missing[own].sum()) for own, _, n_ways in found._patterns())
        if n_completed > MOST_COMPLETIONS:
            raise DataError(
                f"the rows with missing values become {n_completed:,} completed ones, more than {MOST_COMPLETIONS:,}: "
                "leave out columns with many missing values"
            )
        return found

    def begin(self, net: BayesNet) -> Dataset:
        """The rows completed by a network."""
        return self._expected(net)[0]

    def completed(self, counts: Dataset) -> Dataset:
        """What a round counts are the completed rows themselves."""
        return counts

    def refit(self, counts: Dataset, dag: DAG, *, anew: bool = True) -> tuple[float, float, Dataset]:
        """With the network of maximum likelihood for completed rows: their log-likelihood, log P(observed), and the
        rows completed by it; they keep all their ways, whether `anew` or not."""
        net = fit_parameters(counts, dag, Frequencies())
        completed, log_observed = self._expected(net)
        return net.log_likelihood(counts), log_observed, completed

    def coarse(self) -> IncompleteNumbers:
        """All ways are kept."""
        return self

    def kept(self, counts: Dataset, net: BayesNet) -> None:
        """All ways are."""

    def drawn(self, random: np.random.Generator) -> Dataset:
        """Missing values drawn from the others of their column."""
        codes, numbers = self.rows.codes.copy(), self._numbers.copy()
        for v in range(len(self.names)):
            lacks = codes[v] == UNKNOWN
            p = self.weights[~lacks] / self.weights[~lacks].sum()
            chosen = random.choice(np.flatnonzero(~lacks), lacks.sum(), p=p)
            codes[v, lacks], numbers[v, lacks] = codes[v, chosen], numbers[v, chosen]
        return self._dataset(codes, numbers, self.weights)

    @property
    def _numbers(self) -> Floats:
        assert self.rows.numbers is not None
        return self.rows.numbers

    @cached_property
    def _ways(self) -> tuple[Rows, Ints, Ints]:
        """The rows with their states completed in all ways, the data row of each, and where those of a row begin."""
        codes, rows = [], []
        for own, lacking, n_ways in self._patterns():
            completed = np.repeat(self.rows.codes[:, own], n_ways, axis=1)
            ways = list(product(*(range(len(self.states[v])) for v in lacking)))
            for v, values in zip(lacking, np.array(ways, dtype=np.uint16).T, strict=True):
                completed[v] = np.tile(values, len(own))
            codes.append(completed)
            rows.append(np.repeat(own, n_ways))
        row = np.concatenate(rows)
        ways_rows = Rows(np.ascontiguousarray(np.concatenate(codes, axis=1)), self._numbers[:, row])
        return ways_rows, row, np.flatnonzero(np.diff(row, prepend=-1))

    def _expected(self, net: BayesNet) -> tuple[Dataset, float]:
        """The completed rows, weighted, and log P(observed)."""
        ways, row, starts = self._ways
        log_p = net.log_probability(ways)
        largest = np.maximum.reduceat(log_p, starts)
        n_ways = np.diff(starts, append=len(log_p))
        p = np.exp(log_p - np.repeat(largest, n_ways))
        total = np.add.reduceat(p, starts)
        weights = self.weights[row] * p / np.repeat(total, n_ways)
        occurs = np.flatnonzero(weights > 0)
        own = ways.take(occurs)
        points = [self._points(net, own, chosen) for chosen in self._alike(net, own)]
        at = np.concatenate([chosen for chosen, _ in points])
        numbers = np.concatenate([values for _, values in points], axis=1)
        shares = np.bincount(at, minlength=len(occurs))
        completed = self._dataset(own.codes[:, at], numbers, (weights[occurs] / shares)[at])
        return completed, float(self.weights[row[starts]] @ (largest + np.log(total)))

    def _alike(self, net: BayesNet, rows: Rows) -> Iterator[Ints]:
        """The rows that lack the same numbers and have the same states among the parents of numbers."""
        given = {u for v in np.flatnonzero(self.is_number).tolist() for u in regression_of(net, v).given}
        _, group = np.unique(rows.codes[[*sorted(given), *np.flatnonzero(self.is_number)]], axis=1, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        yield from np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])

    def _points(self, net: BayesNet, rows: Rows, chosen: Ints) -> tuple[Ints, Floats]:
        """Completed copies of rows that are alike: which row each is of, and its numbers, variables x copies."""
        assert rows.numbers is not None
        first, numbers = rows.codes[:, chosen[0]], rows.numbers[:, chosen]
        missing = [v for v in np.flatnonzero(self.is_number).tolist() if first[v] == UNKNOWN]
        d = len(missing)
        if not d:
            return chosen, numbers
        place = {v: i for i, v in enumerate(missing)}
        means, root = np.empty((d, len(chosen))), np.zeros((d, d))
        configuration = dict(enumerate(first.tolist()))
        for component in components_of(net, np.flatnonzero(self.is_number).tolist(), missing):
            if not component.unknown:
                continue
            tables = [own.at(configuration, (), ()) for own in component.regressions]
            found, to = integrate(component, rows, chosen, tables), [place[v] for v in component.unknown]
            means[to] = found.mean[:, 0].T
            values, vectors = np.linalg.eigh(found.covariance[0])
            root[np.ix_(to, to)] = vectors * np.sqrt(np.maximum(values, 0.0))
        away = math.sqrt(d + 1) * root @ _helmert(d)
        copies = np.repeat(numbers, d + 1, axis=1)
        copies[missing] = (means[:, :, None] + away[:, None, :]).reshape(d, -1)
        return np.repeat(chosen, d + 1), copies

    def _patterns(self) -> Iterator[tuple[Ints, tuple[int, ...], int]]:
        """The rows that lack the same states, these variables, and in how many ways they can be completed."""
        is_missing = (self.rows.codes == UNKNOWN) & ~self.is_number[:, None]
        kinds, where = np.unique(is_missing, axis=1, return_inverse=True)
        for kind in range(kinds.shape[1]):
            lacking = tuple(np.flatnonzero(kinds[:, kind]).tolist())
            yield np.flatnonzero(where.ravel() == kind), lacking, math.prod(len(self.states[v]) for v in lacking)

    def _dataset(self, codes: Codes, numbers: Floats, weights: Floats) -> Dataset:
        own = np.where(self.is_number[:, None], 0, codes).astype(np.uint16)
        measurements = {name: numbers[v] for v, name in enumerate(self.names) if self.is_number[v]}
        return Dataset(self.names, self.states, np.ascontiguousarray(own), weights, measurements)


def _helmert(d: int) -> Floats:
    """d orthonormal rows of d + 1 numbers that sum to zero."""
    found = np.tril(np.ones((d, d + 1)))
    found[np.arange(d), np.arange(1, d + 1)] = -np.arange(1.0, d + 1)
    return np.asarray(found / np.sqrt(np.arange(1, d + 1) * np.arange(2, d + 2))[:, None])
