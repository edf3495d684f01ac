"""The columns of X as codes: what a value seen in training, a missing one, and one never seen become.

A column with cut points holds numbers, and its states are its intervals. In the others a value that is a state gets the
state's code, compared as Python compares (1, 1.0 and True are one value, 1 and "1" are two). Everything else is UNKNOWN
and is summed out by the network; a missing value gets the code of the state for missing values where training made one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN, Codes
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MISSING_STATE, is_missing
from scorecache.data.frames import Declared, as_floats, columns_of, distinct_objects
from scorecache.system.compiled import for_work

Floats = NDArray[np.float64]

MANY_NUMBERS = 2**17
"""Comparisons that are worth a compiled kernel."""

WIDEST_LOOKUP = 2**20
"""Whole numbers of all columns are looked up in tables of at most this many entries in total."""


@dataclass(frozen=True, eq=False)
class Features:
    """The names, states and cut points of the columns of X, in their order."""

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    has_missing_state: tuple[bool, ...]
    cut_points: tuple[Floats | None, ...]

    @classmethod
    def of(
        cls, dataset: Dataset, names: Sequence[str], has_missing: Sequence[bool], cut_points: Sequence[Floats | None]
    ) -> Features:
        """The columns of a data set; `has_missing` marks those with missing values that became a state."""
        states = tuple(dataset.states[dataset.index[name]] for name in names)
        return cls(tuple(names), states, tuple(has_missing), tuple(cut_points))

    def encode(self, table: Any) -> Codes:
        """Codes, columns x rows, of an array or a data frame."""
        codes = np.empty((len(self.names), len(table)), dtype=np.uint16)
        is_array = isinstance(table, np.ndarray) and table.dtype.kind in "biuf"
        has_looked_up = is_array and bool(self._plain) and self._lookup is not None
        if has_looked_up and self._lookup is not None:
            if len(self._plain) == len(self.names):
                self._encode_numbers(table, self._lookup, codes)
                return codes
            found = np.empty((len(self._plain), len(table)), dtype=np.uint16)
            self._encode_numbers(table[:, self._plain], self._lookup, found)
            codes[self._plain] = found
        for v, (column, cuts) in enumerate(zip(columns_of(table), self.cut_points, strict=True)):
            if cuts is not None:
                codes[v] = self.intervals(v, as_floats(column, self.names[v]))
            elif not has_looked_up:
                codes[v] = _encode_column(column, self._code_of[v], self._of_missing[v])
        return codes

    def intervals(self, v: int, numbers: Floats) -> NDArray[np.int64]:
        """The codes of a column that has cut points."""
        cuts = self.cut_points[v]
        assert cuts is not None
        bins = bins_of(numbers, cuts)
        return np.where(bins < 0, self._of_missing[v], bins)

    def encode_row(self, values: Sequence[Any]) -> Codes | None:
        """The codes of one row, columns x 1; None if a value is not what its column holds, which `encode` reports."""
        codes = np.empty((len(self.names), 1), dtype=np.uint16)
        for v, (value, cuts) in enumerate(zip(values, self._cut_lists, strict=True)):
            if cuts is None:
                codes[v] = _code(value, self._code_of[v], self._of_missing[v])
            elif is_missing(value):
                codes[v] = self._of_missing[v]
            elif isinstance(value, Real):
                codes[v] = bisect_left(cuts, float(value))
            else:
                return None
        return codes

    @cached_property
    def _cut_lists(self) -> list[list[float] | None]:
        return [None if cuts is None else cuts.tolist() for cuts in self.cut_points]

    @cached_property
    def _plain(self) -> list[int]:
        """The columns without cut points."""
        return [v for v, cuts in enumerate(self.cut_points) if cuts is None]

    @cached_property
    def _code_of(self) -> list[dict[Hashable, int]]:
        return [{state: code for code, state in enumerate(states)} for states in self.states]

    @cached_property
    def _of_missing(self) -> list[int]:
        return [
            code_of[MISSING_STATE] if has_missing else UNKNOWN
            for code_of, has_missing in zip(self._code_of, self.has_missing_state, strict=True)
        ]

    @cached_property
    def _lookup(self) -> _Lookup | None:
        plain = self._plain
        return _Lookup.of([self._code_of[v] for v in plain], [self.has_missing_state[v] for v in plain])

    def _encode_numbers(self, table: NDArray[Any], lookup: _Lookup, codes: Codes) -> None:
        from exactbnc.learning.classifiers._kernels import encode_numbers

        # states are below 2**53, so that no other number becomes one of them as a float
        numbers = table.astype(np.int64 if np.can_cast(table.dtype, np.int64) else np.float64, copy=False)
        of_missing = np.array([self._of_missing[v] for v in self._plain], dtype=np.uint16)
        encode = for_work(encode_numbers, 4 * numbers.size)
        encode(numbers, lookup.low, lookup.start, lookup.codes, of_missing, codes)


@dataclass(frozen=True, eq=False)
class _Lookup:
    """Codes by whole number: those of a column begin with its smallest state."""

    low: NDArray[np.int64]
    start: NDArray[np.int64]
    codes: NDArray[np.uint16]

    @classmethod
    def of(cls, code_of: Sequence[dict[Hashable, int]], has_missing: Sequence[bool]) -> _Lookup | None:
        """None if a state is not a whole number, or if the numbers lie too far apart."""
        low, start, parts = [], [0], []
        for states, skips_missing in zip(code_of, has_missing, strict=True):
            known = {state: code for state, code in states.items() if not (skips_missing and state == MISSING_STATE)}
            if not all(map(_is_whole, known)):
                return None
            numbers = {int(state): code for state, code in known.items()}  # type: ignore[call-overload]
            least, most = min(numbers, default=0), max(numbers, default=0)
            if start[-1] + most - least >= WIDEST_LOOKUP:
                return None
            own = np.full(most - least + 1, UNKNOWN, dtype=np.uint16)
            own[[number - least for number in numbers]] = list(numbers.values())
            low.append(least)
            start.append(start[-1] + len(own))
            parts.append(own)
        return cls(np.array(low), np.array(start), np.concatenate(parts))


def bins_of(numbers: Floats, cuts: Floats) -> NDArray[np.int64]:
    """The interval of every number, -1 for NaN."""
    if len(numbers) * (len(cuts) + 1) <= MANY_NUMBERS:
        bins = np.searchsorted(cuts, numbers)
        bins[np.isnan(numbers)] = -1
        return bins
    from exactbnc.learning.classifiers._kernels import find_bins

    found = np.empty(len(numbers), dtype=np.int64)
    find_bins(np.ascontiguousarray(numbers), cuts, found)
    return found


def discretised(column: Any, cuts: Floats | None, label: Hashable) -> Any:
    """The column of a table for a data set: its intervals, declared, or the column itself."""
    return column if cuts is None else Declared(tuple(range(len(cuts) + 1)), bins_of(as_floats(column, label), cuts))


def _is_whole(state: Hashable) -> bool:
    """Whether it is a whole number that a float represents exactly."""
    return isinstance(state, Real) and abs(state) < 2**53 and float(state).is_integer()


def _encode_column(column: Any, code_of: dict[Hashable, int], of_missing: int) -> NDArray[np.uint16]:
    categorical = column if isinstance(column, Declared) else getattr(column, "cat", None)
    if categorical is not None:
        found = [code_of.get(category, UNKNOWN) for category in categorical.categories]
        return np.array([*found, of_missing], dtype=np.uint16).take(np.asarray(categorical.codes))  # missing is -1
    hashed = distinct_objects(column)
    if hashed is not None:
        codes = np.array([_code(value, code_of, of_missing) for value in hashed[0]], dtype=np.uint16)
        return codes[hashed[1]]
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if values.dtype.kind == "O":
        return np.fromiter((_code(value, code_of, of_missing) for value in values), np.uint16, len(values))
    distinct, positions = np.unique(values, return_inverse=True)
    listed = distinct if distinct.dtype.kind in "mM" else distinct.tolist()  # times would become bare numbers
    found = [_code(value, code_of, of_missing) for value in listed]
    return np.array(found, dtype=np.uint16)[positions]


def _code(value: Any, code_of: dict[Hashable, int], of_missing: int) -> int:
    try:
        code = code_of.get(value)
    except TypeError:  # a value that cannot be a state
        return UNKNOWN
    if code is not None:
        return code
    return of_missing if is_missing(value) else UNKNOWN


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """The name, with underscores added until no column has it."""
    return wanted if wanted not in taken else free_name(wanted + "_", taken)
