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

from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.solvers.costs.graph import Ints, possible_arcs, strong_components
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


def restricted(dag: DAG, part: Component) -> DAG:
    """The arcs of a network inside a component."""
    inside = set(part.variables)
    position = {v: i for i, v in enumerate(part.variables)}
    chosen = [[position[p] for p in dag.parents[v] if p in inside] for v in part.variables]
    return DAG.of(part.problem.names, chosen)


def _labels(problem: Problem) -> Ints:
    arcs = possible_arcs(problem)
    for earlier, later in problem.precedence:
        arcs[earlier, later] = True
    return strong_components(arcs)


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
    order = [(problem.names[a], problem.names[b]) for a, b in problem.precedence if a in inside_of and b in inside_of]
    cache = ScoreCache.from_families(names, listed)
    return Component(variables, Problem(cache, Constraints(order=order)), family_of)
