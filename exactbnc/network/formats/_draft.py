"""A Bayesian network while a file is read: variables and families are added in any order and checked.

The numbers of a configuration that add up to one within `ROW_SUM_TOLERANCE` are kept to the last bit, so that a network
is read as it was written. Up to `MOST_ROUNDING` away from one (bnlearn's limit) they are taken as rounded and divided
by their sum; beyond that the file is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.graph.dag import DAG, find_cycle, shown_cycle
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.checks import ROW_SUM_TOLERANCE
from exactbnc.network.codes import UNKNOWN, Floats
from scorecache.errors import ParameterError
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.wording import listing

MOST_ROUNDING = 0.011
"""How far from one the probabilities of a configuration may add up in a file: 0.33 + 0.33 + 0.33."""

MOST_CELLS = 2**28
"""A larger table (2 GiB) is refused."""

MOST_DEFAULT_CELLS = 2**22
"""How many cells of a file (32 MiB) may come from default rows: otherwise a short file could require large tables."""

MOST_PARENTS = 60
"""A table has one axis per parent, and an array of numpy has at most 64."""


@dataclass(frozen=True)
class Family:
    """A child, its parents as the file lists them, and where."""

    child: str
    parents: tuple[str, ...]
    line: int | None


@dataclass
class Draft:
    """What is known so far; `label` names the file in errors."""

    label: str
    states: dict[str, tuple[Hashable, ...]] = field(default_factory=dict)
    _codes: dict[str, dict[Hashable, int]] = field(default_factory=dict)
    _n_default_cells: int = 0
    _families: dict[str, Family] = field(default_factory=dict)
    _tables: dict[str, Floats] = field(default_factory=dict)

    def fault(self, line: int | None, message: str) -> NetworkFileError:
        """The error to raise."""
        return NetworkFileError(self.label, line, message)

    def declare(self, name: str, states: Sequence[Hashable], line: int | None) -> None:
        """A variable and its states."""
        if name in self.states:
            raise self.fault(line, f"the variable {name!r} is declared twice")
        if len(self.states) >= MOST_VARIABLES:
            raise self.fault(line, too_many_variables())
        if len(states) > UNKNOWN:
            raise self.fault(line, f"{name!r} can have {UNKNOWN:,} states at most, got {len(states):,}")
        if not states:
            raise self.fault(line, f"expected the variable {name!r} to have states, got none")
        if len(set(states)) < len(states):
            raise self.fault(line, f"expected different states of {name!r}, got {listing(map(repr, states))}")
        self.states[name] = tuple(states)

    def declare_number(self, name: str, line: int | None) -> None:
        """A variable of numbers, which has no states."""
        self.declare(name, ["a number"], line)
        self.states[name] = ()

    def family(self, child: str, parents: Sequence[str], line: int | None) -> tuple[int, ...]:
        """Note a family once its variables are declared: the shape of its table, with an axis per parent as listed.

        Numbers among the parents have no axis; the last one of a child of numbers is intercept, coefficients, variance.
        """
        for name in (child, *parents):
            if name not in self.states:
                known = listing(map(repr, self.states))
                raise self.fault(line, f"{name!r} is not a variable; variables are {known}")
        if child in self._families:
            raise self.fault(line, f"the probabilities of {child!r} are given twice")
        if len(set(parents)) < len(parents) or child in parents:
            raise self.fault(line, f"expected different parents of {child!r}, got {listing(map(repr, parents))}")
        self._families[child] = Family(child, tuple(parents), line)
        numbers = [name for name in parents if not self.states[name]]
        if numbers and self.states[child]:
            message = f"{child!r} has states, and {listing(map(repr, numbers))} among its parents are numbers"
            raise self.fault(line, f"{message}: only a variable of numbers can have such parents")
        sizes = [len(self.states[name]) for name in parents if self.states[name]]
        shape = (*sizes, len(self.states[child]) or len(numbers) + 2)
        if math.prod(shape) > MOST_CELLS:
            raise self.fault(line, f"the table of {child!r} would have {math.prod(shape):,} cells")
        if len(sizes) > MOST_PARENTS:
            raise self.fault(line, f"{child!r} has {len(sizes)} parents, and a table can have {MOST_PARENTS} at most")
        return shape

    def claim(self, child: str, n_cells: int, line: int | None) -> None:
        """Count cells that the file does not list."""
        self._n_default_cells += n_cells
        if self._n_default_cells > MOST_DEFAULT_CELLS:
            reached = f"with the default of {child!r}, {self._n_default_cells:,} cells come from defaults"
            raise self.fault(line, f"{reached}, and at most {MOST_DEFAULT_CELLS:,} may; list the rows")

    def code(self, name: str, state: Hashable, line: int | None) -> int:
        """The place of a state among those of its variable."""
        if name not in self._codes:
            self._codes[name] = {own: code for code, own in enumerate(self.states[name])}
        code = self._codes[name].get(state)
        if code is None:
            known = listing(map(repr, self.states[name]))
            raise self.fault(line, f"{state!r} is not a state of {name!r}; its states are {known}")
        return code

    def check_row(self, child: str, row: Sequence[float], line: int | None) -> None:
        """The probabilities of a child under one configuration."""
        n_states = len(self.states[child])
        if len(row) != n_states:
            raise self.fault(line, f"expected {n_states} probabilities of {child!r}, got {len(row)}")
        if not (min(row) >= 0 and abs(sum(row) - 1) <= MOST_ROUNDING):
            shown = listing(map(repr, row))
            raise self.fault(line, f"expected probabilities of {child!r} that add up to one, got {shown}")

    def fill(self, child: str, table: Floats, line: int | None) -> None:
        """The table of a noted family: one axis per parent as listed, the child on the last."""
        if not self.states[child]:
            self._tables[child] = table  # the network checks it
            return
        odd = ~((table.min(axis=-1) >= 0) & (np.abs(table.sum(axis=-1) - 1) <= MOST_ROUNDING))
        if odd.any():
            self.check_row(child, table[odd][0].tolist(), line)
        self._tables[child] = table

    def finish(self) -> BayesNet:
        """The network, its variables in the order in which they were declared."""
        names = tuple(self.states)
        index = {name: v for v, name in enumerate(names)}
        absent = [name for name in names if name not in self._tables]
        if absent:
            raise self.fault(None, f"the probabilities of {listing(map(repr, absent))} are missing")
        listed = [[index[parent] for parent in self._families[name].parents] for name in names]
        cycle = find_cycle(listed)
        if cycle is not None:
            message = f"a network has no directed cycle, got {shown_cycle(names, cycle)}"
            raise self.fault(self._families[names[cycle[-1]]].line, message)
        self._families.clear()
        has_states = [bool(states) for states in self.states.values()]
        tables = tuple(
            _settled(self._tables.pop(name), parents)
            if has_states[v]
            else _settled_regressions(self._tables.pop(name), parents, has_states)
            for v, (name, parents) in enumerate(zip(names, listed, strict=True))
        )
        try:
            return BayesNet(DAG.of(names, listed), tuple(self.states.values()), tables)
        except ParameterError as error:
            raise self.fault(None, f"expected a consistent network, but {error}") from error


def _settled_regressions(table: Floats, parents: Sequence[int], has_states: Sequence[bool]) -> Floats:
    """Parents with states ascending on the axes, and the coefficients of the others ascending too."""
    states, numbers = ([v for v in parents if has_states[v] == wanted] for wanted in (True, False))
    axes = sorted(range(len(states)), key=states.__getitem__)
    order = [0, *(1 + i for i in sorted(range(len(numbers)), key=numbers.__getitem__)), len(numbers) + 1]
    return np.ascontiguousarray(table.transpose(*axes, len(states))[..., order], dtype=np.float64)


def _settled(table: Floats, parents: Sequence[int]) -> Floats:
    """Parents ascending, and rounded rows divided by their sums."""
    axes = sorted(range(len(parents)), key=parents.__getitem__)
    ordered: Floats = np.ascontiguousarray(table.transpose(*axes, len(parents)), dtype=np.float64)
    totals = ordered.sum(axis=-1, keepdims=True)
    is_rounded = np.abs(totals - 1) > ROW_SUM_TOLERANCE
    if is_rounded.any():
        return np.where(is_rounded, ordered / totals, ordered)
    return ordered if ordered.base is None else ordered.copy()
