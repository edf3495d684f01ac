"""The integer program in arrays: one binary column x(v, W) per family, linear rows, and costs to minimise.

    minimise  sum c(v, W) x(v, W),   c(v, W) = best(v) - score(v, W) >= 0,   sum_W x(v, W) = 1 for every v

so that score = constant - cost with constant = sum_v best(v). This is the only place where the sense is turned.

For acyclicity a precedence pair (a, b) is an arc that is always there: W' = W + {a : (a, b) in precedence}. Members of
W' outside the child's strong component of the could-come-before graph lie on no cycle and are left out, so the class of
a classifier, which has no parents, is in no cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from exactbnc.dag import DAG
from exactbnc.problem import Problem

Ints = NDArray[np.int64]
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
    """The families as columns, per child best first; parents W and the members of W' in compressed rows."""

    names: tuple[str, ...]
    child_start: Ints
    child: Ints
    scores: Floats
    cost: Floats
    parent_start: Ints
    parents: Ints
    before_start: Ints
    before: Ints

    @property
    def n_vars(self) -> int:
        return len(self.names)

    @property
    def n_columns(self) -> int:
        return len(self.child)

    @property
    def constant(self) -> float:
        """The score of cost 0: every variable with its best family."""
        return math.fsum(self.scores[self.child_start[:-1]].tolist())

    @property
    def sizes(self) -> Ints:
        """|W| of every column."""
        return np.diff(self.parent_start)

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
    child = np.repeat(np.arange(problem.n_vars), np.diff(families.child_start))
    best = families.scores[families.child_start[:-1]]
    before_start, before = _members_on_cycles(problem, child)
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
    )


def _members_on_cycles(problem: Problem, child: Ints) -> tuple[Ints, Ints]:
    """W' of every column, restricted to the child's strong component, in compressed rows."""
    families, n = problem.families, problem.n_vars
    earlier: list[list[int]] = [[] for _ in range(n)]
    for a, b in sorted(problem.precedence):
        earlier[b].append(a)
    members = [sorted({*families.parents_of(f), *earlier[v]}) for f, v in enumerate(child.tolist())]
    sizes = np.array([len(listed) for listed in members], dtype=np.int64)
    flat = np.array([member for listed in members for member in listed], dtype=np.int64)
    entry = np.repeat(np.arange(len(members)), sizes)
    could_precede = csr_matrix((np.ones(len(flat)), (flat, child[entry])), shape=(n, n))
    _, component = connected_components(could_precede, directed=True, connection="strong")
    stays = component[flat] == component[child[entry]]
    kept = np.bincount(entry[stays], minlength=len(members))
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int64), flat[stays]
