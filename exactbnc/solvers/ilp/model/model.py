"""The integer program in arrays: one binary column x(v, W) per family, linear rows, and costs to minimise.

    minimise  sum c(v, W) x(v, W),   c(v, W) = best(v) - score(v, W) >= 0,   sum_W x(v, W) = 1 for every v

so that score = constant - cost with constant = sum_v best(v). This is the only place where the sense is turned.
For acyclicity W counts with those who must come before the child anyway, W' (`exactbnc.solvers.costs.graph`).

Global constraints that are linear, with arc(a, b) = sum of x(b, W) over W that hold a, and
adjacent(a, b) = arc(a, b) + arc(b, a):

- required adjacency: adjacent(a, b) >= 1
- forbidden immorality a -> c <- b: sum of x(c, W) over W that hold a and b <= adjacent(a, b)
- number of edges: min_edges <= sum |W| x(v, W) <= max_edges, and n - 1 in a polytree
- TAN: sum of x(v, {class}) over the features v <= 1
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.solvers.costs.graph import Ints, members_before, owners
from exactbnc.solvers.costs.table import WORD, Words

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Row:
    """lhs <= sum of coefficients * columns <= rhs; None: no bound on that side."""

    columns: Ints
    coefficients: Floats
    lhs: float | None = None
    rhs: float | None = None

    @classmethod
    def of(cls, columns: Sequence[int] | Ints, *, lhs: float | None = None, rhs: float | None = None) -> Row:
        """A row whose coefficients are all 1."""
        listed = np.asarray(columns, dtype=np.int64)
        return cls(listed, np.ones(len(listed)), lhs, rhs)


@dataclass(frozen=True, eq=False)
class Columns:
    """Families as columns, per child best first; parents W and the members of W' in compressed rows.

    `constant` is the score of cost 0: every variable with its best family, whether or not it is a column.
    """

    names: tuple[str, ...]
    child_start: Ints
    child: Ints
    scores: Floats
    cost: Floats
    parent_start: Ints
    parents: Ints
    before_start: Ints
    before: Ints
    constant: float

    @property
    def n_vars(self) -> int:
        return len(self.names)

    @property
    def n_columns(self) -> int:
        return len(self.child)

    @cached_property
    def masks(self) -> Words:
        """W' of every column, bit u % 64 of word u // 64 for member u."""
        column = np.repeat(np.arange(self.n_columns), np.diff(self.before_start))
        is_member = np.zeros((self.n_columns, self.n_vars), dtype=np.bool_)
        is_member[column, self.before] = True
        return packed(is_member)

    @property
    def sizes(self) -> Ints:
        """|W| of every column."""
        return np.diff(self.parent_start)

    def only(self, kept: Ints, cost: Floats) -> Columns:
        """Some of the columns, in the same order, with costs of their own."""
        child = self.child[kept]
        parent_start, parents = rows_of(self.parent_start, self.parents, kept)
        before_start, before = rows_of(self.before_start, self.before, kept)
        return Columns(
            names=self.names,
            child_start=np.searchsorted(child, np.arange(self.n_vars + 1)),
            child=child,
            scores=self.scores[kept],
            cost=cost,
            parent_start=parent_start,
            parents=parents,
            before_start=before_start,
            before=before,
            constant=self.constant,
        )

    def holds(self, u: int, listed: Ints) -> NDArray[np.bool_]:
        """Which of these columns hold variable u in W'."""
        words = self.masks[listed, u // WORD]
        return np.asarray((words >> np.uint64(u % WORD)) & np.uint64(1), dtype=np.bool_)

    def arcs(self, values: Floats) -> Floats:
        """y(u, v) = sum of x(v, W) over W with u in W', from the columns' values."""
        used = np.flatnonzero(values)
        start, members = rows_of(self.before_start, self.before, used)
        sums = np.zeros((self.n_vars, self.n_vars))
        np.add.at(sums, (members, np.repeat(self.child[used], np.diff(start))), np.repeat(values[used], np.diff(start)))
        return sums

    def parents_of(self, column: int) -> tuple[int, ...]:
        """W of a column."""
        return tuple(self.parents[self.parent_start[column] : self.parent_start[column + 1]].tolist())

    def before_of(self, column: int) -> tuple[int, ...]:
        """W' of a column, within the child's strong component."""
        return tuple(self.before[self.before_start[column] : self.before_start[column + 1]].tolist())

    def of(self, child: int) -> range:
        """The columns of a child."""
        return range(int(self.child_start[child]), int(self.child_start[child + 1]))

    def holding(self, parent: int, child: int) -> list[int]:
        """The columns whose sum is the arc from the parent to the child."""
        return [column for column in self.of(child) if parent in self.parents_of(column)]

    def chosen(self, values: Floats) -> Ints | None:
        """Per variable the column with value 1; None if the values are not integral."""
        chosen = np.flatnonzero(values > 0.5)
        is_integral = np.all(np.minimum(values, np.abs(1.0 - values)) < _INTEGRALITY)
        return chosen if is_integral and np.array_equal(self.child[chosen], np.arange(self.n_vars)) else None

    def dag(self, chosen: Ints) -> DAG:
        """The network of one column per variable."""
        return DAG(self.names, tuple(self.parents_of(column) for column in chosen.tolist()))

    def score(self, chosen: Ints) -> float:
        """The score of one column per variable."""
        return math.fsum(self.scores[chosen].tolist())

    def choice_of(self, dag: DAG) -> Ints | None:
        """The columns of a network over the same names; None if a family is not there."""
        chosen = [
            next((column for column in self.of(child) if self.parents_of(column) == wanted), -1)
            for child, wanted in enumerate(dag.parents)
        ]
        return None if -1 in chosen else np.array(chosen, dtype=np.int64)


_INTEGRALITY = 1e-4
"""Well above SCIP's 1e-6, so that what SCIP calls integral is, and far below 1/2."""


def columns_of(problem: Problem) -> Columns:
    """The columns of a problem, one per family and in the same order."""
    families = problem.families
    child, _ = owners(families)
    best = families.scores[families.child_start[:-1]]
    before_start, before = members_before(problem)
    return Columns(
        names=problem.names,
        child_start=families.child_start,
        child=child,
        scores=families.scores,
        cost=best[child] - families.scores,
        parent_start=families.parent_start,
        parents=families.parents.astype(np.int64),
        before_start=before_start,
        before=before,
        constant=math.fsum(best.tolist()),
    )


def rows_of(start: Ints, members: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Those rows of compressed rows."""
    sizes = np.diff(start)[rows]
    own_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = np.repeat(start[rows] - own_start[:-1], sizes) + np.arange(own_start[-1])
    return own_start, members[entries]


def packed(is_member: NDArray[np.bool_]) -> Words:
    """Sets of variables, one per row, as words."""
    n_sets, n_vars = is_member.shape
    padded = np.zeros((n_sets, -(-n_vars // WORD) * WORD), dtype=np.bool_)
    padded[:, :n_vars] = is_member
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def linear_rows(problem: Problem, columns: Columns) -> Iterator[Row]:
    """One column per variable, then the global rules."""
    for v in range(columns.n_vars):
        yield Row.of(columns.of(v), lhs=1.0, rhs=1.0)
    for a, b in problem.pairs("required_adjacencies"):
        yield Row.of(_adjacent(columns, a, b), lhs=1.0)
    for a, c, b in problem.pairs("forbidden_immoralities"):
        if a != b:
            yield forbidden_immorality(columns, a, c, b)
    least, most = problem.constraints.min_edges, problem.constraints.max_edges
    if problem.constraints.polytree:
        most = min(columns.n_vars - 1, columns.n_vars if most is None else most)
    if least is not None or most is not None:
        yield Row(np.arange(columns.n_columns), columns.sizes.astype(np.float64), least, most)
    if problem.constraints.structure == "tan":
        features = columns.child != problem.class_index
        yield Row.of(np.flatnonzero(features & (columns.sizes == 1)), rhs=1.0)


def is_contradictory(row: Row) -> bool:
    """A row without columns that 0 does not satisfy; SCIP takes no such row."""
    return not len(row.columns) and ((row.lhs is not None and row.lhs > 0) or (row.rhs is not None and row.rhs < 0))


def _adjacent(columns: Columns, a: int, b: int) -> list[int]:
    return [*columns.holding(a, b), *columns.holding(b, a)]


def forbidden_immorality(columns: Columns, a: int, c: int, b: int) -> Row:
    """a -> c <- b only if a and b are adjacent."""
    both = sorted(set(columns.holding(a, c)).intersection(columns.holding(b, c)))
    adjacent = _adjacent(columns, a, b)
    # c is neither a nor b here unless `both` is empty, so no column occurs twice.
    coefficients = np.concatenate([np.ones(len(both)), -np.ones(len(adjacent))])
    return Row(np.array([*both, *adjacent], dtype=np.int64), coefficients, rhs=0.0)
