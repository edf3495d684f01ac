"""The texts of a table, from whatever file: which columns are read, and how a field becomes a value.

A field is stripped; `missing_values` are missing unless they are declared states. Bytes that are not UTF-8 come as lone
surrogates and are found, like every fault of a value, when a field is seen for the first time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scorecache.data._encode import MOST_WEIGHT, Encoder, Encoding, not_a_weight, undeclared
from scorecache.data._measure import MeasuringEncoder
from scorecache.errors import ParameterError
from scorecache.wording import listing

MISSING_VALUES = ("?", "NA", "N/A", "NaN", "nan", "NULL", "null")

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
_UNREADABLE = re.compile("[\0\udc80-\udcff]")


class FieldError(Exception):
    """A field is faulty; whoever holds its chunk knows the line."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


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


def column_encoder(
    name: str,
    encoding: Encoding,
    missing_values: frozenset[str],
    *,
    read_undeclared: Callable[[str], str | None] | None = None,
    measured: Container[str] | None = None,
) -> Encoder:
    """Fields to values: stripped, readable, and declared if states are; columns without may share their reader."""
    declared = encoding.states.get(name)
    if declared is None:
        read_field = read_undeclared or text_reader(missing_values)
        if measured is not None and name in measured:
            above = encoding.limit(is_numeric=True)
            return MeasuringEncoder(read_field, number_of, above=above, most=encoding.most_values)
        return Encoder(read_field, most=encoding.most_values)
    known, read_any = frozenset(declared), text_reader(missing_values)

    def read(field: str) -> str | None:
        value = field.strip()
        if value in known:
            return value
        if read_any(field) is not None:
            raise FieldError(field, undeclared(name, value, declared))
        return None

    return Encoder(read, declared)


def text_reader(missing_values: frozenset[str]) -> Callable[[str], str | None]:
    """From a field to its value; None for a missing one."""

    def read(field: str) -> str | None:
        value = field.strip()
        if value in missing_values:
            return None
        fault = unreadable(value)
        if fault is not None:
            raise FieldError(field, fault)
        return value

    return read


def encode_weights(fields: Sequence[str]) -> NDArray[np.int64]:
    """Row weights as numbers."""
    return np.fromiter(map(_read_weight, fields), dtype=np.int64, count=len(fields))


def unreadable(text: str) -> str | None:
    """What is wrong with the characters of a text."""
    match = _UNREADABLE.search(text)
    if match is None:
        return None
    byte = ord(match[0]) & 0xFF
    return f"the byte 0x{byte:02x} is not UTF-8 text; convert the file, for instance with iconv -f ENCODING -t UTF-8"


def faulty_names(names: Sequence[str], *, may_lack_name: bool) -> str | None:
    """What is wrong with the names of columns; one of them may have none if it is left out."""
    fault = unreadable("".join(names))
    if fault is None and "" in names and len(names) > 1 and not may_lack_name:
        fault = f"column {names.index('') + 1} of {len(names)} has no name; name it, or leave it out (--ignore '')"
    if fault is None and len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        fault = f"column names must be different from each other; found twice: {listing(map(repr, twice))}"
    return fault


def number_of(text: str) -> float | None:
    """The number that a text spells."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _read_weight(field: str) -> int:
    weight = number_of(field.strip())
    if weight is None or not (0 <= weight <= MOST_WEIGHT and weight.is_integer()):
        raise FieldError(field, not_a_weight(field.strip()))
    return int(weight)
