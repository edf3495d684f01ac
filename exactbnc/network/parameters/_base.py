"""What every parameter estimator is: a frozen value with a name, its settings as fields, and tables from data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters.counts import FamilyCounts, families
from scorecache.data.dataset import Dataset


@dataclass(frozen=True)
class ParameterEstimator:
    """Turns data and a structure into the tables of a network; the dataclass fields of a subclass are its settings."""

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    needs_class: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ()

    def tables(self, dataset: Dataset, dag: DAG, class_name: str | None) -> tuple[Floats, ...]:
        """P(child | parents) for every variable, shaped as in `BayesNet.tables`."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class ClosedForm(ParameterEstimator):
    """An estimator whose table of a family depends on the counts of that family alone."""

    def tables(self, dataset: Dataset, dag: DAG, class_name: str | None) -> tuple[Floats, ...]:
        """The tables of all families."""
        return tuple(self.table(family) for family in families(dataset, dag, class_name))

    def table(self, family: FamilyCounts) -> Floats:
        """theta_jk from N_jk."""
        raise NotImplementedError


def shares(cells: Floats) -> Floats:
    """Each cell over the sum of its configuration; 1/r where the sum is 0, for nothing is known there."""
    totals = cells.sum(axis=-1, keepdims=True)
    found: Floats = np.divide(cells, totals, out=np.full_like(cells, 1 / cells.shape[-1]), where=totals > 0)
    return found
