"""Reading a Parquet file into a `Dataset`, a batch of rows at a time, as if it were the CSV file of the same table.

Values are taken as texts, whole numbers without a point, so that the same table gives the same data set from either
file. Null and NaN are missing values, and so are the texts that are missing in a CSV file. Needs pyarrow.

A kilobyte of Parquet can hold a billion equal values. What a file may hold is what a packed CSV file of its size may
unpack to (`scorecache.system.unpack`), a value counted as `VALUE_BYTES` as in a CSV file of single digits, and texts,
which are decoded once for a batch however often they occur, with their length.
"""

from __future__ import annotations

import os
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data._encode import Encoder
from scorecache.data._texts import (
    MISSING_VALUES,
    FieldError,
    chosen_columns,
    column_encoder,
    encode_weights,
    faulty_names,
    text_encoding,
)
from scorecache.data._values import check_values, raw_columns
from scorecache.data.codestore import CodeStore
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError
from scorecache.system.files import open_input
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.system.unpack import FREE_BYTES, MOST_RATIO, most_unpacked

BATCH_ROWS = 1 << 16
VALUE_BYTES = 2

_BATCH_VALUES = 1 << 20
_MOST_THRIFT = 10**6
_MOST_MESSAGE = 300


def read_parquet(
    path: str | Path,
    *,
    states: Mapping[str, Iterable[Hashable]] | None = None,
    weights: str | None = None,
    missing: str = "error",
    missing_values: Iterable[str] = MISSING_VALUES,
    max_states: int | None = None,
    ignore: Iterable[str] = (),
    only: Container[str] | None = None,
    measured: Container[str] | None = None,
    codes_memory: float | None = None,
    least_columns: int = 2,
    batch_rows: int = BATCH_ROWS,
) -> Dataset:
    """Read a table of plain columns; the options are those of `read_csv`."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ParameterError(f"{path}: a Parquet file needs pyarrow: pip install 'exactbnc[parquet]'") from error

    ignore = frozenset(ignore)
    encoding = text_encoding(states, missing, max_states)
    absent = frozenset(missing_values) | {""}
    store = CodeStore(codes_memory)
    with open_input(path) as raw:
        size = os.fstat(raw.fileno()).st_size
        limits = {  # an element of a list takes a byte at least
            "thrift_string_size_limit": max(1, min(size, 100 * _MOST_THRIFT)),
            "thrift_container_size_limit": max(1, min(size, _MOST_THRIFT)),
        }
        try:
            file = ParquetFile(raw, **limits)
            schema = file.schema_arrow
            names = _names(path, schema, least_columns, may_lack_name="" in ignore)
            is_chosen = chosen_columns(names, weights, ignore, only)
            chosen = list(compress(schema, is_chosen))
            _check_types(path, chosen)
            names = list(compress(names, is_chosen))
            encoding.check_columns([name for name in names if name != weights])
            taken = _Taken(path, size, file.metadata, len(chosen))
            encoders = [
                None if name == weights else column_encoder(name, encoding, absent, measured=measured) for name in names
            ]
            texts = [field.name for field in chosen if _is_text(field.type)]
            file = ParquetFile(raw, metadata=file.metadata, read_dictionary=texts, **limits)
            row_weights = bytearray()
            n_rows = 0
            most_rows = max(1, min(batch_rows, _BATCH_VALUES // len(chosen)))
            for batch in file.iter_batches(most_rows, columns=[field.name for field in chosen]):
                columns = [batch.column(field.name) for field in chosen]  # a name may stand for "name.more" as well
                taken.add(columns)
                codes = []
                for name, column, encoder in zip(names, columns, encoders, strict=True):
                    try:
                        if encoder is None:
                            row_weights += _weights(column).data
                        else:
                            codes.append(_codes(column, encoder))
                    except FieldError as error:
                        row = n_rows + _row_of(column, error.field)
                        raise DataError(f"{path}: row {row}: {error}") from None
                    except (ArrowException, ValueError, OverflowError) as error:
                        raise DataError(f"{path}: column {name!r} cannot be read ({_line(error)})") from error
                store.add(codes)
                n_rows += batch.num_rows
                check_values(str(path), names, encoders, encoding, max(size, taken.n_bytes))
        except (ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: not a Parquet file, or a damaged one ({_line(error)})") from error
    if n_rows == 0:
        raise DataError(f"{path}: expected rows of values, got none")
    columns = raw_columns(names, encoders, encoding, store.columns())
    try:
        return store.dataset(columns, None if weights is None else np.frombuffer(row_weights, np.int64), encoding)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


class _Taken:
    """What was decoded so far, and the most that a file of this size may hold."""

    def __init__(self, path: str | Path, size: int, metadata: Any, n_columns: int) -> None:
        self.n_bytes = 0
        self._most = most_unpacked(size)
        self._path = path
        self._size = size
        n_pages = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
        self._check(max(VALUE_BYTES * metadata.num_rows * n_columns, n_pages))

    def add(self, columns: Sequence[Any]) -> None:
        """Count a batch: every value, and every text once."""
        self.n_bytes += sum(VALUE_BYTES * len(column) for column in columns)
        self.n_bytes += sum(column.dictionary.nbytes for column in columns if hasattr(column, "dictionary"))
        self._check(self.n_bytes)

    def _check(self, n_bytes: int) -> None:
        if n_bytes > self._most:
            raise DataError(
                f"{self._path}: the file of {self._size:,} bytes holds more than {self._most:,} bytes of values, "
                f"{MOST_RATIO} times its own size and {FREE_BYTES:,} bytes; if that is right, convert it to CSV"
            )


def _line(error: BaseException) -> str:
    """What another library says, on one line."""
    return " ".join(str(error).split())[:_MOST_MESSAGE]


def _names(path: str | Path, schema: Any, least_columns: int, *, may_lack_name: bool) -> list[str]:
    names = [str(name).strip() for name in schema.names]
    if len(names) < least_columns:
        raise DataError(f"{path}: {len(names)} columns; a network needs at least two variables")
    if len(names) > MOST_VARIABLES:
        raise DataError(f"{path}: {too_many_variables(f'{len(names):,} columns')}")
    fault = faulty_names(names, may_lack_name=may_lack_name)
    if fault is not None:
        raise DataError(f"{path}: {fault}")
    return names


def _check_types(path: str | Path, fields: Iterable[Any]) -> None:
    for field in fields:
        if not _is_plain(field.type):
            came = " ".join(str(field.type).split())[:_MOST_MESSAGE]
            raise DataError(f"{path}: column {field.name!r} is {came}; expected a column of numbers or texts")


def _is_plain(kind: Any) -> bool:
    import pyarrow.types as kinds

    if kinds.is_dictionary(kind):
        return _is_plain(kind.value_type)
    plain = (kinds.is_null, kinds.is_boolean, kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_temporal)
    return _is_text(kind) or any(is_kind(kind) for is_kind in plain)


def _is_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _codes(column: Any, encoder: Encoder) -> NDArray[np.uint16]:
    """Number the values of a batch: its distinct values as texts, then its rows by table."""
    texts, positions = _distinct(column)
    return encoder.encode(texts, positions)


def _weights(column: Any) -> NDArray[np.int64]:
    texts, positions = _distinct(column)
    return encode_weights(texts)[positions]


def _distinct(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values of a batch as texts, an empty one for null where there is one, and which each row has."""
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    indices = encoded.indices
    used = np.unique(indices.drop_null().to_numpy(zero_copy_only=False))
    values = encoded.dictionary.take(_arrow(used)).to_pylist()
    texts = ["" if value is None else str(value) for value in values]
    if indices.null_count:
        texts.append("")
    positions = np.searchsorted(used, indices.fill_null(0).to_numpy(zero_copy_only=False)).astype(np.int64)
    if indices.null_count:
        positions[indices.is_null().to_numpy(zero_copy_only=False)] = len(texts) - 1
    return texts, positions


def _arrow(positions: NDArray[Any]) -> Any:
    import pyarrow

    return pyarrow.array(positions, pyarrow.int64())


def _row_of(column: Any, field: str) -> int:
    texts, positions = _distinct(column)
    return int(np.argmax(positions == _index(texts, field)))


def _index(texts: Sequence[str], field: str) -> int:
    return list(texts).index(field)
