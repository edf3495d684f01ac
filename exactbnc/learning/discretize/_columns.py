"""The columns of an array or a DataFrame: which are numeric, how to read them, how to replace them by codes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from exactbnc.learning.discretize._tally import Floats
from scorecache.data.encoding import is_missing
from scorecache.data.frames import check_names, is_frame, with_columns
from scorecache.errors import DataError

NUMBERS = "iuf"
"""The kinds of numpy and pandas dtypes of real numbers; truth values and categories are of other kinds."""


def validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as an array, or as the DataFrame it is so that its columns keep their dtypes."""
    if not is_frame(X):
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    if 0 in X.shape:
        raise DataError(f"X must have at least one row and one column. Got {X.shape} instead.")
    check_names(X)
    return validate_data(estimator, X, reset=reset, skip_check_array=True)


def holds_numbers(values: Any) -> bool:
    """Whether a column is numeric. In an array of objects all values must be, missing ones aside, and at least one."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        known = [value for value in values.tolist() if not is_missing(value)]
        return bool(known) and all(_is_number(value) and not isinstance(value, bool) for value in known)
    return values.dtype.kind in NUMBERS


def as_floats(values: Any, label: Hashable) -> Floats:
    """The numbers of a column, NaN where one is missing."""
    if values.dtype.kind in NUMBERS:
        is_array = isinstance(values, np.ndarray)
        floats: Floats = values.astype(float) if is_array else values.to_numpy(dtype=float, na_value=np.nan)
        return floats
    known = [None if is_missing(value) else value for value in values.tolist()]
    strange = [value for value in known if value is not None and not _is_number(value)]
    if strange:
        raise DataError(f"column {label!r} must contain numbers to be discretised. Got {strange[0]!r} instead.")
    return np.array(known, dtype=np.float64)


def replace(table: Any, coded: Mapping[int, NDArray[Any]]) -> Any:
    """A copy of the table with these columns, by position, in place of its own."""
    if is_frame(table):
        return with_columns(table, coded)
    if len(coded) == table.shape[1]:
        return np.column_stack([coded[position] for position in range(table.shape[1])])
    is_numeric = table.dtype.kind in NUMBERS
    changed = table.astype(np.result_type(table, *coded.values()) if is_numeric and coded else object)
    for position, codes in coded.items():
        changed[:, position] = codes
    return changed


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)
