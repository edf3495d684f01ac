"""The columns of a table that is a numpy array, a pandas DataFrame or a polars DataFrame.

The columns of an array are arrays, those of pandas are Series. Those of polars become arrays, with None where a value
is null, and `Declared` where they are an Enum, whose categories are declared as those of a pandas category are. What a
polars Categorical lists belongs to all such columns of the process, so its categories are those that occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data.encoding import is_missing
from scorecache.errors import DataError

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Declared:
    """A column of codes among declared categories, -1 where a value is missing."""

    categories: tuple[str, ...]
    codes: NDArray[np.int64]

    def __getitem__(self, rows: Any) -> Declared:
        return Declared(self.categories, self.codes[rows])

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Neither pandas nor numpy calls categories numbers."""
        return np.dtype(object)

    def tolist(self) -> list[str | None]:
        """The values themselves."""
        return [None if code < 0 else self.categories[code] for code in self.codes.tolist()]


def is_frame(table: Any) -> bool:
    """Is it a DataFrame of pandas or polars?"""
    return (hasattr(table, "iloc") and hasattr(table, "columns")) or _is_polars(table)


def check_names(frame: Any) -> None:
    """Raise a DataError if two columns of a DataFrame have the same name."""
    names = list(frame.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"the columns of X must have different names. Got {twice!r} {names.count(twice)} times; "
            "rename all but one of them, or leave them out"
        )


def columns_of(table: Any) -> list[Any]:
    """The columns of an array or a DataFrame."""
    if isinstance(table, np.ndarray):
        return [table[:, position] for position in range(table.shape[1])]
    if _is_polars(table):
        return [_values(series) for series in table.get_columns()]
    return [values for _, values in table.items()]


def missing_mask(column: Any) -> Mask:
    """Which values of the column are missing."""
    if hasattr(column, "isna"):
        return np.asarray(column.isna(), dtype=np.bool_)
    if isinstance(column, Declared):
        return column.codes < 0
    if column.dtype.kind in "biuSU":
        return np.zeros(len(column), dtype=np.bool_)
    if column.dtype.kind in "fmM":
        return np.asarray(column != column)  # NaN and NaT
    return np.array([is_missing(value) for value in column.tolist()], dtype=np.bool_)


def with_columns(frame: Any, changed: Mapping[int, NDArray[Any]]) -> Any:
    """A copy of the frame with these columns, by position, in place of its own; in polars a NaN among them is null."""
    copied = frame.clone() if _is_polars(frame) else frame.copy()
    for position, values in changed.items():
        if _is_polars(frame):
            series = copied.to_series(position)
            copied.replace_column(position, type(series)(series.name, values, nan_to_null=True))
        else:
            copied.isetitem(position, values)
    return copied


def _is_polars(table: Any) -> bool:
    return hasattr(table, "get_columns") and hasattr(table, "to_series")


def _values(series: Any) -> NDArray[Any] | Declared:
    """What a column of polars holds."""
    if type(series.dtype).__name__ == "Enum":
        codes = series.to_physical().cast(int).fill_null(-1).to_numpy()
        return Declared(tuple(series.dtype.categories), codes)
    if series.dtype.is_float() or series.dtype.is_temporal() or not (series.null_count() or series.dtype.is_nested()):
        array: NDArray[Any] = series.to_numpy()
        return array
    return _objects(series.to_list())


def _objects(values: list[Any]) -> NDArray[Any]:
    """An array of the values as they are, where numpy would look into those that are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
