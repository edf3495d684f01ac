"""Reading a Parquet file into a `Dataset`, a batch of rows at a time, as if it were the CSV file of the same table.

Values are taken as texts, whole numbers without a point, so that the same table gives the same data set from either
file. Null and NaN are missing values, and so are the texts that are missing in a CSV file. Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache._encode import Encoder
from scorecache._texts import (
    MISSING_VALUES,
    FieldError,
    chosen_columns,
    column_encoder,
    encode_weights,
    text_encoding,
)
from scorecache.codestore import CodeStore
from scorecache.dataset import Dataset
from scorecache.errors import DataError, ParameterError

BATCH_ROWS = 1 << 17


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

    encoding = text_encoding(states, missing, max_states)
    absent = frozenset(missing_values) | {""}
    store = CodeStore(codes_memory)
    with open(path, "rb") as raw:
        try:
            file = ParquetFile(raw)
            names = _names(path, file.schema_arrow, least_columns)
            is_chosen = chosen_columns(names, weights, ignore, only)
            chosen = list(compress(file.schema_arrow, is_chosen))
            _check_types(path, chosen)
            names = list(compress(names, is_chosen))
            encoding.check_columns([name for name in names if name != weights])
            encoders = {name: column_encoder(name, encoding, absent, measured=measured) for name in names}
            row_weights = bytearray()
            n_rows = 0
            for batch in file.iter_batches(batch_rows, columns=[field.name for field in chosen]):
                codes = []
                for name, column in zip(names, batch.columns, strict=True):
                    try:
                        if name == weights:
                            row_weights += _weights(column).data
                        else:
                            codes.append(_codes(column, encoders[name]))
                    except FieldError as error:
                        row = n_rows + _row_of(column, error.field)
                        raise DataError(f"{path}: row {row}: {error}") from None
                store.add(codes)
                n_rows += batch.num_rows
        except (ArrowException, OSError) as error:
            raise DataError(f"{path}: not a Parquet file, or a damaged one ({error})") from error
    if n_rows == 0:
        raise DataError(f"{path}: expected rows of values, got none")
    variables = [name for name in names if name != weights]
    columns = [
        encoders[name].column(name, codes, is_declared=name in encoding.states)
        for name, codes in zip(variables, store.columns(), strict=True)
    ]
    try:
        return store.dataset(columns, None if weights is None else np.frombuffer(row_weights, np.int64), encoding)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _names(path: str | Path, schema: Any, least_columns: int) -> list[str]:
    names = [str(name).strip() for name in schema.names]
    if len(names) < least_columns:
        raise DataError(f"{path}: {len(names)} columns; a network needs at least two variables")
    return names


def _check_types(path: str | Path, fields: Iterable[Any]) -> None:
    import pyarrow.types as kinds

    for field in fields:
        if kinds.is_nested(field.type) or kinds.is_binary(field.type):
            raise DataError(f"{path}: column {field.name!r} is {field.type}; expected a column of numbers or texts")


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
