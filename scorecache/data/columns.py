"""Columns of texts while a table is read: which are read, what a field means, and codes batch by batch.

Every reader hands over a batch of rows as the distinct texts of a column and, per row, the position of its text. All
decisions about values are thus taken once per distinct text; the rows follow through a lookup table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from scorecache.data.encoding import MEASURED, MOST_WEIGHT, Encoder, Encoding, RawColumn, not_a_weight, undeclared
from scorecache.errors import ParameterError
from scorecache.wording import listing

MISSING_VALUES = ("?", "NA", "N/A", "#N/A", "nan", "null", "None", "<NA>", "NaT")
"""Spellings of a missing value, in upper or lower case, beside the empty field."""

Texts = tuple[list[str], NDArray[np.integer]]
"""The distinct texts of a column in a batch, and for every row the position of its text."""

_NUMBER = re.compile(r"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?(?:\d++,\d*+|,\d++)(?:e[+-]?\d++)?", re.ASCII | re.IGNORECASE)
_FOLDED_MISSING = frozenset(text.casefold() for text in MISSING_VALUES)


class FieldError(Exception):
    """A field is faulty; the reader of the batch adds where it is."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Fields:
    """What a field means: `na` replaces the usual spellings of a missing value, `decimal` is the decimal mark."""

    na: frozenset[str] | None = None
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ParameterError(f"decimal must be '.' or ','. Got {self.decimal!r} instead.")

    def value(self, field: str) -> str | None:
        """The text of a field without blanks around it, numbers with a decimal point; None if it is missing."""
        text = field.strip()
        if not text or (text in self.na if self.na is not None else text.casefold() in _FOLDED_MISSING):
            return None
        if "\0" in text:
            raise FieldError(field, "a value holds the character NUL; the file is damaged or is not a table of text")
        return self._with_point(text)

    def number(self, field: str) -> float:
        """The number that a field spells, NaN for anything else."""
        value = self.value(field)
        number = None if value is None else number_of(value)
        return nan if number is None else number

    def _with_point(self, text: str) -> str:
        is_changed = self.decimal == "," and "," in text and _COMMA_NUMBER.fullmatch(text)
        return text.replace(",", ".") if is_changed else text


class TextColumn:
    """The codes of one column: in the order of the declared states, or as values appear."""

    def __init__(self, name: str, encoding: Encoding, fields: Fields) -> None:
        self._name = name
        self._fields = fields
        self._declared = encoding.states.get(name)
        known = self._declared or ()
        read = fields.value if self._declared is None else self._declared_value
        self.encoder = Encoder(read, known, most=encoding.most_values if self._declared is None else None)

    def add(self, texts: Sequence[str], rows: NDArray[np.integer]) -> NDArray[np.uint16]:
        """The codes of a batch."""
        codes: NDArray[np.uint16] = self.encoder.encode(texts)[rows]
        return codes

    def finished(self, codes: NDArray[np.uint8] | NDArray[np.uint16]) -> RawColumn:
        """The whole column, of which these are the codes."""
        return self.encoder.column(self._name, codes, is_declared=self._declared is not None)

    def _declared_value(self, field: str) -> str | None:
        text = field.strip()
        if text in self.encoder:
            return text
        value = self._fields.value(field)
        if value is not None and value not in self.encoder:
            assert self._declared is not None
            raise FieldError(field, undeclared(self._name, value, self._declared))
        return value


class MeasuredColumn(TextColumn):
    """A column that keeps the numbers themselves once it has more of them than states are allowed.

    Anything else among the numbers, a missing value or a text, is numbered as before.
    """

    def __init__(self, name: str, encoding: Encoding, fields: Fields) -> None:
        super().__init__(name, encoding, fields)
        self._above = min(encoding.limit(is_numeric=True), encoding.most_values - 1)
        self._pieces: list[NDArray[np.float64]] = []
        self._numbers_before: NDArray[np.float64] = np.empty(0)
        self._codes_before: NDArray[np.uint16] = np.empty(0, np.uint16)
        self._n_before = 0
        self._is_measuring = False

    def add(self, texts: Sequence[str], rows: NDArray[np.integer]) -> NDArray[np.uint16]:
        """The codes of a batch; those of numbers that are kept are 0."""
        if not self._is_measuring:
            codes = super().add(texts, rows)
            if not self._has_many_numbers():
                self._n_before += len(codes)
                return codes
            self._start_measuring()
        numbers = _floats(texts, self._fields)
        others = np.zeros(len(texts), dtype=np.uint16)
        for position in np.flatnonzero(np.isnan(numbers)).tolist():
            others[position] = self.encoder[texts[position]]
        self._pieces.append(numbers[rows])
        of_others: NDArray[np.uint16] = others[rows]
        return of_others

    def finished(self, codes: NDArray[np.uint8] | NDArray[np.uint16]) -> RawColumn:
        """The whole column with its numbers, NaN in place of anything else."""
        column = super().finished(codes)
        if self._is_measuring:
            before = codes[: self._n_before]
            column.numbers = np.concatenate([self._numbers_before[before], *self._pieces])
            column.codes = codes.astype(np.uint16)
            column.codes[: self._n_before] = self._codes_before[before]
        return column

    def _has_many_numbers(self) -> bool:
        seen = self.encoder.values_seen
        return len(seen) > self._above and int(np.count_nonzero(~np.isnan(self._numbers_seen()))) > self._above

    def _numbers_seen(self) -> NDArray[np.float64]:
        return np.array(
            [nan if value is None else self._fields.number(str(value)) for value in self.encoder.values_seen]
        )

    def _start_measuring(self) -> None:
        """Put the numbers seen so far aside; what is not a number gets a new code behind `MEASURED`."""
        seen, self._numbers_before = self.encoder.values_seen, self._numbers_seen()
        others = [value for value, number in zip(seen, self._numbers_before, strict=True) if number != number]
        self.encoder = Encoder(self._fields.value, [MEASURED, *others])
        self._codes_before = np.array([self.encoder.get(value, 0) for value in seen], dtype=np.uint16)
        del self.encoder[MEASURED]  # a text of that name in the file is a state of its own
        self._is_measuring = True


def text_encoding(states: Mapping[str, Iterable[Hashable]] | None, missing: str, max_states: int | None) -> Encoding:
    """How texts become states, the declared ones given as anything that can be written."""
    declared = {name: tuple(str(state).strip() for state in listed) for name, listed in (states or {}).items()}
    return Encoding(declared, missing, max_states, number_of=number_of)


def chosen_columns(
    names: Sequence[str], weights: str | None, ignore: Iterable[str], only: Container[str] | None
) -> list[bool]:
    """Which columns are read: not those to `ignore`, and `only` those where at least one of them is there."""
    ignored = frozenset(ignore)
    shown = listing(map(repr, names))
    if unknown := sorted(ignored.difference(names)):
        raise ParameterError(f"{listing(map(repr, unknown))} cannot be ignored, the columns are {shown}")
    if weights is not None and weights not in names:
        raise ParameterError(f"the weights {weights!r} are not a column; columns are {shown}")
    if weights in ignored:
        raise ParameterError(f"the weights {weights!r} cannot be ignored")
    is_wanted = [only is None or name in only for name in names]
    if not any(is_wanted):
        is_wanted = [True] * len(names)
    is_variable = [own and name != weights and name not in ignored for name, own in zip(names, is_wanted, strict=True)]
    if not any(is_variable):
        raise ParameterError(f"no column is left; the columns are {shown}")
    return [own or name == weights for name, own in zip(names, is_variable, strict=True)]


def faulty_names(names: Sequence[str], *, may_lack_name: bool) -> str | None:
    """What is wrong with the names of columns; one of them may have none if it is left out."""
    if any("\0" in name for name in names):
        return "a column name holds the character NUL; the file is damaged or is not a table of text"
    if "" in names and len(names) > 1 and not may_lack_name:
        return f"column {names.index('') + 1} of {len(names)} has no name; name it, or leave it out (ignore=[''])"
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        return f"column names must be different from each other; found twice: {listing(map(repr, twice))}"
    return None


def weights_of(texts: Sequence[str], rows: NDArray[np.integer], fields: Fields) -> NDArray[np.float64]:
    """The row weights of a batch."""
    weights: NDArray[np.float64] = np.array([_weight(text, fields) for text in texts], dtype=np.float64)[rows]
    return weights


def number_of(text: str) -> float | None:
    """The number that a text spells."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _weight(field: str, fields: Fields) -> float:
    weight = fields.number(field)
    if not 0 <= weight <= MOST_WEIGHT:
        raise FieldError(field, not_a_weight(field.strip()))
    return weight


def _floats(texts: Sequence[str], fields: Fields) -> NDArray[np.float64]:
    """The numbers that texts spell, NaN for anything else; by Arrow where all of them are plain decimal numbers."""
    import pyarrow
    from pyarrow.compute import all as all_of
    from pyarrow.compute import match_substring_regex

    plain = pyarrow.array(texts, pyarrow.string())
    if fields.na is None and all_of(match_substring_regex(plain, r"^-?[0-9]+(\.[0-9]+)?$")).as_py():
        numbers: NDArray[np.float64] = plain.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
        return numbers
    return np.fromiter(map(fields.number, texts), dtype=np.float64, count=len(texts))
