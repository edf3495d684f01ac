"""Columns of measurements: numbers too many to be categories, kept as numbers until somebody cuts them.

Whether a column holds measurements is seen while it is read. Its values are numbered like any others until there are
too many numbers among them; the column then goes on with the numbers themselves, eight bytes each instead of a text.
Whatever else it holds is numbered as before: a missing value, or a text among numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data._encode import Encoder, RawColumn

MEASURED = "a number"
"""The state of a column of measurements that stands for all its numbers."""


class MeasuringEncoder(Encoder):
    """An encoder that keeps numbers once it has seen more than `above` different ones.

    `number_of` tells the number that a value spells, None for any other value.
    """

    __slots__ = ("_above", "_codes_before", "_n_numbered", "_number_of", "_numbers", "_numbers_before", "is_measuring")

    def __init__(
        self, read: Callable[[Any], Hashable], number_of: Callable[[Any], float | None], *, above: int, most: int
    ) -> None:
        super().__init__(read, most=most)
        self._number_of = number_of
        self._above = above
        self._n_numbered = 0
        self._numbers = bytearray()  # it grows in place
        self._numbers_before: list[float] = []  # of the values seen, NaN where there is none
        self._codes_before: list[int] = []
        self.is_measuring = False

    def encode(self, fields: Sequence[Any], rows: NDArray[np.int64] | None = None) -> NDArray[np.uint16]:
        """As `Encoder.encode`; of a number that is kept the code is 0."""
        if not self.is_measuring:
            codes = super().encode(fields, rows)
            is_full = self.is_overfull or len(self.values_seen) > self._above
            if not is_full or self._n_numbers() < min(self._above + 1, self._most):
                self._n_numbered += len(codes)
                return codes
            self.measure()
        numbers = np.fromiter(map(self._measured, fields), dtype=np.float64, count=len(fields))
        others = np.zeros(len(fields), dtype=np.uint16)
        for field in np.flatnonzero(np.isnan(numbers)).tolist():
            others[field] = self[fields[field]]
        self._numbers += (numbers if rows is None else numbers[rows]).data
        return others if rows is None else others[rows]

    def measure(self, *, only_numbers: bool = False) -> None:
        """Go on with numbers; if asked to, only where every value so far is one, the missing one aside."""
        if self.is_measuring:
            return
        n_texts = len(self.values_seen) - self._n_numbers() - self.values_seen.count(None)
        if only_numbers and n_texts:
            return
        others = [value for value, number in zip(self.values_seen, self._numbers_before, strict=True) if isnan(number)]
        self.is_measuring, self.is_overfull = True, False
        self.clear()
        self.update({value: code for code, value in enumerate(others, 1)})
        self._codes_before = [self.get(value, 0) for value in self.values_seen]
        self.values_seen = [MEASURED, *others]

    def column(
        self, name: str, codes: NDArray[np.uint8] | NDArray[np.uint16], *, is_declared: bool = False
    ) -> RawColumn:
        """The values, the codes and, if there are measurements, the numbers, NaN in place of anything else."""
        column = super().column(name, codes, is_declared=is_declared)
        if self.is_measuring:
            before = codes[: self._n_numbered]
            column.numbers = np.concatenate([np.array(self._numbers_before)[before], np.frombuffer(self._numbers)])
            column.codes = codes.copy()
            column.codes[: self._n_numbered] = np.array(self._codes_before, dtype=np.uint16)[before]
            self._numbers, self._numbers_before, self._codes_before = bytearray(), [], []
        return column

    def _n_numbers(self) -> int:
        """How many of the values seen are numbers; those that were not asked about yet are looked at."""
        new = self.values_seen[len(self._numbers_before) :]
        self._numbers_before += [nan if value is None else self._measured(value) for value in new]
        return len(self._numbers_before) - sum(map(isnan, self._numbers_before))

    def _measured(self, field: Any) -> float:
        number = self._number_of(field.strip())
        return nan if number is None else number
