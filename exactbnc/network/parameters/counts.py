"""How often each configuration of a family occurs: the input of the closed-form estimators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError

MOST_CELLS = 2**28
"""A table of more cells (2 GiB) is refused; no data could fill it."""


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """N_jk: one axis per parent, ascending, and the child's states on the last.

    `class_axis` is where the class is among the axes: of a parent, the last one for the class itself, None if the
    family does not contain it.
    """

    counts: NDArray[np.float64]
    class_axis: int | None

    @property
    def r(self) -> int:
        return int(self.counts.shape[-1])

    @property
    def q(self) -> int:
        return math.prod(self.counts.shape[:-1])

    @property
    def is_class(self) -> bool:
        """Whether the child is the class itself."""
        return self.class_axis == self.counts.ndim - 1

    @property
    def of_parents(self) -> NDArray[np.float64]:
        """N_j, with a last axis of one."""
        totals: NDArray[np.float64] = self.counts.sum(axis=-1, keepdims=True)
        return totals


def count_family(dataset: Dataset, child: int, parents: Sequence[int]) -> NDArray[np.float64]:
    """The table of a family, weighted by the rows' weights."""
    shape = tuple(int(dataset.arities[v]) for v in (*parents, child))
    if math.prod(shape) > MOST_CELLS:
        raise MemoryLimitError(
            f"the table of {dataset.names[child]} with {len(parents)} parents would have {math.prod(shape):,} cells, "
            f"more than {MOST_CELLS:,}; limit the parents"
        )
    found = cells(dataset, (*parents, child))
    return np.bincount(found, dataset.weights, minlength=math.prod(shape)).astype(np.float64).reshape(shape)


def cells(dataset: Dataset, members: Sequence[int]) -> NDArray[np.int64]:
    """The cell that each row is in, in the table with these variables as axes."""
    n_cells = math.prod(int(dataset.arities[v]) for v in members)
    if n_cells > MOST_CELLS:
        raise MemoryLimitError(
            f"a table over {len(members)} variables would have {n_cells:,} cells, more than {MOST_CELLS:,}; "
            "limit the parents"
        )
    found = np.zeros(dataset.n_rows, dtype=np.int64)
    for v in members:
        found *= int(dataset.arities[v])
        found += dataset.codes[v]
    return found


def families(dataset: Dataset, dag: DAG, class_name: str | None) -> list[FamilyCounts]:
    """The counts of every family of a network over the variables of the data set."""
    class_index = None if class_name is None else dataset.index[class_name]
    found = []
    for child, parents in enumerate(dag.parents):
        members = (*parents, child)
        axis = members.index(class_index) if class_index in members else None
        found.append(FamilyCounts(count_family(dataset, child, parents), axis))
    return found
