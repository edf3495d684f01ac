"""The essential graph (CPDAG) of a network: what all its Markov equivalent networks share.

Two DAGs are equivalent iff they have the same skeleton and the same immoralities (Verma and Pearl 1990). An arc is
*compelled* if every equivalent DAG has it, else *reversible*. D. M. Chickering (A Transformational Characterization of
Equivalent Bayesian Network Structures, UAI 1995) finds the compelled arcs in one pass over the children y in
topological order; the last parent x of y decides for all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from exactbnc.graph.dag import DAG, Arc

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class CPDAG:
    """Compelled arcs (parent, child) and reversible edges, each edge with the earlier variable first."""

    names: tuple[str, ...]
    arcs: tuple[Arc, ...]
    edges: tuple[tuple[str, str], ...]

    def to_networkx(self) -> networkx.DiGraph:
        """The graph as one of networkx, a reversible edge as two arcs; the edge attribute `compelled` tells them apart.

        Examples
        --------
        >>> list(cpdag(DAG.from_modelstring("[A][B|A]")).to_networkx().edges(data="compelled"))
        [('A', 'B', False), ('B', 'A', False)]
        """
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.arcs, compelled=True)
        graph.add_edges_from(self.edges, compelled=False)
        graph.add_edges_from(((b, a) for a, b in self.edges), compelled=False)
        return graph


def cpdag(dag: DAG, *, class_name: str | None = None, numbers: Collection[str] = ()) -> CPDAG:
    """The essential graph of a network.

    Parameters
    ----------
    dag : DAG
    class_name : str, optional
        A class that is a parent of the features in all networks considered: its arcs stay, and equivalence is judged
        without them.
    numbers : collection of str
        Variables that are numbers, and so parents of no other kind of variable: an arc from a variable with states to
        one of them stays, with all that follows from it (Meek 1995).

    Returns
    -------
    CPDAG
        The arcs that every equivalent network has, and the edges whose direction no data can determine.

    Examples
    --------
    >>> cpdag(DAG.from_modelstring("[A][B][C|A:B][D|C]"))
    CPDAG(names=('A', 'B', 'C', 'D'), arcs=(('A', 'C'), ('B', 'C'), ('C', 'D')), edges=())
    >>> cpdag(DAG.from_modelstring("[A][B|A][C|B]")).edges
    (('A', 'B'), ('B', 'C'))
    >>> cpdag(DAG.from_modelstring("[A][B|A][C|B]"), numbers=["B", "C"]).arcs
    (('A', 'B'), ('B', 'C'))
    """
    if class_name is not None:
        of_class = tuple(arc for arc in dag.arcs if arc[0] == class_name)
        others = DAG.from_arcs(dag.names, [arc for arc in dag.arcs if arc[0] != class_name])
        rest = cpdag(others, numbers=numbers)
        return CPDAG(dag.names, of_class + rest.arcs, rest.edges)
    compelled = _compelled_parents(dag)
    if numbers:
        compelled = _with_numbers(dag, compelled, {v for v, name in enumerate(dag.names) if name in numbers})
    pairs = [(x, y) for y, parents in enumerate(dag.parents) for x in parents]
    arcs = tuple((dag.names[x], dag.names[y]) for x, y in pairs if x in compelled[y])
    edges = sorted((min(x, y), max(x, y)) for x, y in pairs if x not in compelled[y])
    return CPDAG(dag.names, arcs, tuple((dag.names[x], dag.names[y]) for x, y in edges))


def _compelled_parents(dag: DAG) -> list[set[int]]:
    """Per variable, the parents whose arcs are compelled."""
    parents = [set(listed) for listed in dag.parents]
    position = {v: place for place, v in enumerate(dag.order)}
    compelled: list[set[int]] = [set() for _ in parents]
    for y in dag.order:
        if parents[y]:
            x = max(parents[y], key=position.__getitem__)
            orients_x = not compelled[x] <= parents[y]  # w -> x -> y with w and y not adjacent
            meets_x = not parents[y] - {x} <= parents[x]  # z -> y <- x with z and x not adjacent
            # Else only w -> y with w -> x compelled is: reversing it would close a cycle.
            compelled[y] = parents[y] if orients_x or meets_x else compelled[x]
    return compelled


def _with_numbers(dag: DAG, compelled: list[set[int]], numbers: set[int]) -> list[set[int]]:
    """The compelled parents, where variables with states are no children of numbers: the closure under Meek's rules."""
    near: list[set[int]] = [set(parents) for parents in dag.parents]
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            near[parent].add(child)
    into = [own | {u for u in dag.parents[v] if v in numbers and u not in numbers} for v, own in enumerate(compelled)]
    open_arcs = {(u, v) for v, parents in enumerate(dag.parents) for u in parents if u not in into[v]}
    while True:
        # the direction that the rules compel is the one that the network has
        found = {(a, b) for a, b in open_arcs if _is_oriented(a, b, near, into, open_arcs)}
        if not found:
            return into
        open_arcs -= found
        for a, b in found:
            into[b].add(a)


def _is_oriented(a: int, b: int, near: list[set[int]], into: list[set[int]], open_arcs: set[tuple[int, int]]) -> bool:
    """Does one of Meek's four rules turn the edge a - b into a -> b?"""
    if into[a] - near[b]:  # c -> a, and c is not adjacent to b
        return True
    if any(a in into[c] for c in into[b]):  # a -> c -> b
        return True
    beside = {c for c in near[a] if (a, c) in open_arcs or (c, a) in open_arcs} - {b}
    if any(d not in near[c] for c, d in combinations(sorted(beside & into[b]), 2)):  # a - c -> b, a - d -> b
        return True
    # a - c -> d -> b, with a and d adjacent, c and b not
    return any(c in into[d] and c not in near[b] for d in into[b] & near[a] for c in beside)
