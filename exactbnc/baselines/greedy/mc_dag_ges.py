"""MC-DAG-GES: greedy equivalence search on the conditional log-likelihood, among minimal class-focused DAGs.

In an MC-DAG every arc points to a child of the class: the class has no parents, and a feature either is a child of the
class, with any features as further parents, or has no parents at all. These are the fewest DAGs that give every
posterior of the class that a Bayesian network can give, the other values being known.

Greedy equivalence search goes from one class of Markov equivalent DAGs to the next: from the empty network the best
arc is added to any MC-DAG of the class while that raises the CLL, then the best arc is deleted from any MC-DAG of the
class while that does. Equivalent DAGs have the same maximum-likelihood CLL, so one of them represents all. What the
MC-DAGs of a class may differ in are the arcs between children of the class that its essential graph leaves undirected;
their components are chordal, and for every clique of neighbours of y there is an MC-DAG in which that clique and the
arcs that are directed are all that points to y (put the clique first, then y, in a maximum cardinality search).

The papers at hand define the space, the search and the score; they do not say how operators are validated. We take the
neighbourhood by its definition, all MC-DAGs one arc away from some MC-DAG of the class, where the arc between class and
feature y can go only if y has no other parents. References: Mihaljevic, Bielza, Larranaga (2018), known to us from
Sugahara, Ueno, section 2.2; Chickering (2002), Optimal structure identification with greedy search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._ascent import Deadline, OnMove, SearchResult, ascend, classifier
from exactbnc.baselines.greedy._steps import ParentSets, Step, ancestors
from exactbnc.baselines.greedy.conditional import ConditionalScore
from exactbnc.graph.dag import DAG
from exactbnc.graph.equivalence import cpdag
from exactbnc.network.parameters import ParameterEstimator
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

MOST_CELLS = 2**22
"""No arc is added that would make a table larger (32 MiB): the CLL has no penalty, so tables grow until rows are
separated, and the parameters of the result have to fit into memory.
"""

Adjacency = list[set[int]]
Fits = Callable[[int, frozenset[int]], bool]
"""Whether a child may have these parents."""


@dataclass(frozen=True)
class MCDagGES:
    """MC-DAG-GES: greedy equivalence search on the conditional likelihood; see the module.

    Parameters
    ----------
    parameters : str or ParameterEstimator, default "eap"
    max_parents : int, optional
        The class counted; no limit by default, as in the papers.
    time_limit : float, optional
        In seconds.
    """

    parameters: str | ParameterEstimator = "eap"
    max_parents: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.max_parents is not None and self.max_parents < 1:
            raise ParameterError(f"max_parents must be at least 1, the class. Got {self.max_parents} instead.")

    @property
    def name(self) -> str:
        return "mc-dag-ges"

    def search(self, dataset: Dataset, class_name: str, *, on_move: OnMove | None = None) -> SearchResult:
        """An MC-DAG of the class of structures found; its score is the CLL."""
        deadline = Deadline.of(self.time_limit)
        empty: ParentSets = (frozenset(),) * dataset.n_vars
        objective = ConditionalScore(dataset, class_name, empty)
        target = dataset.index[class_name]
        limit = dataset.n_vars if self.max_parents is None else self.max_parents

        def fits(child: int, parents: frozenset[int]) -> bool:
            n_cells = math.prod(int(dataset.arities[v]) for v in (child, *parents))
            return len(parents) <= limit and n_cells <= MOST_CELLS

        grown = ascend(objective, lambda parents: insertions(parents, target, fits), deadline, on_move=on_move)
        shrunk = ascend(objective, lambda parents: deletions(parents, target), deadline, on_move=on_move)
        timed_out = grown.timed_out or shrunk.timed_out
        found = replace(shrunk, n_moves=grown.n_moves + shrunk.n_moves, timed_out=timed_out)
        return SearchResult.of(dataset.names, found, self.name)

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Search, then fit parameters."""
        return classifier(dataset, class_name, self.search(dataset, class_name), self.parameters)


def is_minimal_class_focused(dag: DAG, class_name: str) -> bool:
    """Whether every arc points to a child of the class."""
    target = dag.names.index(class_name)
    return all(target in parents for parents in dag.parents if parents)


def insertions(parents: ParentSets, target: int, fits: Fits) -> Iterator[Step]:
    """One arc more than some equivalent MC-DAG has.

    A neighbour of y that is adjacent to x is put before y: the other orders give the same classes again.
    """
    for y, chosen in enumerate(parents):
        if y != target and not chosen:
            yield Step(y, frozenset({target}))
    graph = _EssentialGraph.of(parents, target)
    for y, clique, member in graph.members():
        above = ancestors(member)
        for x in range(len(parents)):
            is_free = x not in (y, target) and x not in graph.adjacent[y] and not above[x] >> y & 1
            if is_free and graph.neighbours[y] & graph.adjacent[x] <= clique and fits(y, member[y] | {x}):
                yield _step(parents, member, y, member[y] | {x})


def deletions(parents: ParentSets, target: int) -> Iterator[Step]:
    """One arc fewer than some equivalent MC-DAG has."""
    graph = _EssentialGraph.of(parents, target)
    for y, _, member in graph.members():
        if member[y] == {target}:
            yield _step(parents, member, y, frozenset())
        for x in sorted(member[y] - {target}):
            yield _step(parents, member, y, member[y] - {x})


def _step(parents: ParentSets, member: ParentSets, y: int, chosen: frozenset[int]) -> Step:
    """From one MC-DAG to another one of its class, and the parents of y changed there."""
    differing = ((v, member[v]) for v in range(len(parents)) if v != y and member[v] != parents[v])
    return Step(y, chosen, tuple(differing))


@dataclass(frozen=True)
class _EssentialGraph:
    """What the equivalent MC-DAGs share: directed parents; undirected neighbours, all of them children of the class."""

    parents: ParentSets
    target: int
    directed: list[frozenset[int]]
    neighbours: Adjacency
    adjacent: Adjacency

    @classmethod
    def of(cls, parents: ParentSets, target: int) -> _EssentialGraph:
        """The essential graph with the class before its children, which directs no other edge."""
        dag = DAG.of(map(str, range(len(parents))), parents)
        neighbours: Adjacency = [set() for _ in parents]
        adjacent: Adjacency = [set() for _ in parents]
        for first, second in cpdag(dag).edges:
            x, y = int(first), int(second)
            if target not in (x, y):
                neighbours[x].add(y)
                neighbours[y].add(x)
        for y, chosen in enumerate(parents):
            for x in chosen:
                adjacent[x].add(y)
                adjacent[y].add(x)
        directed = [chosen - neighbours[y] for y, chosen in enumerate(parents)]
        return cls(parents, target, directed, neighbours, adjacent)

    def members(self) -> Iterator[tuple[int, frozenset[int], ParentSets]]:
        """For every child y of the class and every clique of its neighbours, an MC-DAG where just these precede y."""
        for y, chosen in enumerate(self.parents):
            if self.target in chosen:
                for clique in self._cliques(sorted(self.neighbours[y])):
                    yield y, clique, self._member(y, clique)

    def _cliques(self, among: list[int]) -> Iterator[frozenset[int]]:
        """All sets of pairwise adjacent vertices, the empty one first."""
        yield frozenset()
        for place, v in enumerate(among):
            later = [u for u in among[place + 1 :] if u in self.adjacent[v]]
            for clique in self._cliques(later):
                yield clique | {v}

    def _member(self, y: int, clique: frozenset[int]) -> ParentSets:
        """Direct the edges of y's component along a maximum cardinality search that begins with the clique and y."""
        placed: list[int] = []
        seen_by = dict.fromkeys(self._component(y), 0)
        changed = list(self.parents)
        seeds = [y, *sorted(clique, reverse=True)]
        while seen_by:
            v = seeds.pop() if seeds else max(sorted(seen_by), key=seen_by.__getitem__)
            del seen_by[v]
            changed[v] = self.directed[v] | self.neighbours[v].intersection(placed)
            placed.append(v)
            for u in self.neighbours[v]:
                if u in seen_by:
                    seen_by[u] += 1
        return tuple(changed)

    def _component(self, y: int) -> list[int]:
        found, waiting = {y}, [y]
        while waiting:
            for u in self.neighbours[waiting.pop()] - found:
                found.add(u)
                waiting.append(u)
        return sorted(found)
