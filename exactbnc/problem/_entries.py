"""Names and tuples of names while a constraint file is read: as numbers, eight bytes a tuple, each of them once."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np

from scorecache.errors import ParameterError
from scorecache.system.limits import MOST_NAME, MOST_VARIABLES, too_long_name, too_many_variables

FREE_ENTRIES, BYTES_PER_ENTRY = 2**15, 8
"""A file may have so many tuples, and one more for so many of its bytes: a tuple of names is an object of 64."""

_FIRST_LENGTH = 1024


class Names:
    """Numbers the names in the order in which they come; a ParameterError if there are too many or one is too long."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        found = self._numbers.get(name)
        if found is None:
            if len(self._numbers) >= MOST_VARIABLES:
                raise ParameterError(too_many_variables())
            if len(name) > MOST_NAME:
                raise ParameterError(too_long_name(name))
            found = self._numbers[name] = len(self._numbers)
        return found

    def in_order(self) -> list[str]:
        return list(self._numbers)


class Entries:
    """Tuples of up to three names, all of one length, in the order in which they first came."""

    def __init__(self, length: int, n_bytes: int) -> None:
        self._length = length
        self._most = FREE_ENTRIES + n_bytes // BYTES_PER_ENTRY
        self._keys = array("q")
        self._collapse_at = _FIRST_LENGTH

    def add(self, numbers: tuple[int, ...]) -> None:
        key = 0
        for number in numbers:
            key = key * MOST_VARIABLES + number
        self._keys.append(key)
        if len(self._keys) > self._collapse_at:
            self._collapse()

    def named(self, names: Names) -> Iterator[tuple[str, ...]]:
        """The tuples, with one object for each name."""
        self._collapse()
        listed = names.in_order()
        for key in self._keys:
            numbers = []
            for _ in range(self._length):
                key, number = divmod(key, MOST_VARIABLES)
                numbers.append(number)
            yield tuple(listed[number] for number in reversed(numbers))

    def _collapse(self) -> None:
        keys = np.frombuffer(self._keys, dtype=np.int64)
        first = np.unique(keys, return_index=True)[1]
        distinct = keys[np.sort(first)]
        del keys
        if len(distinct) > self._most:
            raise ParameterError(
                f"expected at most {self._most:,} constraints of a kind in a file of this size, got more"
            )
        self._keys = array("q", distinct.tobytes())
        self._collapse_at = 2 * len(distinct) + _FIRST_LENGTH
