"""Rows of the rules on ancestors and immoralities that a fractional point violates.

With arc(u, v) = sum of x(v, W) over the W that hold u:

- required ancestor a of b: a minimum cut between a and b with the capacities arc(u, v) is the set R of a row
  "some arc leaves R" (`exactbnc.solvers.ilp.model.integral`), whose left side is at most the cut;
- forbidden ancestor a of b: the row of a path from a to b is violated if its lengths 1 - arc(u, v) add up to less
  than 1;
- chordal: the row of a -> c <- b is violated if the sum of x(c, W) over W that hold a and b is above arc(a, b) +
  arc(b, a).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import combinations

import numpy as np

from exactbnc.solvers.ilp.model.graph_rows import path_to, reach
from exactbnc.solvers.ilp.model.integral import NetworkRules, leaving_row, path_row
from exactbnc.solvers.ilp.model.model import Columns, Floats, Row, forbidden_immorality

VIOLATION = 1e-3
"""Rows that are violated by less are left to later points."""


def violated_rule_rows(columns: Columns, values: Floats, rules: NetworkRules) -> Iterator[Row]:
    """Rows that these values of the columns violate."""
    positive = np.flatnonzero(values > VIOLATION).tolist()
    arc = np.zeros((columns.n_vars, columns.n_vars))
    for column in positive:
        arc[list(columns.parents_of(column)), columns.child[column]] += values[column]
    for a, b in rules.required_ancestors:
        row = leaving_row(columns, source_side(arc, a, b))
        if values[row.columns].sum() < 1 - VIOLATION:
            yield row
    for a, b in rules.forbidden_ancestors:
        path = shortest_path(np.maximum(1 - arc, 0.0), a, b)
        if path:
            yield path_row(columns, path)
    if rules.chordal:
        both: dict[tuple[int, int, int], float] = {}
        for column in positive:
            for a, b in combinations(columns.parents_of(column), 2):
                key = (a, int(columns.child[column]), b)
                both[key] = both.get(key, 0.0) + values[column]
        for (a, c, b), held in both.items():
            if held > arc[a, b] + arc[b, a] + VIOLATION:
                yield forbidden_immorality(columns, a, c, b)


def source_side(capacity: Floats, source: int, target: int) -> set[int]:
    """The variables on the source's side of a minimum cut.

    >>> sorted(source_side(np.array([[0, 0.9, 0], [0, 0, 0.2], [0, 0, 0]]), 0, 2))
    [0, 1]
    """
    left = capacity.copy()
    while True:
        came_from = reach([np.flatnonzero(own > VIOLATION).tolist() for own in left], source)
        if target not in came_from:
            return set(came_from)
        path = path_to(target, came_from)
        tails, heads = path[:-1], path[1:]
        flow = left[tails, heads].min()
        left[tails, heads] -= flow
        left[heads, tails] += flow


def shortest_path(length: Floats, source: int, target: int) -> list[int]:
    """The variables of a path shorter than 1; empty if there is none.

    >>> shortest_path(np.array([[1, 0.2, 1], [1, 1, 0.3], [1, 1, 1]]), 0, 2)
    [0, 1, 2]
    """
    found = {source: (0.0, source)}
    waiting = [(0.0, source)]
    while waiting:
        distance, v = heappop(waiting)
        if distance > found[v][0]:
            continue
        if v == target:
            return path_to(v, {own: before for own, (_, before) in found.items()})
        for other in np.flatnonzero(length[v] < 1 - VIOLATION - distance).tolist():
            reached = distance + float(length[v, other])
            if other not in found or reached < found[other][0]:
                found[other] = reached, v
                heappush(waiting, (reached, other))
    return []
