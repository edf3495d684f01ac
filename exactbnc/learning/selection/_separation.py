"""Subsets that separate a variable from the target: what the constraint-based searches have in common.

    MinAssoc(X; T | C) = min over S within C of Assoc(X; T | S)

Assoc is the p-value of the G^2 test turned round, ties broken by G^2. Sets are tried by size and, among those of a
size, in index order; S separates iff p > level, and the first one to do so ends the search, for no association is
smaller than none. Sets on which a test would not be reliable, or with more than `max_given` variables, are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from exactbnc.learning.selection.g2 import G2


@dataclass(frozen=True)
class Weakest:
    """The set given which X and T are least associated, and the test that says so."""

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
    """What is asked for an outcome: tests on data, or knowledge of the network itself."""

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

    def weakest(self, x: int, target: int, among: Collection[int], *, holding: int | None = None) -> Weakest | None:
        """MinAssoc(x; target | among), over the sets that hold one variable if it is given; None if no test is made."""
        found: Weakest | None = None
        for given in self._subsets(frozenset(among) - {x}, holding):
            outcome = self._tests.test(x, target, given)
            if outcome is None:
                continue
            separates = outcome.p_value > self._level
            if separates or found is None or outcome.association < found.association:
                found = Weakest(given, outcome, separates)
            if separates:
                break
        return found

    def is_separated(self, x: int, target: int, among: Collection[int], *, holding: int | None = None) -> bool:
        """Does a set separate the two?"""
        found = self.weakest(x, target, among, holding=holding)
        return found is not None and found.separates

    def are_dependent(self, x: int, target: int, given: Collection[int]) -> bool:
        """Do the data show a dependence given this very set? Not if the test cannot be made."""
        outcome = self._tests.test(x, target, given)
        return outcome is not None and outcome.p_value <= self._level

    def _subsets(self, among: frozenset[int], holding: int | None) -> Iterator[tuple[int, ...]]:
        fixed = () if holding is None else (holding,)
        free = sorted(among.difference(fixed))
        for size in range(min(len(free), self._max_given - len(fixed)) + 1):
            for chosen in combinations(free, size):
                yield fixed + chosen
