"""The global constraints that are linear in the family variables.

With arc(a, b) = sum of x(b, W) over W that hold a, and adjacent(a, b) = arc(a, b) + arc(b, a):

- required adjacency: adjacent(a, b) >= 1
- forbidden immorality a -> c <- b: sum of x(c, W) over W that hold a and b <= adjacent(a, b)
- number of edges: min_edges <= sum |W| x(v, W) <= max_edges
- TAN: sum of x(v, {class}) over the features v <= 1
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exactbnc.problem.problem import Problem
from exactbnc.solvers.ilp.model.model import Columns, Row


def linear_rows(problem: Problem, columns: Columns) -> Iterator[Row]:
    """One column per variable, then the global rules."""
    for v in range(columns.n_vars):
        yield Row.of(columns.of(v), lhs=1.0, rhs=1.0)
    for a, b in problem.pairs("required_adjacencies"):
        yield Row.of(_adjacent(columns, a, b), lhs=1.0)
    for a, c, b in problem.pairs("forbidden_immoralities"):
        if a != b:
            yield _forbidden_immorality(columns, a, c, b)
    least, most = problem.constraints.min_edges, problem.constraints.max_edges
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


def _forbidden_immorality(columns: Columns, a: int, c: int, b: int) -> Row:
    both = sorted(set(columns.holding(a, c)).intersection(columns.holding(b, c)))
    adjacent = _adjacent(columns, a, b)
    # c is neither a nor b here unless `both` is empty, so no column occurs twice.
    coefficients = np.concatenate([np.ones(len(both)), -np.ones(len(adjacent))])
    return Row(np.array([*both, *adjacent], dtype=np.int64), coefficients, rhs=0.0)
