"""What an integral point violates, as valid inequalities that cut it off: cycles, ancestors, undirected shape.

- a cycle through the variables C, precedence arcs included: the cluster inequality of C
  (`exactbnc.solvers.bounds.cuts.cluster`);
- a forbidden ancestor with the path a = v_0 -> v_1 -> ... -> v_m = b: sum_i arc(v_{i-1}, v_i) <= m - 1;
- a required ancestor a of b, where R is what a reaches and b is not in R: some arc leaves R,
  sum of x(v, W) over v not in R and W n R != {} >= 1;
- polytrees, chordal graphs and independences: `exactbnc.solvers.ilp.model.graph_rows`.

If nothing is violated, the point is a network that satisfies every rule beyond the linear rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from exactbnc.problem.problem import Problem
from exactbnc.solvers.bounds.cuts.cluster import cycle_clusters
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.ilp.model.cut_rows import cut_rows
from exactbnc.solvers.ilp.model.graph_rows import chordal_rows, independence_rows, path_to, polytree_rows, reach
from exactbnc.solvers.ilp.model.model import Columns, Row, packed

Pair = tuple[int, ...]
Independence = tuple[int, int, frozenset[int]]


@dataclass(frozen=True)
class NetworkRules:
    """Pairs (ancestor, descendant) and independences (a, b, given) by index, and what the skeleton must be."""

    required_ancestors: tuple[Pair, ...] = ()
    forbidden_ancestors: tuple[Pair, ...] = ()
    independences: tuple[Independence, ...] = ()
    chordal: bool = False
    polytree: bool = False

    @classmethod
    def of(cls, problem: Problem) -> NetworkRules:
        """The rules of a problem; that a variable is no ancestor of itself is acyclicity."""
        return cls(
            tuple(problem.pairs("required_ancestors")),
            tuple((a, b) for a, b in problem.pairs("forbidden_ancestors") if a != b),
            tuple(problem.separations),
            problem.constraints.chordal,
            problem.constraints.polytree,
        )


def violated_rows(columns: Columns, rules: NetworkRules, chosen: Ints) -> Iterator[Row]:
    """Rows that the point with these columns violates; none if and only if it is feasible."""
    cycles = cycle_clusters([columns.before_of(column) for column in chosen.tolist()])
    is_member = np.zeros((len(cycles), columns.n_vars), dtype=np.bool_)
    for cycle, own in zip(cycles, is_member, strict=True):
        own[list(cycle)] = True
    yield from cut_rows(columns, cluster_cuts(packed(is_member), 1))
    parents = [columns.parents_of(column) for column in chosen.tolist()]
    if rules.polytree:
        yield from polytree_rows(columns, parents)
    if rules.chordal:
        yield from chordal_rows(columns, parents)
    for a, b, given in rules.independences:
        yield from independence_rows(columns, parents, a, b, given)
    if not (rules.required_ancestors or rules.forbidden_ancestors):
        return
    children: list[list[int]] = [[] for _ in columns.names]
    for child, own_parents in enumerate(parents):
        for parent in own_parents:
            children[parent].append(child)
    for ancestor, descendant in rules.forbidden_ancestors:
        came_from = reach(children, ancestor)
        if descendant in came_from:
            yield path_row(columns, path_to(descendant, came_from))
    for ancestor, descendant in rules.required_ancestors:
        reached = reach(children, ancestor)
        if descendant not in reached:
            yield leaving_row(columns, reached)


def path_row(columns: Columns, path: Sequence[int]) -> Row:
    """Not all arcs of the path."""
    arcs = list(pairwise(path))
    held = [column for parent, child in arcs for column in columns.holding(parent, child)]
    return Row.of(held, rhs=len(arcs) - 1.0)


def leaving_row(columns: Columns, reached: Collection[int]) -> Row:
    """Some arc leaves these variables."""
    leaving = [
        column
        for child in range(columns.n_vars)
        if child not in reached
        for column in columns.of(child)
        if any(parent in reached for parent in columns.parents_of(column))
    ]
    return Row.of(leaving, lhs=1.0)
