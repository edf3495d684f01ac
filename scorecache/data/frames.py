"""The columns of a table: a numpy array, a pandas DataFrame, or any frame that speaks Arrow's C stream interface.

The columns of an array are arrays, those of pandas are Series. Those of an Arrow frame (polars, pyarrow, DuckDB, ...)
become arrays, with None where a value is null, and `Declared` where they are ordered dictionaries, such as an Enum of
polars, whose categories are declared as those of a pandas category are. What an unordered dictionary lists may belong
to other columns too, so its categories are those that occur.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data.encoding import is_missing
from scorecache.errors import DataError, ParameterError

MANY_VALUES = 1000
"""Objects that are worth loading Arrow for."""

NUMBERS = "iuf"
"""The kinds of numpy and pandas dtypes of real numbers; truth values and categories are of other kinds."""

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Declared:
    """A column of codes among declared categories, -1 where a value is missing."""

    categories: tuple[Hashable, ...]
    codes: NDArray[np.int64]

    def __getitem__(self, rows: Any) -> Declared:
        return Declared(self.categories, self.codes[rows])

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Neither pandas nor numpy calls categories numbers."""
        return np.dtype(object)

    def tolist(self) -> list[Hashable]:
        """The values themselves."""
        return [None if code < 0 else self.categories[code] for code in self.codes.tolist()]


def is_frame(table: Any) -> bool:
    """Is it a DataFrame of pandas, or another frame that speaks Arrow? Raises ParameterError for a query of polars."""
    if type(table).__name__ == "LazyFrame" and hasattr(table, "collect"):
        raise ParameterError("expected a DataFrame. Got a LazyFrame, which has no rows yet; call .collect() on it")
    is_arrow = hasattr(table, "__arrow_c_stream__")  # a column may be one, too
    return _is_pandas(table) or (is_arrow and (hasattr(table, "columns") or hasattr(table, "column_names")))


def names_of(frame: Any) -> list[Any]:
    """The names of the columns of a frame."""
    if hasattr(frame, "column_names"):  # pyarrow's `columns` are the columns themselves
        return list(frame.column_names)
    return list(frame.columns)


def check_names(frame: Any) -> None:
    """Raise a DataError if two columns of a DataFrame have the same name."""
    names = names_of(frame)
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
    if _is_pandas(table):
        return [values for _, values in table.items()]
    import pyarrow

    return [_values(column.combine_chunks()) for column in pyarrow.table(table).columns]


def distinct_objects(values: Any) -> tuple[list[Any], NDArray[np.int64]] | None:
    """The distinct values of a column of objects, None for a missing one, and the position of every row's value.

    Arrow hashes them many times as fast as Python does, and knows the whole numbers and truth values of pandas that may
    be missing. None if there are too few objects for that to matter, or if they are not all texts, all whole numbers or
    all truth values, which Arrow has a type for.
    """
    kind = values.dtype.kind
    if len(values) < MANY_VALUES if kind == "O" else kind not in "iub" or isinstance(values.dtype, np.dtype):
        return None
    import pyarrow

    try:
        array = pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, UnicodeError, OverflowError, TypeError, ValueError):
        return None
    array = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
    kinds = pyarrow.types
    if not any(is_kind(array.type) for is_kind in (kinds.is_string, kinds.is_large_string, kinds.is_boolean)) and (
        not kinds.is_integer(array.type)
    ):
        return None
    encoded = array.dictionary_encode(null_encoding="encode")
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


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


def _is_pandas(table: Any) -> bool:
    return hasattr(table, "iloc") and hasattr(table, "columns")


def _is_polars(table: Any) -> bool:
    return hasattr(table, "get_columns") and hasattr(table, "to_series")


def _values(column: Any) -> NDArray[Any] | Declared:
    """What an Arrow array holds."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type):
        if column.type.ordered:
            codes = column.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
            return Declared(tuple(column.dictionary.to_pylist()), codes)
        return _objects(column.to_pylist())
    has_nan = kinds.is_floating(column.type) or kinds.is_temporal(column.type)
    if has_nan or ((kinds.is_integer(column.type) or kinds.is_boolean(column.type)) and not column.null_count):
        array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return array
    return _objects(column.to_pylist())


def _objects(values: list[Any]) -> NDArray[Any]:
    """An array of the values as they are, where numpy would look into those that are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)
