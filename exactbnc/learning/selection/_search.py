"""What every search for parents and children is: a frozen value with a name, its settings as fields, and one verb."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from exactbnc.learning.selection._separation import Separation
from exactbnc.learning.selection.g2 import G2Tests
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
    """The numbers of the targets (None: all); an error lists the columns if there is no such one."""
    for name in names or ():
        dataset.column(name)
    return list(range(dataset.n_vars)) if names is None else [dataset.index[name] for name in names]


def named(dataset: Dataset, variables: Collection[int]) -> tuple[str, ...]:
    """The names of variables, in the order of the data."""
    return tuple(dataset.names[v] for v in sorted(variables))
