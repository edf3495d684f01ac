"""What a network violates of the rules on its undirected shape and its independences, as inequalities that cut it off.

- polytree, for the variables S of an undirected cycle: sum of |W n S| x(v, W) over v in S <= |S| - 1;
- chordal: every immorality a -> c <- b is forbidden (`exactbnc.solvers.ilp.model.model`);
- A independent of B given C, with an active walk from a in A to b in B: its arcs, and for every collider a path to C,
  make the walk active in every network that has them. With D(v) the parents that these arcs give v,
  sum over the v with D(v) != {} of x(v, W) over W that hold D(v) <= (number of these v) - 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from exactbnc.solvers.ilp.model.model import Columns, Row, forbidden_immorality

Parents = Sequence[Sequence[int]]
Arc = tuple[int, int]


def polytree_rows(columns: Columns, parents: Parents) -> Iterator[Row]:
    """The row of the first undirected cycle, if there is one."""
    cycle = undirected_cycle(parents)
    if cycle:
        members = np.zeros(columns.n_vars, dtype=np.bool_)
        members[list(cycle)] = True
        inside = np.repeat(members[columns.child], columns.sizes) & members[columns.parents]
        owner = np.repeat(np.arange(columns.n_columns), columns.sizes)
        held = np.bincount(owner[inside], minlength=columns.n_columns)
        chosen = np.flatnonzero(held)
        yield Row(chosen, held[chosen].astype(np.float64), rhs=len(cycle) - 1.0)


def chordal_rows(columns: Columns, parents: Parents) -> Iterator[Row]:
    """A row for every immorality."""
    for c, own in enumerate(parents):
        for i, a in enumerate(own):
            for b in own[i + 1 :]:
                if a not in parents[b] and b not in parents[a]:
                    yield forbidden_immorality(columns, a, c, b)


def independence_rows(columns: Columns, parents: Parents, a: int, b: int, given: frozenset[int]) -> Iterator[Row]:
    """The row of an active walk from a to b, if there is one."""
    arcs = active_arcs(parents, a, b, given)
    if arcs is None:
        return
    needed: dict[int, set[int]] = {}
    for parent, child in arcs:
        needed.setdefault(child, set()).add(parent)
    held = [
        column
        for child, own in needed.items()
        for column in columns.of(child)
        if own.issubset(columns.parents_of(column))
    ]
    yield Row.of(held, rhs=len(needed) - 1.0)


def undirected_cycle(parents: Parents) -> list[int]:
    """The variables of a cycle of the skeleton, in order; empty if it is a forest.

    >>> sorted(undirected_cycle([[], [0], [0, 1]])), undirected_cycle([[], [0], [1]])
    ([0, 1, 2], [])
    """
    neighbours: list[list[int]] = [[] for _ in parents]
    for child, own in enumerate(parents):
        for parent in own:
            came_from = reach(neighbours, parent)
            if child in came_from:
                return path_to(child, came_from)
            neighbours[parent].append(child)
            neighbours[child].append(parent)
    return []


def reach(neighbours: Sequence[Sequence[int]], source: int) -> dict[int, int]:
    """Everything that the source reaches, itself included, with the predecessor on a shortest path."""
    came_from = {source: source}
    layer = [source]
    for v in layer:
        for other in neighbours[v]:
            if other not in came_from:
                came_from[other] = v
                layer.append(other)
    return came_from


def path_to(target: int, came_from: Mapping[int, int]) -> list[int]:
    """The path to a variable that was reached, from the source on."""
    path = [target]
    while came_from[path[-1]] != path[-1]:
        path.append(came_from[path[-1]])
    return path[::-1]


def active_arcs(parents: Parents, a: int, b: int, given: Collection[int]) -> set[Arc] | None:
    """Arcs that by themselves connect a with b given a set, on a shortest active walk; None if it separates them.

    >>> sorted(active_arcs([[], [], [0, 1], [2]], 0, 1, {3})), active_arcs([[], [], [0, 1], [2]], 0, 1, set())
    ([(0, 2), (1, 2), (2, 3)], None)
    """
    children: list[list[int]] = [[] for _ in parents]
    for child, own in enumerate(parents):
        for parent in own:
            children[parent].append(child)
    towards = _steps_to(parents, given)
    # a state is a variable and whether the walk came to it along an arc (down) or against one
    came_from: dict[tuple[int, bool], tuple[int, bool]] = {(a, False): (a, False)}
    waiting = [(a, False)]
    for state in waiting:
        v, down = state
        if v == b:
            return _arcs_of(state, came_from, towards)
        onward: list[tuple[int, bool]] = []
        if v not in given:
            onward += [(child, True) for child in children[v]]
        if (v in towards) if down else (v not in given):
            onward += [(parent, False) for parent in parents[v]]
        for other in onward:
            if other not in came_from:
                came_from[other] = state
                waiting.append(other)
    return None


def _steps_to(parents: Parents, given: Collection[int]) -> dict[int, int]:
    """Per ancestor of the given variables, the next variable on a shortest way to one; they themselves come first."""
    towards = {v: v for v in given}
    waiting = list(towards)
    for v in waiting:
        for parent in parents[v]:
            if parent not in towards:
                towards[parent] = v
                waiting.append(parent)
    return towards


def _arcs_of(
    end: tuple[int, bool], came_from: dict[tuple[int, bool], tuple[int, bool]], towards: dict[int, int]
) -> set[Arc]:
    """The arcs of a walk, and those by which its colliders reach the given variables."""
    walk = [end]
    while came_from[walk[-1]] != walk[-1]:
        walk.append(came_from[walk[-1]])
    walk.reverse()
    arcs: set[Arc] = set()
    for i, (v, down) in enumerate(walk):
        if i > 0:
            previous = walk[i - 1][0]
            arcs.add((previous, v) if down else (v, previous))
        if down and i + 1 < len(walk) and not walk[i + 1][1]:  # a collider
            while towards[v] != v:
                arcs.add((v, towards[v]))
                v = towards[v]
    return arcs
