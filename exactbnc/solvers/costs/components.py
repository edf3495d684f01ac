"""Split a problem where no directed cycle can run.

Draw an arc from every variable to each child that has it in some family left, and from a to b for every precedence
pair. A cycle of a network, or one with the order asked for, lies inside a strongly connected component of that graph,
so components can be solved one by one: a child's parents outside its component are free, and among families with the
same parents inside only the best counts. Constraints on the network as a whole (edge counts, ancestors, ...) forbid it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.solvers.costs.graph import Ints, owners, possible_arcs, strong_components
from scorecache.cache import ScoreCache


@dataclass(frozen=True, eq=False)
class Component:
    """The variables of one component, its own problem, and the family behind each of its parent sets.

    `family_of[i][inside]` is the number of the best family of `variables[i]` whose parents inside the component are
    these, numbered within it.
    """

    variables: tuple[int, ...]
    problem: Problem
    family_of: tuple[dict[tuple[int, ...], int], ...]


def is_one_component(problem: Problem) -> bool:
    """Can a cycle run through all variables? Then there is nothing to split; listing a million families takes long."""
    return int(_labels(problem)[0].max()) == 0


def components(problem: Problem, check: Callable[[], None]) -> Iterator[Component]:
    """The components of a problem without global rules; `check` is called between variables, and may raise."""
    families = problem.families
    label, place = _labels(problem)
    child, family = owners(families)
    is_inside = label[families.parents] == label[child[family]]
    inside = place[families.parents[is_inside]].tolist()
    start = np.concatenate([[0], np.cumsum(np.bincount(family[is_inside], minlength=len(child)))]).tolist()
    for own in range(label.max() + 1):
        variables = tuple(np.flatnonzero(label == own).tolist())
        family_of, listed = [], []
        for v in variables:
            check()
            numbers: dict[tuple[int, ...], int] = {}
            for f in range(families.child_start[v], families.child_start[v + 1]):
                numbers.setdefault(tuple(inside[start[f] : start[f + 1]]), f)  # families come best first
            family_of.append(numbers)
            listed.append(list(zip(families.scores[list(numbers.values())].tolist(), numbers, strict=True)))
        names = [problem.names[v] for v in variables]
        order = [(problem.names[a], problem.names[b]) for a, b in problem.precedence if label[a] == label[b] == own]
        cache = ScoreCache.from_families(names, listed)
        yield Component(variables, Problem(cache, Constraints(order=order)), tuple(family_of))


def assemble(problem: Problem, parts: list[tuple[Component, DAG]]) -> DAG:
    """One network from the components' networks."""
    parents: list[tuple[int, ...]] = [()] * problem.n_vars
    for component, dag in parts:
        for v, family_of, inside in zip(component.variables, component.family_of, dag.parents, strict=True):
            parents[v] = problem.families.parents_of(family_of[inside])
    return DAG(problem.names, tuple(parents))


def restricted(dag: DAG, part: Component) -> DAG:
    """The arcs of a network inside a component."""
    inside = set(part.variables)
    position = {v: i for i, v in enumerate(part.variables)}
    chosen = [[position[p] for p in dag.parents[v] if p in inside] for v in part.variables]
    return DAG.of(part.problem.names, chosen)


def _labels(problem: Problem) -> tuple[Ints, Ints]:
    """Per variable its component, and its place among the variables of it."""
    arcs = possible_arcs(problem)
    for earlier, later in problem.precedence:
        arcs[earlier, later] = True
    label = strong_components(arcs)
    place = np.zeros_like(label)
    by_label = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    place[by_label] = np.arange(len(label)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return label, place
