"""S2TMB: parents, children and spouses of a target from exact networks over few variables.

    for X in V - {T}:              Z = {T} + PC + {X};        PC <- neighbours of T in the best network over Z
    for X in V - {T} - PC:         Z = {T} + PC + SP + {X};   PC, SP <- neighbours, spouses of T in the best one over Z

The best network is that of the largest BDeu score, proved. Where the first pass takes a descendant of T that is not a
child, the spouses of the second drive it out; no search from the other variable's side (symmetry) is needed. Spouses
are the parents of T's children that are not next to T; they and the neighbours are the same in all equivalent networks.
Variables come in the order of the data. `max_parents` limits the networks (None: no limit, as in the reference); the
time grows exponentially with the largest Z.
Reference: T. Gao, Q. Ji, "Efficient score-based Markov blanket discovery", International Journal of Approximate
Reasoning 80, 2017.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection._search import ParentChildSearch, named, targets_of
from exactbnc.problem.problem import Problem
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores import make_score
from scorecache.scores._base import require_positive
from scorecache.scoring.build import build_cache

MAX_PARENTS = 3
"""Without a limit the time has no bound."""


@dataclass(frozen=True)
class S2TMB(ParentChildSearch):
    """Score-based search with exact networks inside."""

    name: ClassVar[str] = "s2tmb"
    title: ClassVar[str] = "score-based simultaneous Markov blanket"
    reference: ClassVar[str] = "Gao, Ji (2017)"

    ess: float = 1.0
    max_parents: int | None = MAX_PARENTS

    def __post_init__(self) -> None:
        require_positive(self.name, "ess", self.ess)
        if self.max_parents is not None and self.max_parents < 1:
            raise ParameterError(
                f"The 'max_parents' parameter of {self.name} must be None or at least 1. "
                f"Got {self.max_parents!r} instead."
            )

    def all_parents_and_children(
        self, dataset: Dataset, target_names: Collection[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """One search after the other; a network over the same variables is learned once."""
        targets = targets_of(dataset, target_names)
        networks = _Networks(dataset, self)
        return {dataset.names[t]: named(dataset, networks.around(t).neighbours) for t in targets}

    def markov_blanket(self, dataset: Dataset, target_name: str) -> tuple[str, ...]:
        """Parents, children and spouses, in the order of the data."""
        (target,) = targets_of(dataset, [target_name])
        found = _Networks(dataset, self).around(target)
        return named(dataset, found.neighbours | found.spouses)


@dataclass(frozen=True)
class _Surroundings:
    neighbours: frozenset[int] = frozenset()
    spouses: frozenset[int] = frozenset()


class _Networks:
    """The best networks over subsets of the variables, each learned once."""

    def __init__(self, dataset: Dataset, search: S2TMB) -> None:
        self._dataset = dataset
        self._score = make_score("bdeu", ess=search.ess)
        self._max_parents = search.max_parents
        self._known: dict[tuple[int, ...], DAG] = {}

    def around(self, target: int) -> _Surroundings:
        """Both passes."""
        others = [x for x in range(self._dataset.n_vars) if x != target]
        found = _Surroundings()
        for x in others:
            found = _Surroundings(self._read(target, found.neighbours | {x}).neighbours)
        for x in others:
            if x not in found.neighbours | found.spouses:
                found = self._read(target, found.neighbours | found.spouses | {x})
        return found

    def _read(self, target: int, others: frozenset[int]) -> _Surroundings:
        variables = tuple(sorted(others | {target}))
        if variables not in self._known:
            self._known[variables] = self._best(variables)
        parents = [{variables[p] for p in listed} for listed in self._known[variables].parents]
        own = parents[variables.index(target)]
        children = {v for v, listed in zip(variables, parents, strict=True) if target in listed}
        of_children = {p for v, listed in zip(variables, parents, strict=True) if v in children for p in listed}
        neighbours = frozenset(own | children)
        return _Surroundings(neighbours, frozenset(of_children - neighbours - {target}))

    def _best(self, variables: tuple[int, ...]) -> DAG:
        part = self._dataset.columns([self._dataset.names[v] for v in variables])
        limit = None if self._max_parents is None else min(self._max_parents, len(variables) - 1)
        dag = solve(Problem(build_cache(part, self._score, max_parents=limit, n_jobs=1))).dag
        assert dag is not None  # without limits and constraints there always is one
        return dag
