"""Searches for the parents and children of a variable, and the sets that separate two variables.

A search is a frozen value with a name, its settings as fields, and one verb. Those by tests of independence have the
search for separating sets in common:

    MinAssoc(X; T | C) = min over S within C of Assoc(X; T | S)

Assoc is the p-value of the G^2 test reversed, ties broken by G^2. Sets are tried by size and, among those of a size, in
index order; S separates iff p > level, and the first one to do so ends the search, since no association is smaller than
none. Sets on which a test would not be reliable, or with more than `max_given` variables, are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, ClassVar, Protocol

from exactbnc.learning.selection.g2 import G2, G2Tests
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

LEVEL = 0.05
"""The significance level of Tsamardinos, Brown and Aliferis (2006)."""

MAX_GIVEN = 3
"""Tests given more variables are rarely reliable; without a limit their number doubles with every candidate."""


@dataclass(frozen=True)
class ParentChildSearch:
    """Finds the variables next to a target; the dataclass fields of a subclass are its settings."""

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]

    def parents_and_children(self, dataset: Dataset, target_name: str) -> tuple[str, ...]:
        """The parents and children of a variable, in the order of the data."""
        return self.all_parents_and_children(dataset, [target_name])[target_name]

    def all_parents_and_children(
        self, dataset: Dataset, target_names: Collection[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """The same for several targets (None: all columns); what one of them found out helps the next."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class IndependenceSearch(ParentChildSearch):
    """A search by tests of independence at a level, given at most `max_given` variables (None: no limit)."""

    level: float = LEVEL
    max_given: int | None = MAX_GIVEN

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ParameterError(f"The 'level' parameter of {self.name} must be in (0, 1). Got {self.level!r} instead.")
        if self.max_given is not None and self.max_given < 0:
            raise ParameterError(
                f"The 'max_given' parameter of {self.name} must be None or at least 0. Got {self.max_given!r} instead."
            )

    def all_parents_and_children(
        self, dataset: Dataset, target_names: Collection[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """One search after the other, with the same tests."""
        targets = targets_of(dataset, target_names)
        separation = self.separation(dataset)
        return {dataset.names[t]: named(dataset, self.neighbours(separation, t)) for t in targets}

    def separation(self, dataset: Dataset) -> Separation:
        """G^2 tests on the data, none of which is made twice, at the search's level."""
        return Separation(G2Tests(dataset), self.level, self.max_given)

    def neighbours(self, separation: Separation, target: int) -> Collection[int]:
        """The search itself, on numbers."""
        raise NotImplementedError


def targets_of(dataset: Dataset, names: Collection[str] | None) -> list[int]:
    """The numbers of the targets (None: all); an error lists the columns if one is unknown."""
    for name in names or ():
        dataset.column(name)
    return list(range(dataset.n_vars)) if names is None else [dataset.index[name] for name in names]


def named(dataset: Dataset, variables: Collection[int]) -> tuple[str, ...]:
    """The names of variables, in the order of the data."""
    return tuple(dataset.names[v] for v in sorted(variables))


@dataclass(frozen=True)
class Weakest:
    """The set given which X and T are least associated, and the outcome of that test."""

    given: tuple[int, ...]
    outcome: G2
    separates: bool

    @property
    def association(self) -> tuple[float, float]:
        return self.outcome.association


def weaker(known: Weakest, new: Weakest | None) -> Weakest:
    """The weaker of two associations of the same variables, the latter over sets that were not tried before."""
    if new is None or (not new.separates and known.association <= new.association):
        return known
    return new


class Tests(Protocol):
    """A source of outcomes: tests on data, or knowledge of the network itself."""

    @property
    def n_vars(self) -> int: ...

    def test(self, x: int, y: int, given: Collection[int]) -> G2 | None: ...


class Separation:
    """Searches for separating sets by tests at one level."""

    def __init__(self, tests: Tests, level: float, max_given: int | None) -> None:
        self._tests = tests
        self._level = level
        self._max_given = tests.n_vars if max_given is None else max_given

    @property
    def n_vars(self) -> int:
        return self._tests.n_vars

    def others(self, target: int) -> list[int]:
        """Every variable but the target."""
        return [x for x in range(self.n_vars) if x != target]

    def weakest(self, x: int, target: int, among: Collection[int], *, containing: int | None = None) -> Weakest | None:
        """MinAssoc(x; target | among), over the sets with the variable `containing`; None if no test is made."""
        found: Weakest | None = None
        for given in self._subsets(frozenset(among) - {x}, containing):
            outcome = self._tests.test(x, target, given)
            if outcome is None:
                continue
            separates = outcome.p_value > self._level
            if separates or found is None or outcome.association < found.association:
                found = Weakest(given, outcome, separates)
            if separates:
                break
        return found

    def is_separated(self, x: int, target: int, among: Collection[int], *, containing: int | None = None) -> bool:
        """Whether a set separates the two."""
        found = self.weakest(x, target, among, containing=containing)
        return found is not None and found.separates

    def are_dependent(self, x: int, target: int, given: Collection[int]) -> bool:
        """Whether the data show a dependence given exactly this set; False if the test cannot be made."""
        outcome = self._tests.test(x, target, given)
        return outcome is not None and outcome.p_value <= self._level

    def _subsets(self, among: frozenset[int], containing: int | None) -> Iterator[tuple[int, ...]]:
        fixed = () if containing is None else (containing,)
        free = sorted(among.difference(fixed))
        for size in range(min(len(free), self._max_given - len(fixed)) + 1):
            for chosen in combinations(free, size):
                yield fixed + chosen
