"""The different values of a table while it is read: what they may take, beside the size of what was read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from scorecache.data._encode import MAX_NUMERIC_STATES, Encoder, Encoding, RawColumn, check_columns
from scorecache.data._measure import MeasuringEncoder
from scorecache.errors import DataError

_VALUE_BYTES = 145
"""What a different value takes while it is read, however short it is."""
MOST_RATIO, FREE_BYTES = 10, 12 * 2**20
"""The values may take this multiple of what was read, and some bytes in any case."""
_FEW_VALUES = 4
"""So many of every column always fit."""


def raw_columns(
    names: Sequence[str],
    encoders: Sequence[Encoder | None],
    encoding: Encoding,
    codes: Iterable[NDArray[np.uint8] | NDArray[np.uint16]],
) -> list[RawColumn]:
    """What the encoders have seen, with the codes of each in turn; the encoders are empty then."""
    coded = iter(codes)
    return [
        encoder.column(name, next(coded), is_declared=name in encoding.states)
        for name, encoder in zip(names, encoders, strict=True)
        if encoder is not None
    ]


def check_values(
    label: str, names: Sequence[str], encoders: Sequence[Encoder | None], encoding: Encoding, n_read: int
) -> None:
    """Keep within memory that is near what was read: numbers go on as measurements; too many others are refused."""
    undeclared = [
        encoder
        for name, encoder in zip(names, encoders, strict=True)
        if encoder is not None and name not in encoding.states
    ]
    if _fit(undeclared, n_read):
        return
    for least in (MAX_NUMERIC_STATES, _FEW_VALUES):
        for encoder in undeclared:
            if isinstance(encoder, MeasuringEncoder) and len(encoder.values_seen) > least:
                encoder.measure(only_numbers=True)
        if _fit(undeclared, n_read):
            return
    columns = raw_columns(names, encoders, encoding, repeat(np.empty(0, dtype=np.uint16)))
    try:
        check_columns(columns, encoding)
    except DataError as error:
        raise DataError(f"{label}: {error}") from error
    n_values = sum(len(column.values) for column in columns)
    raise DataError(
        f"{label}: expected values that occur again and again, got {n_values:,} different ones in "
        f"{n_read:,} characters; leave columns out that are no categories (--ignore COLUMN, ignore=[...]), "
        "or declare the states (--states)"
    )


def _fit(encoders: Sequence[Encoder], n_read: int) -> bool:
    n_values = sum(len(encoder.values_seen) for encoder in encoders)
    return n_values * _VALUE_BYTES <= MOST_RATIO * n_read + FREE_BYTES
