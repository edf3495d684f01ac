"""The rows of CSV text, none with more fields than a file may have variables.

`csv.reader` makes an object of every field of a row before anybody can count them. Here the separators are counted in
the text that goes in, from the end of one row to the end of the next, since a row may run over many lines.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

from scorecache.system.limits import MOST_VARIABLES

MOST_CHARACTERS = 2**21
"""Of a row; there are several copies of it while it is cut."""

_UNCOUNTED = 2**18
"""Characters that cannot be too many fields for the memory; a quote left open is found within them (`csv`'s limit)."""

_BLANKS = re.compile(" +")


class TooManyFieldsError(csv.Error):
    """A row has more fields than a file may have variables."""


class TooLongError(csv.Error):
    """A row has more characters than can be read at a time."""


class CsvRows:
    """`csv.reader` with that limit; `n_read` counts the characters that went in.

    `skip_blanks`: blanks after a separator, even if it is one, go.
    """

    def __init__(self, lines: Iterable[str], separator: str, *, skip_blanks: bool = False, strict: bool = True) -> None:
        self.n_read = 0
        self._separator = separator
        self._n_characters = 0
        self._n_separators = 0
        self._reader = csv.reader(
            self._limited(lines), delimiter=separator, skipinitialspace=skip_blanks, strict=strict
        )

    @property
    def line_num(self) -> int:
        """The number of lines read."""
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        for row in self._reader:
            self._n_characters = 0
            yield row

    def _limited(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if not self._n_characters:
                self._n_separators = 0
            self._n_characters += len(line)
            self.n_read += len(line)
            if self._n_characters > _UNCOUNTED:
                self._count(line)
                if self._n_characters >= MOST_CHARACTERS:
                    raise TooLongError(f"expected a row of fewer than {MOST_CHARACTERS:,} characters, got a longer one")
            yield line

    def _count(self, line: str) -> None:
        n_separators = line.count(self._separator)
        if self._separator == " " and n_separators > MOST_VARIABLES:
            n_separators = sum(1 for _ in _BLANKS.finditer(line))
        self._n_separators += n_separators
        if self._n_separators >= MOST_VARIABLES:
            raise TooManyFieldsError(f"more than {MOST_VARIABLES:,} fields in a row")
