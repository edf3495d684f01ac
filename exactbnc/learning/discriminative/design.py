"""The cliques of a structure as a one-hot design, of the cells that occur.

With Q running over the subsets of the feature parents of v, the cliques of a child v of the class are {v} + Q: its main
effect, the pairs with its parents, and so on; those of the class itself, if it has parents, are the subsets of them. No
clique belongs to two families, since a structure has no cycle. The log-linear model of the class is

    log P(c | x) = sum_q W_q[x_q, c] - log Z = sum_v T_v[x_v, x_pa(v), c] - log Z,   T_v = sum_{q of family v} W_q

so that a row needs one entry per family. Rows pick *cells* of families; a cell is the sum of the *columns* of its
cliques. Cells and columns that no row has do not exist, and count as 0. Where values are unknown, a family with an
unknown member adds nothing to the row: it picks one further cell, the sum of no columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from scorecache.data.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

UNKNOWN_CELL = -1
WIDEST_PART = 3
"""Beyond this many parents Q is at most this many of them, or all of them: subsets are exponentially many."""


@dataclass(frozen=True)
class ClassFamily:
    """A family with the class in it: its child, and its members other than the class, ascending."""

    child: int
    members: tuple[int, ...]
    class_index: int

    @property
    def is_class(self) -> bool:
        """Whether the class itself is the child."""
        return self.child == self.class_index

    @property
    def cliques(self) -> list[tuple[int, ...]]:
        """The cliques, ascending, the smallest first."""
        others = [v for v in self.members if v != self.child]
        own = () if self.is_class else (self.child,)
        sizes = [size for size in range(len(others) + 1) if size <= WIDEST_PART or size == len(others)]
        return [tuple(sorted((*own, *part))) for size in sizes for part in combinations(others, size)]


def class_families(dag: DAG, class_index: int) -> list[ClassFamily]:
    """The families that contain the class, by child."""
    return [
        ClassFamily(child, tuple(v for v in sorted((*parents, child)) if v != class_index), class_index)
        for child, parents in enumerate(dag.parents)
        if class_index in (*parents, child)
    ]


@dataclass(frozen=True, eq=False)
class Design:
    """`cells[row, family]` numbers the observed cells of all families.

    `keys[family]` are the places of its cells in the table of its members, ascending; `first[family]` is the number of
    its first cell; `columns[family]`, cells x cliques, numbers the columns that a cell is the sum of. The cell after
    those of all families is that of families with unknown members, where `has_unknown`.
    """

    families: tuple[ClassFamily, ...]
    arities: Ints
    cells: NDArray[np.int32]
    keys: tuple[Ints, ...]
    first: Ints
    columns: tuple[Ints, ...]
    has_unknown: bool = False

    @classmethod
    def of(cls, dataset: Dataset, dag: DAG, class_name: str, is_known: Flags | None = None) -> Design:
        """The design of the rows of a data set; `is_known`, variables x rows, says which codes are those of values.

        Examples
        --------
        >>> data = Dataset.from_columns({"a": [0, 0, 1], "b": [0, 1, 1], "y": [0, 1, 1]})
        >>> dag = DAG.from_arcs(data.names, [("y", "a"), ("y", "b"), ("a", "b")])
        >>> design = Design.of(data, dag, "y")
        >>> design.cells.tolist(), design.n_cells, design.n_columns
        ([[0, 2, 5], [0, 3, 5], [1, 4, 5]], 6, 8)
        """
        families = class_families(dag, dataset.index[class_name])
        arities = dataset.arities
        cells = np.full((dataset.n_rows, len(families)), UNKNOWN_CELL, dtype=np.int32)
        first, keys = [0], []
        columns: list[Ints] = []
        n_columns = 0
        for f, family in enumerate(families):
            shape = tuple(int(arities[v]) for v in family.members)
            rows = np.arange(dataset.n_rows)
            if is_known is not None:
                rows = rows[is_known[list(family.members)].all(axis=0)]
            own, position = _distinct(_places(dataset.codes, family.members, shape)[rows], math.prod(shape))
            cells[rows, f] = first[-1] + position
            found = np.empty((len(own), len(family.cliques)), dtype=np.int64)
            for q, clique in enumerate(family.cliques):
                kept = [family.members.index(v) for v in clique]
                values = np.unravel_index(own, shape) if shape else ()
                of_clique = np.zeros(len(own), dtype=np.int64)
                for axis in kept:
                    of_clique = of_clique * shape[axis] + values[axis]
                distinct, numbered = np.unique(of_clique, return_inverse=True)
                found[:, q] = n_columns + numbered
                n_columns += len(distinct)
            keys.append(own)
            columns.append(found)
            first.append(first[-1] + len(own))
        has_unknown = bool((cells == UNKNOWN_CELL).any())
        cells[cells == UNKNOWN_CELL] = first[-1]
        return cls(tuple(families), arities, cells, tuple(keys), np.array(first), tuple(columns), has_unknown)

    @property
    def n_cells(self) -> int:
        return int(self.first[-1]) + self.has_unknown

    @cached_property
    def n_columns(self) -> int:
        return 1 + max(int(own.max(initial=-1)) for own in self.columns)

    @cached_property
    def parts(self) -> Any:
        """Cells x columns, a sparse matrix with a one for each column of a cell."""
        from scipy.sparse import csr_array

        sizes = np.concatenate([np.full(len(own), own.shape[1]) for own in self.columns] + [self._of_no_columns])
        indices = np.concatenate([own.ravel() for own in self.columns])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return csr_array((np.ones(len(indices)), indices, starts), shape=(self.n_cells, self.n_columns))

    def sums(self, weights: Floats) -> Floats:
        """What every cell adds up to, cells x classes, for the weights (columns x classes)."""
        of_unknown = np.zeros((len(self._of_no_columns), weights.shape[1]))
        return np.concatenate([*(weights[own].sum(axis=1) for own in self.columns), of_unknown])

    @property
    def _of_no_columns(self) -> Ints:
        """The number of columns, 0, of the cell of families with unknown members, where there is one."""
        return np.zeros(int(self.has_unknown), dtype=np.int64)

    def tables(self, weights: Floats, n_classes: int) -> list[Floats]:
        """T_v of every family for the weights (columns x classes): an axis per member, the classes on the last.

        A cell that no row had is the sum of those of its cliques that some row had.
        """
        found = []
        for f, family in enumerate(self.families):
            shape = tuple(int(self.arities[v]) for v in family.members)
            table = np.zeros((*shape, n_classes))
            values = np.unravel_index(self.keys[f], shape) if shape else ()
            columns = self.columns[f]
            for q, clique in enumerate(family.cliques):
                axes = [family.members.index(v) for v in clique]
                part = np.zeros((*(shape[axis] for axis in axes), n_classes))
                if axes:
                    part[tuple(values[axis] for axis in axes)] = weights[columns[:, q]]
                else:
                    part[:] = weights[columns[0, q]]
                spread = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
                table += part.reshape(*spread, n_classes)
            found.append(table)
        return found


def _places(codes: NDArray[np.uint16], members: tuple[int, ...], shape: tuple[int, ...]) -> Ints:
    """The place of every row in the table over the members."""
    places = np.zeros(codes.shape[1], dtype=np.int64)
    for v, arity in zip(members, shape, strict=True):
        places *= arity
        places += codes[v]
    return places


def _distinct(places: Ints, size: int) -> tuple[Ints, Ints]:
    """The places that occur, ascending, and the position of every row's among them."""
    if size > 4 * len(places) + 1024:
        distinct, positions = np.unique(places, return_inverse=True)
        return distinct, positions
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[places] = True
    distinct = np.flatnonzero(occurs)
    numbered = np.empty(size, dtype=np.int64)
    numbered[distinct] = np.arange(len(distinct))
    return distinct, numbered[places]
