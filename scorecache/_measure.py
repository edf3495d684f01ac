"""Columns of measurements: numbers too many to be categories, kept as numbers until somebody cuts them.

Whether a column holds measurements is seen while it is read. Its values are numbered like any others until there are
too many of them; if all are numbers by then, the column goes on with the numbers themselves, eight bytes each instead
of a text. Whatever else it holds is numbered as before: a missing value, or a text among numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache._encode import Encoder, RawColumn

MEASURED = "a number"
"""The state of a column of measurements that stands for all its numbers."""


class MeasuringEncoder(Encoder):
    """An encoder that keeps numbers once it has seen more than `above` values, if all of them are numbers.

    `number_of` tells the number that a value spells, None for any other value.
    """

    __slots__ = ("_above", "_holds_text", "_n_numbered", "_number_of", "_numbers", "_values_before", "is_measuring")

    def __init__(
        self, read: Callable[[Any], Hashable], number_of: Callable[[Any], float | None], *, above: int, most: int
    ) -> None:
        super().__init__(read, most=most)
        self._number_of = number_of
        self._above = above
        self._holds_text = False
        self._n_numbered = 0
        self._values_before = np.empty(0)
        self._numbers = bytearray()  # it grows in place
        self.is_measuring = False

    def encode(self, fields: Sequence[Any], rows: NDArray[np.int64] | None = None) -> NDArray[np.uint16]:
        """As `Encoder.encode`; of a number that is kept the code is 0."""
        if not self.is_measuring:
            codes = super().encode(fields, rows)
            if self.is_overfull or len(self.values_seen) > self._above:
                self.measure_numbers()
            if not self.is_measuring:
                self._n_numbered += len(codes)
                return codes
        numbers = np.fromiter(map(self._measured, fields), dtype=np.float64, count=len(fields))
        others = np.zeros(len(fields), dtype=np.uint16)
        for field in np.flatnonzero(np.isnan(numbers)).tolist():
            others[field] = self[fields[field]]
        self._numbers += (numbers if rows is None else numbers[rows]).data
        return others if rows is None else others[rows]

    def measure_numbers(self) -> None:
        """Go on with numbers, if every value so far is one, the missing one aside."""
        if self.is_measuring or self._holds_text:
            return
        numbers = [None if value is None else self._number_of(value) for value in self.values_seen]
        if numbers.count(None) > self.values_seen.count(None):
            self._holds_text = True
            return
        self._values_before = np.array(numbers, dtype=np.float64)
        self.is_measuring, self.is_overfull = True, False
        self.clear()
        self.values_seen = [MEASURED]
        if None in numbers:
            self.values_seen.append(None)
            self[None] = 1

    def column(
        self, name: str, codes: NDArray[np.uint8] | NDArray[np.uint16], *, is_declared: bool = False
    ) -> RawColumn:
        """The values, the codes and, if there are measurements, the numbers, NaN in place of anything else."""
        column = super().column(name, codes, is_declared=is_declared)
        if self.is_measuring:
            before = self._values_before[codes[: self._n_numbered]]
            column.numbers = np.concatenate([before, np.frombuffer(self._numbers)])
            column.codes = codes.copy()
            column.codes[: self._n_numbered] = np.isnan(before)  # the missing value has the code 1
            self._numbers, self._values_before = bytearray(), np.empty(0)
        return column

    def _measured(self, field: Any) -> float:
        number = self._number_of(field.strip())
        return np.nan if number is None else number
