"""Columns that no classifier can learn from: constants, and values that tell rows apart, such as names and numbers."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from scorecache.data.encoding import MAX_STATES, is_missing
from scorecache.data.frames import distinct_objects, holds_numbers, missing_mask
from scorecache.data.identifiers import FEW_VALUES, MOST_DIFFERENT
from scorecache.wording import listing

MISSING_EVERYWHERE = "missing everywhere"


def useless_columns(
    columns: Sequence[Any], names: Sequence[str], declared: Container[str], *, discretizes: bool
) -> dict[str, str]:
    """Name -> why the column is to be left out, for those whose states are not declared.

    Columns of numbers that will be discretised are quantities, unless they number the rows without a gap; else a column
    is an identifier if more than 50 values differ in more than 90 % of the rows, or if it has more than 1,000 texts.
    """
    found = {}
    for name, column in zip(names, columns, strict=True):
        if name in declared or not len(column):
            continue
        is_numeric = holds_numbers(column)
        first = column[:FEW_VALUES].tolist()
        if all(map(is_missing, first)) and missing_mask(column).all():
            found[name] = MISSING_EVERYWHERE
        elif _is_constant(column, first):
            found[name] = "constant"
        elif is_numeric and discretizes:
            if _numbers_rows(column):
                found[name] = "numbers the rows"
        else:
            n_values = _n_values(column)
            is_wide = not is_numeric and n_values > MAX_STATES
            is_different = n_values > max(FEW_VALUES, MOST_DIFFERENT * len(column)) and not _has_fractions(column)
            if is_wide or is_different:
                found[name] = f"{n_values:,} values, an identifier"
    return {} if len(found) == len(names) else found


def left_out_warning(found: dict[str, str]) -> str:
    """The warning for the columns that are left out."""
    listed = listing(f"{name!r} ({why})" for name, why in found.items())
    return (
        f"columns that cannot tell the classes apart are left out: {listed}; "
        "keep identifiers with allow_identifiers=True, or declare the states"
    )


def _is_constant(column: Any, first: list[Any]) -> bool:
    """Whether all values are one, of which `first` are the first few."""
    if is_missing(first[0]) or any(is_missing(value) or value != first[0] for value in first):
        return False
    return len(column) <= FEW_VALUES or all(value == first[0] for value in column[FEW_VALUES:].tolist())


def _numbers_rows(column: Any) -> bool:
    """Whether the numbers are some k, k + 1, ... in any order, each once."""
    if len(column) <= FEW_VALUES or getattr(column.dtype, "kind", "O") not in "iuf":
        return False
    values = np.asarray(column, dtype=np.float64)
    low, high = values.min(), values.max()
    if high - low != len(values) - 1:
        return False
    seen = np.zeros(len(values), dtype=np.bool_)
    seen[(values - low).astype(np.int64)] = True
    return bool(seen.all() and (np.floor(values) == values).all())


def _n_values(column: Any) -> int:
    """The number of different values; no more than FEW_VALUES is not counted exactly."""
    if len(column) <= FEW_VALUES:
        return 0
    hashed = distinct_objects(column) if getattr(column, "ndim", 0) == 1 else None
    if hashed is not None:
        return len(hashed[0])
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufSU":
        return len(np.unique(column))
    categorical = getattr(column, "cat", column)
    if hasattr(categorical, "codes"):
        return len(np.unique(np.asarray(categorical.codes)))
    return len({value for value in column.tolist() if not is_missing(value)})


def _has_fractions(column: Any) -> bool:
    return holds_numbers(column) and any(
        not is_missing(value) and not float(value).is_integer() for value in column.tolist()
    )
