"""Rows with their cells in a design, what a fit finds, and the loss of weights on rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from exactbnc.learning.discriminative.design import Design, Floats, Ints


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to fit: cells as in `Design`, classes, weights, and an offset (rows x classes, or empty)."""

    design: Design
    cells: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    actual: Ints
    weights: Floats
    offset: Floats

    @property
    def total(self) -> float:
        """The sum of the weights, above 0."""
        return max(float(self.weights.sum()), 1e-300)

    @cached_property
    def places(self) -> Any:
        """Rows x cells, a sparse matrix with a one for each cell of each row."""
        from scipy.sparse import csr_array

        n_rows, n_families = self.cells.shape
        shape = (n_rows, self.design.n_cells)
        return csr_array((np.ones(self.cells.size), self.cells.ravel(), np.arange(n_rows + 1) * n_families), shape)

    @cached_property
    def spread(self) -> Any:
        """The transpose of `places`, which takes time to make."""
        return self.places.T

    @cached_property
    def one_hot(self) -> Floats:
        """Rows x columns, with a one for each column of each row."""
        found = np.zeros((len(self.actual), self.design.n_columns))
        rows = np.arange(len(self.actual))[:, None]
        for family, columns in enumerate(self.design.columns):
            found[rows, columns[self.cells[:, family] - self.design.first[family]]] = 1.0
        return found

    def rows(self, chosen: Ints) -> Sample:
        """Some of the rows."""
        offset = self.offset[chosen] if len(self.offset) else self.offset
        return Sample(self.design, self.cells[chosen], self.actual[chosen], self.weights[chosen], offset)

    def weighted(self, weights: Floats) -> Sample:
        """The rows with other weights, without those of weight 0."""
        kept = np.flatnonzero(weights)
        return Sample(self.design, self.cells, self.actual, weights, self.offset).rows(kept)


@dataclass(frozen=True, eq=False)
class Fit:
    """`weights`, columns x classes, the slope of the offset, and the penalty they were found with."""

    weights: Floats
    slope: float
    penalty: float


def loss(fit: Fit, sample: Sample) -> float:
    """The unpenalised loss of the rows.

    Examples
    --------
    >>> from exactbnc.graph.dag import DAG
    >>> from scorecache import Dataset
    >>> data = Dataset.from_columns({"x": [0, 1], "y": [0, 1]})
    >>> design = Design.of(data, DAG.from_arcs(data.names, [("y", "x")]), "y")
    >>> rows = Sample(design, design.cells, np.array([0, 1]), np.ones(2), np.empty((0, 2)))
    >>> round(loss(Fit(np.zeros((design.n_columns, 2)), 1.0, 1.0), rows) / 2, 4)  # log 2
    0.6931
    """
    tables = sample.design.sums(fit.weights)
    scores = np.zeros((len(sample.actual), fit.weights.shape[1]))
    for own in sample.cells.T:
        scores += tables[own]
    if len(sample.offset):
        scores += fit.slope * sample.offset
    return softmax_loss(scores, sample)[0]


def softmax_loss(scores: Floats, sample: Sample) -> tuple[float, Floats]:
    """The loss of the rows for log P(c | x) up to a constant per row, and P(c | x) in place of the scores."""
    scores -= scores.max(axis=1, keepdims=True)
    of_actual = scores[np.arange(len(scores)), sample.actual]
    np.exp(scores, out=scores)
    totals = scores.sum(axis=1)
    found = float(sample.weights @ (np.log(totals) - of_actual))
    scores /= totals[:, None]
    return found, scores


def residuals_of(chances: Floats, sample: Sample) -> Floats:
    """The derivatives of the loss by the scores: w_i (P(c | x_i) - [c = y_i]), in place of the probabilities."""
    chances *= sample.weights[:, None]
    chances[np.arange(len(chances)), sample.actual] -= sample.weights
    return chances
