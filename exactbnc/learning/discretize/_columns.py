"""The columns of an array or a DataFrame replaced by codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from scorecache.data.frames import NUMBERS, check_names, is_frame, with_columns
from scorecache.errors import DataError


def validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as an array, or as the DataFrame it is so that its columns keep their dtypes."""
    if not is_frame(X):
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    if 0 in X.shape:
        raise DataError(f"X must have at least one row and one column. Got {X.shape} instead.")
    check_names(X)
    return validate_data(estimator, X, reset=reset, skip_check_array=True)


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
