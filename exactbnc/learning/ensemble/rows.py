"""Rows as the members of an ensemble read them, and those that are kept of all that were seen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.ensemble.ande import Floats, Ints
from exactbnc.learning.ensemble.pool import MOST_ROWS, Inputs
from exactbnc.network.codes import UNKNOWN
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MISSING_STATE


@dataclass(frozen=True, eq=False)
class Rows:
    """Inputs, classes and weights (int64 where they are counts)."""

    inputs: Inputs
    actual: Ints
    weights: Ints | Floats

    @property
    def n_rows(self) -> int:
        return len(self.actual)

    @property
    def left_out(self) -> Floats:
        """What of its weight a row is without when it is left out: one row of counts, else all of it."""
        return np.ones(self.n_rows) if self.weights.dtype == np.int64 else self.weights.astype(np.float64)

    def taken(self, chosen: Ints) -> Rows:
        """Some of the rows."""
        return Rows(self.inputs.rows(chosen), self.actual[chosen], self.weights[chosen])

    def joined(self, other: Rows) -> Rows:
        """These rows and then the others."""
        codes = tuple(np.hstack(pair) for pair in zip(self.inputs.codes, other.inputs.codes, strict=True))
        inputs = Inputs(codes, np.vstack([self.inputs.numbers, other.inputs.numbers]))
        weights: Any = np.hstack([self.weights, other.weights])
        return Rows(inputs, np.hstack([self.actual, other.actual]), weights)

    def merged(self) -> Rows:
        """The distinct rows in ascending order, weighted, so that nothing depends on the order of the rows.

        Large data, and weights that are no counts, stay as they are.
        """
        if self.n_rows > MOST_ROWS or self.weights.dtype != np.int64:
            return self
        numbers = np.nan_to_num(self.inputs.numbers.T, nan=np.inf)
        keys = np.vstack([numbers, self.inputs.codes[0], self.actual])
        order = np.lexsort(keys[::-1])
        keys = keys[:, order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        starts = np.flatnonzero(is_first)
        found = self.taken(order[starts])
        totals = np.asarray(np.add.reduceat(self.weights[order], starts), dtype=np.int64)
        return Rows(found.inputs, found.actual, totals)

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which values are known, variables x rows, the class last."""
        of_features = self.inputs.codes[0] != UNKNOWN
        return np.vstack([of_features, np.ones((1, self.n_rows), dtype=np.bool_)])

    def dataset(self, names: Sequence[str], states: Sequence[tuple[Hashable, ...]]) -> Dataset:
        """The rows in the first discretisation, the class last; unknown values have the first of the states."""
        codes = np.vstack([self.inputs.codes[0], self.actual.astype(np.uint16)])
        return Dataset(tuple(names), tuple(states), np.where(self.is_known, codes, 0), self.weights)

    def incomplete(self, view: int, names: Sequence[str], states: Sequence[tuple[Hashable, ...]]) -> Dataset:
        """The rows in one discretisation, the class last, with a state more for the unknown values of a feature."""
        codes, listed = self.inputs.codes[view].copy(), list(states)
        for v, column in enumerate(codes):
            lacks = column == UNKNOWN
            if lacks.any():
                column[lacks] = len(listed[v])
                listed[v] = (*listed[v], MISSING_STATE)
        whole = np.vstack([codes, self.actual.astype(np.uint16)])
        return Dataset(tuple(names), tuple(listed), whole, self.weights)


@dataclass(frozen=True, eq=False)
class Kept:
    """At most MOST_ROWS of the rows seen so far, drawn evenly: those of the lowest drawn numbers."""

    rows: Rows
    drawn: NDArray[np.float64]
    n_seen: int

    @classmethod
    def of(cls, rows: Rows) -> Kept:
        """Of the first rows."""
        return cls(rows, np.random.default_rng(0).random(rows.n_rows), rows.n_rows).thinned()

    def joined(self, rows: Rows) -> Kept:
        """With further rows."""
        drawn = np.random.default_rng(self.n_seen).random(rows.n_rows)
        whole = Kept(self.rows.joined(rows), np.hstack([self.drawn, drawn]), self.n_seen + rows.n_rows)
        return whole.thinned()

    def thinned(self) -> Kept:
        """Those of the lowest numbers, in their order."""
        if self.rows.n_rows <= MOST_ROWS:
            return self
        chosen = np.sort(np.argpartition(self.drawn, MOST_ROWS)[:MOST_ROWS])
        return Kept(self.rows.taken(chosen), self.drawn[chosen], self.n_seen)
