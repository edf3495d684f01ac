"""Split a problem where no directed cycle can run.

Draw an arc from every variable to each child that has it in some family left, and from a to b for every precedence
pair. A cycle of a network, or one with the order asked for, lies inside a strongly connected component of that graph,
so components can be solved one by one: a child's parents outside its component are free, and among families with the
same parents inside only the best counts. Constraints on the network as a whole (edge counts, ancestors, ...) forbid it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from exactbnc.constraints import Constraints
from exactbnc.dag import DAG
from exactbnc.problem import Problem
from scorecache.cache import ScoreCache


@dataclass(frozen=True, eq=False)
class Component:
    """The variables of one component, its own problem, and the family behind each of its parent sets.

    `family_of[v][inside]` is the number of the best family of variable v whose parents inside the component are these.
    """

    variables: tuple[int, ...]
    problem: Problem
    family_of: dict[int, dict[frozenset[int], int]]


def components(problem: Problem) -> Iterator[Component]:
    """The components of a problem without global rules."""
    labels = _labels(problem)
    for label in range(labels.max() + 1):
        variables = tuple(np.flatnonzero(labels == label).tolist())
        yield _component(problem, variables)


def assemble(problem: Problem, parts: list[tuple[Component, DAG]]) -> DAG:
    """One network from the components' networks."""
    parents: list[tuple[int, ...]] = [()] * problem.n_vars
    for component, dag in parts:
        for position, v in enumerate(component.variables):
            inside = frozenset(component.variables[parent] for parent in dag.parents[position])
            parents[v] = problem.families.parents_of(component.family_of[v][inside])
    return DAG(problem.names, tuple(parents))


def _labels(problem: Problem) -> np.ndarray:
    families, n = problem.families, problem.n_vars
    child = np.repeat(np.arange(n), np.diff(families.child_start))
    entry_child = np.repeat(child, np.diff(families.parent_start))
    tails = np.concatenate([families.parents, [a for a, _ in problem.precedence]]).astype(np.int64)
    heads = np.concatenate([entry_child, [b for _, b in problem.precedence]]).astype(np.int64)
    graph = coo_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(n, n))
    _, labels = connected_components(graph.tocsr(), directed=True, connection="strong")
    return np.asarray(labels)


def _component(problem: Problem, variables: tuple[int, ...]) -> Component:
    inside_of = set(variables)
    position = {v: i for i, v in enumerate(variables)}
    family_of: dict[int, dict[frozenset[int], int]] = {}
    listed: list[list[tuple[float, tuple[int, ...]]]] = []
    for v in variables:
        own: dict[frozenset[int], int] = {}
        for family in range(problem.families.child_start[v], problem.families.child_start[v + 1]):
            inside = inside_of.intersection(problem.families.parents_of(family))
            own.setdefault(frozenset(inside), family)  # families come best first
        family_of[v] = own
        listed.append(
            [(float(problem.families.scores[f]), tuple(position[p] for p in inside)) for inside, f in own.items()]
        )
    names = [problem.names[v] for v in variables]
    order = [
        (problem.names[a], problem.names[b]) for a, b in problem.precedence if a in inside_of and b in inside_of
    ]
    cache = ScoreCache.from_families(names, listed)
    return Component(variables, Problem(cache, Constraints.of(order=order)), family_of)
