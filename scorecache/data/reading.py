"""Reading tables: CSV, Parquet, batch by batch on one path to the codes of a `Dataset`.

A source gives the distinct texts of every column of a batch and which of them each row has; `_Collector` turns them
into codes. Both kinds of files thus give the same data set for the same table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, compress
from pathlib import Path
from typing import IO, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from scorecache.data.codestore import CodeStore
from scorecache.data.columns import (
    FieldError,
    Fields,
    MeasuredColumn,
    TextColumn,
    Texts,
    chosen_columns,
    faulty_names,
    text_encoding,
    weights_of,
)
from scorecache.data.csvblocks import (
    SEPARATORS,
    Block,
    CsvShape,
    checked_separator,
    find_separator,
    first_row,
    line_of,
    parsed,
    text_blocks,
)
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import counts_if_whole
from scorecache.errors import DataError, ParameterError
from scorecache.system.files import limited, open_input
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.system.unpack import UnpackError
from scorecache.wording import listing

PARQUET = (".parquet", ".pq")
BATCH_ROWS = 1 << 16


class Options(TypedDict, total=False):
    """What every reader takes; see `read_csv`."""

    states: Mapping[str, Iterable[Hashable]] | None
    weights: str | None
    missing: str
    na: Iterable[str] | None
    max_states: int | None
    ignore: Iterable[str]
    only: Container[str] | None
    measured: Container[str] | None
    kept: Mapping[str, list[str]]
    codes_memory: float | None
    least_columns: int


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    decimal: str = ".",
    **options: Unpack[Options],
) -> Dataset:
    """Read a table by the ending of its name: `.parquet` and `.pq` as Parquet, anything else as CSV.

    Parameters
    ----------
    path, separator, header, encoding, decimal, **options
        As for `read_csv`; a Parquet file takes neither separator, header, encoding nor decimal mark.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        The table cannot be used; the message names the line or row.
    ParameterError
        The options do not go with the file or its columns.

    Examples
    --------
    >>> from exactbnc import instances
    >>> read_table(instances.path("asia-500.csv")).n_vars
    8
    """
    if Path(path).suffix.lower() not in PARQUET:
        return read_csv(path, separator=separator, header=header, encoding=encoding, decimal=decimal, **options)
    if separator is not None or not header or encoding is not None or decimal != ".":
        raise ParameterError(
            f"{path}: separator=, header=, encoding= and decimal= go with a CSV file, not with Parquet"
        )
    return read_parquet(path, **options)


def read_csv(
    path: str | Path,
    *,
    separator: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    decimal: str = ".",
    **options: Unpack[Options],
) -> Dataset:
    """Read a CSV file whose values are texts: "01" is not "1".

    Parameters
    ----------
    path
        The file; `-` is standard input, `.gz` and `.xz` are unpacked.
    separator
        The character between fields. If not given it is the first of `;` tab `|` `,` and blanks (any number of them
        count as one) that splits the first 100 lines into equally many fields, at least two.
    header
        Whether the first line names the columns; else they are "0", "1", ...
    encoding
        The encoding of the text. If not given, UTF-8, UTF-16, UTF-32 and Latin-1 are recognised.
    decimal
        The decimal mark, "." or ","; numbers with a comma become numbers with a point.
    states
        Declared states by column, compared as text; also those that never occur.
    weights
        The column that says how often a row counts.
    missing
        What to do with missing values: "error", "drop" their rows, or make them a state ("category").
    na
        The spellings of a missing value beside the empty field, instead of `MISSING_VALUES` in any case. A declared
        state is never missing.
    max_states
        The most values of a column (without: 100 numbers or 1000 texts).
    ignore, only
        Columns to leave out, which must exist; the columns to read, of which some may be absent (if all are, every
        column is read).
    measured
        Columns that are kept as numbers if they have more than `max_states` of them (`Dataset.measurements`).
    kept
        Lists by column, to which the texts of every row are added as they are; beside what else is read.
    codes_memory
        Bytes beyond which codes are kept in a file (None: a quarter of the free memory).
    least_columns
        One column mostly means that the separator was not found and is refused, unless this is 1.

    Returns
    -------
    Dataset
        States that all read as numbers are sorted as numbers, others as text.

    Raises
    ------
    DataError
        The table cannot be used; the message names the line. A row with too many or too few fields is an error.
    ParameterError
        An option names a column that does not exist, or has no meaning.

    Examples
    --------
    >>> from exactbnc import instances
    >>> read_csv(instances.path("asia-500.csv")).n_rows
    500
    """
    collector = _Collector(options, decimal)
    given = checked_separator(separator)
    label = "<stdin>" if str(path) == "-" else str(path)
    try:
        with _opened(path) as file:
            blocks = text_blocks(file, label, encoding)
            shape, names, blocks = _start(blocks, label, given, header, collector)
            is_chosen = collector.choose(names)
            shape.wanted = list(compress(range(len(names)), is_chosen))
            for block, columns in parsed(blocks, shape):
                collector.add(columns, lambda v, text, block=block: _line_label(block, shape, v, text))  # type: ignore[misc]
    except UnpackError as error:
        raise DataError(f"{label}: {error}") from error
    if collector.n_rows == 0:
        raise DataError(f"{label}:{shape.names_line}: expected rows of values after the column names, got none")
    return collector.dataset(label)


def read_parquet(path: str | Path, *, batch_rows: int = BATCH_ROWS, **options: Unpack[Options]) -> Dataset:
    """Read a Parquet file as if it were the CSV file of the same table: values are taken as texts.

    Parameters
    ----------
    path
        The file.
    batch_rows
        How many rows are read at a time.
    **options
        As for `read_csv`. Null and NaN are missing values, and so are the texts that are missing in a CSV file.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        The file is damaged, holds more values than a file of its size may, or a table that cannot be used.
    """
    from scorecache.data.parquet import parquet_batches

    collector = _Collector(options)
    may_lack_name = "" in collector.ignore

    def choose(names: list[str]) -> list[bool]:
        if len(names) < collector.least_columns:
            raise DataError(f"{path}: {len(names)} columns; a network needs at least two variables")
        if len(names) > MOST_VARIABLES:
            raise DataError(f"{path}: {too_many_variables(f'{len(names):,} columns')}")
        fault = faulty_names(names, may_lack_name=may_lack_name)
        if fault is not None:
            raise DataError(f"{path}: {fault}")
        return collector.choose(names)

    with open_input(path) as raw:
        for columns in parquet_batches(raw, path, choose, batch_rows):
            collector.add(columns, lambda v, text, c=columns: _row_label(path, collector.n_rows, c[v], text))  # type: ignore[misc]
    if collector.n_rows == 0:
        raise DataError(f"{path}: expected rows of values, got none")
    return collector.dataset(str(path))


class _Collector:
    """The codes, values and weights of a table while its batches come in."""

    def __init__(self, options: Options, decimal: str = ".") -> None:
        self.ignore = frozenset(options.get("ignore", ()))
        self.least_columns = options.get("least_columns", 2)
        self.n_rows = 0
        self._weights_name = options.get("weights")
        self._only, self._measured = options.get("only"), options.get("measured")
        self._kept = options.get("kept", {})
        self._encoding = text_encoding(
            options.get("states"), options.get("missing", "error"), options.get("max_states")
        )
        na = options.get("na")
        self._fields = Fields(None if na is None else frozenset(text.strip() for text in na), decimal)
        self._store = CodeStore(options.get("codes_memory"))
        self._columns: list[TextColumn | None] = []
        self._texts: list[tuple[list[str], int]] = []  # lists to fill, and where their columns are in a batch
        self._positions: list[int] = []  # of the columns that become codes or weights
        self._weights: list[NDArray[np.float64]] = []

    def choose(self, names: Sequence[str]) -> list[bool]:
        """Which columns are read; from now on batches hold these."""
        if unknown := sorted(self._kept.keys() - set(names)):
            shown = listing(map(repr, names))
            raise ParameterError(f"{listing(map(repr, unknown))} cannot be kept, the columns are {shown}")
        is_chosen = chosen_columns(names, self._weights_name, self.ignore, self._only)
        is_read = [chosen or name in self._kept for name, chosen in zip(names, is_chosen, strict=True)]
        chosen = list(compress(names, is_chosen))
        self._encoding.check_columns([name for name in chosen if name != self._weights_name])
        self._columns = [self._column(name) for name in chosen]
        read = {name: position for position, name in enumerate(compress(names, is_read))}
        self._positions = [read[name] for name in chosen]
        self._texts = [(texts, read[name]) for name, texts in self._kept.items()]
        return is_read

    def add(self, columns: Sequence[Texts], place: Callable[[int, str], str]) -> None:
        """Take a batch; `place` names the file and the line of a text in a column."""
        codes = []
        for kept, v in self._texts:
            texts, rows = columns[v]
            kept += [texts[row] for row in rows.tolist()]
        for column, v in zip(self._columns, self._positions, strict=True):
            texts, rows = columns[v]
            try:
                if column is None:
                    self._weights.append(weights_of(texts, rows, self._fields))
                else:
                    codes.append(column.add(texts, rows))
            except FieldError as error:
                raise DataError(f"{place(v, error.field)}: {error}") from None
        self._store.add(codes)
        self.n_rows += len(columns[0][1])

    def dataset(self, label: str) -> Dataset:
        """The finished table."""
        columns = [column for column in self._columns if column is not None]
        raw = [column.finished(codes) for column, codes in zip(columns, self._store.columns(), strict=True)]
        weights = counts_if_whole(np.concatenate(self._weights)) if self._weights else None
        try:
            return self._store.dataset(raw, weights, self._encoding)
        except DataError as error:
            raise DataError(f"{label}: {error}") from error

    def _column(self, name: str) -> TextColumn | None:
        if name == self._weights_name:
            return None
        is_measured = self._measured is not None and name in self._measured and name not in self._encoding.states
        return (MeasuredColumn if is_measured else TextColumn)(name, self._encoding, self._fields)


def _start(
    blocks: Iterator[Block], label: str, separator: str | None, header: bool, collector: _Collector
) -> tuple[CsvShape, list[str], Iterator[Block]]:
    """How the lines are split, the names of its columns, and its blocks without the line of names."""
    for block in blocks:
        shape = CsvShape(label, separator or find_separator(block))
        found = first_row(block, shape)
        if found is not None:
            break
    else:
        raise DataError(f"{label}: the file is empty; expected a line of column names and rows of values")
    row, line, rest = found
    if len(row) > MOST_VARIABLES:
        raise shape.fault(line, too_many_variables(f"a line with {len(row):,} fields"))
    names = [text.strip() for text in row] if header else list(map(str, range(len(row))))
    fault = faulty_names(names, may_lack_name="" in collector.ignore)
    if fault is not None:
        raise shape.fault(line, fault)
    if len(names) < collector.least_columns:
        raise shape.fault(line, _no_separator(separator))
    shape.n_columns, shape.names_line = len(names), line
    return shape, names, chain([rest if header else block], blocks)


def _no_separator(separator: str | None) -> str:
    if separator is not None:
        return f"one column: there is no {separator!r} in it; if no separator is given, it is found"
    needed = "a network needs at least two variables; pass the separator (separator='X')"
    return f"one column: found no separator among {listing(map(repr, SEPARATORS))}; {needed}"


def _line_label(block: Block, shape: CsvShape, position: int, text: str) -> str:
    return f"{shape.label}:{line_of(block, shape, position, text)}"


def _row_label(path: str | Path, n_before: int, column: Texts, text: str) -> str:
    texts, rows = column
    return f"{path}: row {n_before + int(np.argmax(rows == texts.index(text)))}"


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield limited(sys.stdin.buffer, "<stdin>")
        return
    with open_input(path, count_first=True) as file:
        yield file
