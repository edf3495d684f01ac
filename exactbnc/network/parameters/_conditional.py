"""The families that contain the class, laid out so that all classes of a row are adjacent in memory.

Given the other values x of a row, only those families distinguish the classes:

    log P(c, x) = const(x) + sum over families f with the class of W[u_f(x), c]

A *unit* u_f(x) is what remains of a cell once the class is taken out: the configuration of the other parents and the
child's value for a feature, the configuration of the parents for the class itself. W is a table of units x classes and
contains log theta. A *group* is the units whose theta add up to one for each class: the values of a feature in one
configuration. A unit of the class itself adds up to one over the classes; those units come first. Only configurations
that occur in the data have units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters.counts import cells
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassFamily:
    """Where the units of a family are: `width` of them from `first` on for each of the `configurations`.

    `class_axis` is the axis of the class in the table of `child`; without that axis, the configurations are the rows of
    the table and the width is its last axis (1 for the class itself).
    """

    child: int
    class_axis: int
    configurations: Ints
    first: int
    width: int


@dataclass(frozen=True, eq=False)
class ClassFamilies:
    """`units` is rows x families; `group_start` bounds the groups of the features. Rows of weight 0 are omitted."""

    families: tuple[ClassFamily, ...]
    n_classes: int
    group_start: Ints
    rows: Ints
    units: Ints
    actual: Ints
    weights: Floats

    @property
    def n_units(self) -> int:
        return int(self.group_start[-1])

    def counts(self, weights: Floats) -> Floats:
        """How often each unit occurs with each class, units x classes."""
        places = (self.units * self.n_classes + self.actual[:, None]).ravel()
        repeated = np.repeat(weights, self.units.shape[1])
        counts = np.bincount(places, repeated, minlength=self.n_units * self.n_classes)
        return counts.reshape(-1, self.n_classes).astype(np.float64)

    def replace(self, tables: tuple[Floats, ...], theta: Floats) -> tuple[Floats, ...]:
        """The tables with theta, units x classes, in the cells that have a unit."""
        changed = list(tables)
        for family in self.families:
            last = np.moveaxis(tables[family.child], family.class_axis, -1)
            rows = last.reshape(-1, family.width, self.n_classes).copy()
            n_units = len(family.configurations) * family.width
            rows[family.configurations] = theta[family.first : family.first + n_units].reshape(-1, *rows.shape[1:])
            changed[family.child] = np.ascontiguousarray(np.moveaxis(rows.reshape(last.shape), -1, family.class_axis))
        return tuple(changed)


def class_families(dataset: Dataset, dag: DAG, class_name: str) -> ClassFamilies:
    """Lay out the class, then the children of the class."""
    if class_name not in dataset.index:
        raise ParameterError(f"the class must be a column of the data. Got {class_name!r} instead.")
    target = dataset.index[class_name]
    rows = np.arange(dataset.n_rows) if dataset.weights is None else np.flatnonzero(dataset.weights)
    weights = np.ones(len(rows)) if dataset.weights is None else dataset.weights[rows].astype(np.float64)
    children = [child for child, parents in enumerate(dag.parents) if target in parents]
    families, columns, group_start, n_units = [], [], [], 0
    for child in (target, *children):
        others = tuple(v for v in dag.parents[child] if v != target)
        found, configuration = np.unique(cells(dataset, others)[rows], return_inverse=True)
        width = 1 if child == target else int(dataset.arities[child])
        value = 0 if child == target else dataset.codes[child][rows].astype(np.int64)
        columns.append(n_units + configuration * width + value)
        class_axis = (*dag.parents[child], child).index(target)
        families.append(ClassFamily(child, class_axis, found, n_units, width))
        if child != target:
            group_start.append(n_units + width * np.arange(len(found)))
        n_units += width * len(found)
    return ClassFamilies(
        families=tuple(families),
        n_classes=int(dataset.arities[target]),
        group_start=np.concatenate([*group_start, np.array([n_units])]),
        rows=rows,
        units=np.ascontiguousarray(np.stack(columns, axis=1)),
        actual=dataset.codes[target][rows].astype(np.int64),
        weights=weights,
    )
