"""From raw columns to the fields of a `Dataset`: missing values, the order of states, and how many there may be.

A reader numbers the distinct values of each column as it meets them (`Encoder`) and keeps the numbers (`RawColumn`).
Every decision is then taken on distinct values; the rows are touched once more, through a lookup table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorecache.errors import DataError, ParameterError
from scorecache.wording import listing

MAX_NUMERIC_STATES = 100
MAX_STATES = 1000
MOST_STATES = 2**16  # codes are uint16
MOST_COUNTED = 2**12  # of a column that is refused anyway
MOST_WEIGHT = 2**53 - 1  # up to here sums of counts are exact in float64
MISSING_STATE = "missing"
MEASURED = "a number"
"""The state of a column of measurements that stands for all its numbers."""
MISSING_CHOICES = ("error", "drop", "category")

Weights = NDArray[np.int64] | NDArray[np.float64]

Fields = tuple[
    tuple[str, ...],
    tuple[tuple[Hashable, ...], ...],
    NDArray[np.uint16],
    Weights | None,
    dict[str, NDArray[np.float64]],
]


def number_itself(value: Hashable) -> Any:
    """The value if it is a number, otherwise None."""
    return value if isinstance(value, (Real, Decimal)) else None


@dataclass(frozen=True)
class Encoding:
    """How values become states: those declared, what a missing value means, and how many a column may have.

    `number_of` gives the number that a value stands for, or None; it decides whether a column is numeric.
    """

    states: Mapping[str, tuple[Hashable, ...]]
    missing: str = "error"
    max_states: int | None = None
    number_of: Callable[[Any], Any] = number_itself

    def __post_init__(self) -> None:
        if self.missing not in MISSING_CHOICES:
            raise ParameterError(f"missing must be one of {', '.join(MISSING_CHOICES)}. Got {self.missing!r} instead.")
        if self.max_states is not None and not 1 <= self.max_states <= MOST_STATES:
            raise ParameterError(f"max_states must be from 1 to {MOST_STATES}. Got {self.max_states} instead.")
        for name, states in self.states.items():
            check_states(name, states)

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse states declared for a column that is not there."""
        known = set(names)
        unknown = listing(repr(name) for name in self.states if name not in known)
        if unknown:
            raise ParameterError(f"states are declared for {unknown}, but the columns are {listing(map(repr, names))}")

    @property
    def most_values(self) -> int:
        """How many values of a column are looked at: where no row is dropped, not all of those that are too many."""
        return MOST_STATES if self.max_states is not None or self.missing == "drop" else MOST_COUNTED

    def limit(self, is_numeric: bool) -> int:
        """The largest number of states of a column that declares none."""
        return self.max_states or (MAX_NUMERIC_STATES if is_numeric else MAX_STATES)


class Encoder(dict[Any, int]):
    """Numbers the values of a column in the order they appear, after those it starts with.

    `read` turns a field into its value, None if it is missing; a value reads as itself. It is asked once per distinct
    field: `encoder[field]` is a dictionary lookup from then on. Past `most` values no number is left; the encoder then
    is overfull and what it answers means nothing.
    """

    __slots__ = ("_most", "_read", "is_overfull", "values_seen")

    def __init__(
        self, read: Callable[[Any], Hashable], values: Iterable[Hashable] = (), *, most: int | None = None
    ) -> None:
        super().__init__()
        self._read = read
        self._most = MOST_STATES if most is None else most
        self.values_seen: list[Hashable] = list(values)
        self.is_overfull = False
        for code, value in enumerate(self.values_seen):
            self[value] = code

    def __missing__(self, field: Any) -> int:
        value = self._read(field)
        code = self.get(value)
        if code is None:
            code = len(self.values_seen)
            if code >= self._most:
                self.is_overfull = True
                return 0
            self.values_seen.append(value)
            self[value] = code
        if field is not value:
            self[field] = code
        return code

    def encode(self, fields: Sequence[Any]) -> NDArray[np.uint16]:
        """The codes of the fields."""
        return np.fromiter(map(self.__getitem__, fields), dtype=np.uint16, count=len(fields))

    def column(
        self, name: str, codes: NDArray[np.uint8] | NDArray[np.uint16], *, is_declared: bool = False
    ) -> RawColumn:
        """The values and the codes; the encoder is empty then."""
        self.clear()
        return RawColumn(name, self.values_seen, codes, is_declared, self.is_overfull)


@dataclass(slots=True)
class RawColumn:
    """The distinct values of a column, None for a missing one, and per row the position of its value among them.

    `numbers`: those of a column of measurements (`scorecache.data.columns.MeasuredColumn`).
    """

    name: str
    values: list[Hashable]
    codes: NDArray[np.uint8] | NDArray[np.uint16]
    is_declared: bool = False
    is_overfull: bool = False
    numbers: NDArray[np.float64] | None = None

    @property
    def missing_code(self) -> int | None:
        return next((code for code, value in enumerate(self.values) if value is None), None)


def assemble(
    columns: Sequence[RawColumn],
    weights: Weights | None,
    encoding: Encoding,
    room: Callable[..., NDArray[Any]] = np.empty,
) -> Fields:
    """The fields of a `Dataset`: settle the states of every column, encode its rows, and let go of its raw codes.

    A row dropped for a missing value is as if it had never been there. A row of weight 0 is kept out of the codes, but
    its values are states. `room(shape, dtype)` gives the array that is to hold the codes.
    """
    if any(column.is_overfull for column in columns):  # its codes mean nothing, not even which values are missing
        check_columns(columns, encoding)
    is_kept = _complete_rows(columns, encoding.missing)
    present = [_present_values(column, is_kept) for column in columns]
    _check_sizes(columns, present, encoding)
    states = tuple(_settle_states(column, values, encoding) for column, values in zip(columns, present, strict=True))
    if weights is not None:
        has_weight = weights > 0
        is_kept = has_weight if is_kept is None else is_kept & has_weight
        weights = weights[is_kept]
    n_rows = len(columns[0].codes) if is_kept is None else int(np.count_nonzero(is_kept))
    measurements = {
        column.name: column.numbers if is_kept is None else column.numbers[is_kept]
        for column in columns
        if column.numbers is not None
    }
    codes = room((len(columns), n_rows), np.uint16)
    for settled, column, known in zip(codes, columns, states, strict=True):
        raw = column.codes if is_kept is None else column.codes[is_kept]
        settled[:] = _lookup_table(column.values, known)[raw]
        column.codes = raw[:0].copy()  # memory stays near that of the settled codes
    return tuple(column.name for column in columns), states, codes, weights, measurements


def check_states(name: str, states: Sequence[Hashable]) -> None:
    """Refuse states that are none, too many, missing values, or not different from each other."""
    if not 1 <= len(states) <= MOST_STATES:
        raise DataError(f"column {name!r} must have from 1 to {MOST_STATES} states. Got {len(states)} instead.")
    if any(is_missing(state) for state in states):
        raise DataError(f"column {name!r}: a missing value cannot be a state")
    if len(set(states)) < len(states):
        twice = Counter(states).most_common(1)[0][0]
        raise DataError(f"column {name!r} has the state {twice!r} twice")


def is_missing(value: Any) -> bool:
    """Is it None, NaN, NaT or pandas.NA?"""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA: its comparisons are neither true nor false
        return True


def undeclared(name: str, value: Hashable, states: Iterable[Hashable]) -> str:
    """What is wrong with a value that is not among the declared states."""
    declared = listing(map(repr, states))
    return f"column {name!r}: the value {value!r} is not among its declared states {declared}; correct or declare it"


def not_a_weight(weight: object) -> str:
    """What is wrong with a row weight."""
    return f"a row weight must be a number from 0 to 2**53 - 1. Got {weight!r} instead."


def whole_weights(weights: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """Row weights as counts of rows, or an error that names the first row whose weight is not whole."""
    array = row_weights(weights, n_rows)
    if array.dtype != np.int64:
        row = int(np.argmin(np.floor(array) >= array))
        raise DataError(f"row {row}: a row weight must be a whole number here. Got {array.item(row)!r} instead.")
    return array.astype(np.int64)


def row_weights(weights: ArrayLike, n_rows: int) -> Weights:
    """Row weights, as counts of rows if all are whole; an error names the first row without one."""
    array = np.asarray(weights)
    if array.shape != (n_rows,):
        raise DataError(f"{n_rows} rows need as many weights. Got an array of shape {array.shape} instead.")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"row weights must be numbers. Got an array of {array.dtype} instead.") from error
    is_weight = (numbers >= 0) & (numbers <= MOST_WEIGHT)
    if not is_weight.all():
        row = int(np.argmin(is_weight))
        raise DataError(f"row {row}: {not_a_weight(array.item(row))}")
    return counts_if_whole(numbers)


def counts_if_whole(weights: NDArray[np.float64]) -> Weights:
    """The same numbers, as int64 if all are whole."""
    return weights.astype(np.int64) if (np.floor(weights) >= weights).all() else weights


def _complete_rows(columns: Sequence[RawColumn], missing: str) -> NDArray[np.bool_] | None:
    """Which rows stay when those with missing values are dropped (None: all of them)."""
    incomplete = [column for column in columns if column.missing_code is not None]
    if missing == "category" or not incomplete:
        return None
    if missing == "error":
        counts = [(np.count_nonzero(column.codes == column.missing_code), column.name) for column in incomplete]
        raise DataError(
            f"missing values: {listing([f'{count} in {name!r}' for count, name in counts], most=100)}; "
            "drop their rows (missing='drop') or make them a state of their own (missing='category')"
        )
    is_complete = np.ones(len(incomplete[0].codes), dtype=np.bool_)
    for column in incomplete:
        is_complete &= column.codes != column.missing_code
    if not is_complete.any():
        raise DataError(
            "every row has a missing value, so dropping them leaves none; leave columns out "
            "or make them a state of their own (missing='category')"
        )
    return is_complete


def _present_values(column: RawColumn, is_kept: NDArray[np.bool_] | None) -> list[Hashable]:
    """The values that are states: those declared, or those that occur in the rows kept."""
    values: Iterable[Hashable] = column.values
    if is_kept is not None and not column.is_declared:
        occurs = np.zeros(len(column.values), dtype=np.bool_)
        occurs[column.codes[is_kept]] = True
        values = compress(column.values, occurs)
    return [value for value in values if value is not None]


def check_columns(columns: Sequence[RawColumn], encoding: Encoding) -> None:
    """Refuse columns with too many values, whichever rows they stand in."""
    _check_sizes(columns, [_present_values(column, None) for column in columns], encoding)


def _check_sizes(columns: Sequence[RawColumn], present: Sequence[Sequence[Hashable]], encoding: Encoding) -> None:
    """Refuse columns with too many values for categories."""
    numeric: list[str] = []
    textual: list[str] = []
    for column, values in zip(columns, present, strict=True):
        is_numeric = _numbers(values, encoding) is not None
        if column.is_overfull or (not column.is_declared and len(values) > encoding.limit(is_numeric)):
            n_values = f"more than {len(column.values)}" if column.is_overfull else len(values)
            (numeric if is_numeric else textual).append(f"{column.name!r} ({n_values})")
    faults = []
    if numeric:
        faults.append(
            f"numbers with more than {encoding.limit(True)} distinct values look continuous: "
            f"{listing(numeric, most=100)}; "
            "discretise them first (discretize='METHOD', or exactbnc.MDLPDiscretizer)"
        )
    if textual:
        faults.append(
            f"text with more than {encoding.limit(False)} distinct values looks like an identifier: "
            f"{listing(textual, most=100)}; leave it out (ignore=[...])"
        )
    if faults:
        every = f", or take every value as a category (max_states=N, at most {MOST_STATES})"
        is_wider_possible = encoding.max_states != MOST_STATES
        declare = f", or declare the states (states={{...}}){every if is_wider_possible else ''}"
        raise DataError("; ".join(faults) + declare)


def _settle_states(column: RawColumn, present: list[Hashable], encoding: Encoding) -> tuple[Hashable, ...]:
    """The states of a column in their order, the one for missing values last."""
    states = present if column.is_declared else _in_order(present, encoding)
    if encoding.missing == "category" and column.missing_code is not None:
        if MISSING_STATE not in set(states):
            states = [*states, MISSING_STATE]
        elif not column.is_declared:
            raise DataError(
                f"column {column.name!r} has missing values and also the value {MISSING_STATE!r}; "
                "declare its states (states={...}) if the two are to be one"
            )
    return tuple(states)


def _in_order(values: list[Hashable], encoding: Encoding) -> list[Hashable]:
    """Numbers by size, anything else by its own order (text as text); as they came where there is none."""
    numbers = _numbers(values, encoding)
    try:
        if numbers is None:
            return sorted(values)  # type: ignore[type-var]
        return sorted(sorted(values), key=encoding.number_of)  # type: ignore[type-var]
    except TypeError:
        return values


def _numbers(values: Iterable[Hashable], encoding: Encoding) -> list[Any] | None:
    """The numbers that the values stand for, None if one of them is not a number."""
    numbers = [encoding.number_of(value) for value in values]
    return None if any(number is None for number in numbers) else numbers


def _lookup_table(values: Iterable[Hashable], states: Sequence[Hashable]) -> NDArray[np.uint16]:
    """Position of a value -> position of its state; 0 for values that no kept row has."""
    codes = {state: code for code, state in enumerate(states)}
    settled = (codes.get(MISSING_STATE if value is None else value, 0) for value in values)
    return np.fromiter(settled, dtype=np.uint16)
