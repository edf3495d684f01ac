"""The columns of a Parquet file as texts, a batch of rows at a time.

Values are taken as texts, whole numbers without a point, so that the same table gives the same data set from CSV and
Parquet.

A kilobyte of Parquet can hold a billion equal values. What a file may hold is what a packed CSV file of its size may
unpack to (`scorecache.system.unpack`), a value counted as `VALUE_BYTES` as in a CSV file of single digits, and texts,
which are decoded once for a batch however often they occur, with their length.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data.columns import Texts
from scorecache.errors import DataError
from scorecache.system.unpack import FREE_BYTES, MOST_RATIO, most_unpacked

VALUE_BYTES = 2

_BATCH_VALUES = 1 << 20
_MOST_THRIFT = 10**6
_MOST_MESSAGE = 300


def parquet_batches(
    raw: IO[bytes], path: str | Path, choose: Callable[[list[str]], list[bool]], batch_rows: int
) -> Iterator[list[Texts]]:
    """The columns that `choose` picks by their names, batch by batch."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    size = os.fstat(raw.fileno()).st_size
    limits = {  # an element of a list takes a byte at least
        "thrift_string_size_limit": max(1, min(size, 100 * _MOST_THRIFT)),
        "thrift_container_size_limit": max(1, min(size, _MOST_THRIFT)),
    }
    try:
        file = ParquetFile(raw, **limits)
        chosen = list(compress(file.schema_arrow, choose([str(name).strip() for name in file.schema_arrow.names])))
        _check_types(path, chosen)
        taken = _Taken(path, size, file.metadata, len(chosen))
        texts = [field.name for field in chosen if _is_text(field.type)]
        file = ParquetFile(raw, metadata=file.metadata, read_dictionary=texts, **limits)
        most_rows = max(1, min(batch_rows, _BATCH_VALUES // len(chosen)))
        for batch in file.iter_batches(most_rows, columns=[field.name for field in chosen]):
            columns = [batch.column(field.name) for field in chosen]  # a name may stand for "name.more" as well
            taken.add(columns)
            yield [_distinct(path, field.name, column) for field, column in zip(chosen, columns, strict=True)]
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a Parquet file, or a damaged one ({_line(error)})") from error


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


def _distinct(path: str | Path, name: str, column: Any) -> Texts:
    """The distinct values of a batch as texts, an empty one for null where there is one, and which each row has."""
    from pyarrow import ArrowException

    try:
        encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
        indices = encoded.indices
        used = np.unique(indices.drop_null().to_numpy(zero_copy_only=False))
        values = encoded.dictionary.take(_arrow(used)).to_pylist()
    except (ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"{path}: column {name!r} cannot be read ({_line(error)})") from error
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
