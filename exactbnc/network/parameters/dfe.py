"""Discriminative frequency estimates (DFE): each row counts as much as it is still predicted wrongly.

    for every pass, for every row in turn:   n_ijk += 1 - P(c | x)     in the cells of the row, for every family i
    theta_ijk = n_ijk / n_ij,                                          P(c | x) by the theta of the moment

Counts begin at `alpha` in every cell, so that theta is defined from the first row on. A row of weight w adds w times
its loss once, in its turn. Families without the class get the same increments; P(c | x) does not depend on them. The
result depends on the order of the rows, as it does in the paper. Reference: Su, Zhang, Ling, Matwin (2008). Four passes
in the order of the data and Laplace's alpha = 1 are our choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters._base import ParameterEstimator, shares
from exactbnc.network.parameters._conditional import ClassFamilies, class_families
from exactbnc.network.parameters._kernels import prediction_losses
from exactbnc.network.parameters.counts import cells
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class DFE(ParameterEstimator):
    """`iterations` passes over the rows, from `alpha` in every cell."""

    iterations: int = 4
    alpha: float = 1.0

    name: ClassVar[str] = "dfe"
    title: ClassVar[str] = "discriminative frequency estimates"
    reference: ClassVar[str] = "Su, Zhang, Ling, Matwin 2008"
    needs_class: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self.name, "alpha", self.alpha)
        if self.iterations < 1:
            raise ParameterError(f"the iterations of 'dfe' must be at least 1. Got {self.iterations} instead.")

    def tables(self, dataset: Dataset, dag: DAG, class_name: str | None) -> tuple[Floats, ...]:
        """The frequencies of the losses, all families."""
        if class_name is None:
            raise ParameterError("the parameters 'dfe' need a class")
        laid_out = class_families(dataset, dag, class_name)
        losses = np.zeros(dataset.n_rows)
        losses[laid_out.rows] = self._losses(laid_out)
        found = []
        for child, parents in enumerate(dag.parents):
            members = (*parents, child)
            shape = tuple(int(dataset.arities[v]) for v in members)
            counts = np.bincount(cells(dataset, members), losses, minlength=math.prod(shape)).astype(np.float64)
            found.append(shares(counts.reshape(shape) + self.alpha))
        return tuple(found)

    def _losses(self, laid_out: ClassFamilies) -> Floats:
        sizes = np.diff(laid_out.group_start)
        n_class_units = laid_out.group_start[0]
        group_of = np.concatenate([np.full(n_class_units, -1), np.repeat(np.arange(len(sizes)), sizes)])
        counts = np.full((laid_out.n_units, laid_out.n_classes), float(self.alpha))
        totals = np.repeat(sizes[:, None] * float(self.alpha), laid_out.n_classes, axis=1)
        losses: Floats = prediction_losses(
            counts, totals, group_of, laid_out.units, laid_out.actual, laid_out.weights, self.iterations
        )
        return losses
