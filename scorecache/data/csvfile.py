"""Reading a CSV file into a `Dataset`, with errors that name the line.

The file is read in chunks of rows, so that memory stays near that of the codes.
"""

from __future__ import annotations

import csv
import operator
import re
import sys
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from itertools import chain, compress, islice, takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scorecache.data._encode import Encoder, Encoding, RawColumn
from scorecache.data._texts import (
    MISSING_VALUES,
    FieldError,
    chosen_columns,
    column_encoder,
    encode_weights,
    faulty_names,
    text_encoding,
    text_reader,
)
from scorecache.data._values import check_values, raw_columns
from scorecache.data.codestore import CodeStore
from scorecache.data.csvrows import MOST_CHARACTERS, CsvRows, TooLongError, TooManyFieldsError
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError
from scorecache.system.files import open_input
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.system.unpack import UnpackError
from scorecache.wording import listing

SEPARATORS = (";", "\t", "|", ",", " ")

_N_SAMPLE_LINES = 100
_CHUNK_FIELDS = 2**14
_LEAST_CHUNK_ROWS = 2
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


def read_csv(
    path: str | Path,
    *,
    separator: str | None = None,
    header: bool = True,
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
) -> Dataset:
    """Read a table whose values are texts; `-` is standard input, `.gz` and `.xz` are unpacked.

    The separator, if not given, is the first of `;` tab `|` `,` and blanks (any number of them count as one) that cuts
    the first 100 lines into equally many fields, at least two; failing that, the first that cuts the first line. Commas
    come late because they also stand inside numbers and texts. An empty field is a missing value, and so are
    `missing_values`, except where they are declared states. `weights` names the column that says how often a row
    counts. The rest is as in `Dataset.from_columns`; states that all read as numbers are sorted as numbers. A table
    whose codes would take more than `codes_memory` bytes (None: a quarter of the free memory) is kept in a file. One
    column mostly means that the separator was not found and is refused, unless `least_columns` is 1; a missing value
    then has to be written, if only as `""`, since a blank line is no row.

    Columns to `ignore` must be there; of those that `only` lists some may be absent, and if all are, every column is
    read. A `measured` column with more than `max_states` numbers (100 if not given) is kept as numbers
    (`Dataset.measurements`). A table of hardly anything but different values is refused: they take many times their
    text.
    """
    ignore = frozenset(ignore)
    encoding = text_encoding(states, missing, max_states)
    store = CodeStore(codes_memory)
    label = "<stdin>" if str(path) == "-" else str(path)
    with _open_text(path) as file:
        try:
            rows = _Rows(label, iter(partial(file.readline, MOST_CHARACTERS), ""), _checked_separator(separator))
            names, chunk = _first_rows(rows, header, least_columns, may_lack_name="" in ignore)
            is_chosen = chosen_columns(names, weights, ignore, only)
            reading = _Reading(encoding, weights, frozenset(missing_values) | {""}, measured)
            columns, row_weights = _read_columns(rows, names, is_chosen, chunk, reading, store)
        except UnpackError as error:
            raise DataError(f"{label}: {error}") from error
    try:
        return store.dataset(columns, row_weights, encoding)
    except DataError as error:
        raise DataError(f"{label}: {error}") from error


class _Rows:
    """The rows of a CSV file in chunks, without blank lines; remembers where the rows of the last chunk are."""

    def __init__(self, label: str, lines: Iterator[str], separator: str | None) -> None:
        sample = list(islice(lines, _N_SAMPLE_LINES))
        self.label = label
        self.sought = SEPARATORS if separator is None else (separator,)
        self.separator = separator or _find_separator(sample)
        self.n_columns = 0
        self.first_line = 1
        self._reader = _csv_rows(chain(sample, lines), self.separator, strict=True)
        self._rows = iter(self._reader)
        self._chunk: list[list[str]] = []
        self._first_line = 1

    def take(self, n: int) -> list[list[str]]:
        """The next n rows or fewer; none at the end of the file."""
        while True:
            self._first_line = self._reader.line_num + 1
            self._chunk = []
            try:
                self._chunk.extend(islice(self._rows, n))
            except TooManyFieldsError:
                raise self.fault(None, too_many_variables("a line with more fields")) from None
            except TooLongError as error:
                raise self.fault(None, str(error)) from None
            except csv.Error as error:  # the rows before the faulty one have arrived
                fault = f"a quote is never closed or text follows a closed one ({error})"
                raise self.fault(None, f"{fault}; enclose whole values and double the quotes inside") from error
            if not self._chunk or min(map(len, self._chunk)) > 1:
                return self._chunk
            is_blank = operator.not_ if self.n_columns == 1 else _is_blank
            rows = [row for row in self._chunk if not is_blank(row)]
            if rows:
                return rows

    @property
    def n_read(self) -> int:
        """Characters, from the beginning of the file."""
        return self._reader.n_read

    def line_of(self, row: list[str] | None) -> int:
        """The line on which a row of the chunk begins (None: the row after the chunk)."""
        before = takewhile(lambda other: other is not row, self._chunk)
        return self._first_line + sum(1 + len(_LINE_BREAK.findall(" ".join(fields))) for fields in before)

    def fault(self, row: list[str] | None, message: str) -> DataError:
        return DataError(f"{self.label}:{self.line_of(row)}: {message}")


@dataclass(frozen=True)
class _Reading:
    """How the columns of a file are read."""

    encoding: Encoding
    weights: str | None
    missing_values: frozenset[str]
    measured: Container[str] | None

    def encoders(self, names: Sequence[str]) -> list[Encoder | None]:
        """One per column, None for that of the weights."""
        read = text_reader(self.missing_values)
        return [
            None
            if name == self.weights
            else column_encoder(name, self.encoding, self.missing_values, read_undeclared=read, measured=self.measured)
            for name in names
        ]


def _first_rows(
    rows: _Rows, header: bool, least_columns: int, *, may_lack_name: bool
) -> tuple[list[str], list[list[str]]]:
    """The names of the columns and, if there is no line of names, the row that was read to count them."""
    chunk = rows.take(1)
    if not chunk:
        raise DataError(f"{rows.label}: the file is empty; expected a line of column names and rows of values")
    if len(chunk[0]) > MOST_VARIABLES:
        raise rows.fault(chunk[0], too_many_variables(f"a line with {len(chunk[0]):,} fields"))
    names = _column_names(rows, chunk[0], may_lack_name) if header else list(map(str, range(len(chunk[0]))))
    if len(names) < least_columns:
        raise rows.fault(chunk[0], _no_separator(rows))
    rows.n_columns, rows.first_line = len(names), rows.line_of(chunk[0])
    return names, [] if header else chunk


def _no_separator(rows: _Rows) -> str:
    if len(rows.sought) == 1:
        return f"one column: there is no {rows.sought[0]!r} in it; without --separator what stands there is found"
    sought = listing(map(repr, rows.sought))
    needed = "a network needs at least two variables; pass the separator with --separator"
    return f"one column: found no separator among {sought}; {needed}"


def _read_columns(
    rows: _Rows,
    names: Sequence[str],
    is_chosen: Sequence[bool],
    chunk: list[list[str]],
    reading: _Reading,
    store: CodeStore,
) -> tuple[list[RawColumn], NDArray[np.int64] | None]:
    """Encode the file column by column, chunk by chunk."""
    n_chunk_rows = max(_CHUNK_FIELDS // len(names), _LEAST_CHUNK_ROWS)
    names = list(compress(names, is_chosen))
    reading.encoding.check_columns([name for name in names if name != reading.weights])
    chunk = chunk or rows.take(n_chunk_rows)
    if not chunk:
        raise DataError(f"{rows.label}:{rows.first_line}: expected rows of values after the column names, got none")
    _check_widths(rows, chunk)  # before a column takes memory
    encoders = reading.encoders(names)
    row_weights = bytearray()  # it grows in place
    while chunk:
        _check_widths(rows, chunk)
        codes: list[NDArray[np.uint16]] = []
        for encoder, fields in zip(encoders, compress(zip(*chunk, strict=True), is_chosen), strict=True):
            try:
                if encoder is None:
                    row_weights += encode_weights(fields).data
                else:
                    codes.append(encoder.encode(fields))
            except FieldError as error:
                raise rows.fault(chunk[fields.index(error.field)], str(error)) from None
        store.add(codes)
        check_values(rows.label, names, encoders, reading.encoding, rows.n_read)
        chunk = rows.take(n_chunk_rows)
    columns = raw_columns(names, encoders, reading.encoding, store.columns())
    return columns, None if reading.weights is None else np.frombuffer(row_weights, dtype=np.int64)


def _column_names(rows: _Rows, fields: list[str], may_lack_name: bool) -> list[str]:
    names = [field.strip() for field in fields]
    fault = faulty_names(names, may_lack_name=may_lack_name)
    if fault is not None:
        raise rows.fault(fields, fault)
    return names


def _check_widths(rows: _Rows, chunk: list[list[str]]) -> None:
    if set(map(len, chunk)) != {rows.n_columns}:
        ragged = next(row for row in chunk if len(row) != rows.n_columns)
        fault = f"expected {rows.n_columns} fields as in line {rows.first_line}, got {len(ragged)}"
        raise rows.fault(ragged, f"{fault}; quote values that hold the separator {rows.separator!r}")


def _checked_separator(separator: str | None) -> str | None:
    if separator == "\\t":  # as it is typed in a shell
        return "\t"
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise ParameterError(f"separator must be one character other than a quote. Got {separator!r} instead.")
    return separator


def _find_separator(sample: Sequence[str]) -> str:
    widths = {separator: _widths(sample, separator) for separator in SEPARATORS}
    cutting = [separator for separator in SEPARATORS if widths[separator] and widths[separator][0] > 1]
    even = [separator for separator in cutting if len(set(widths[separator])) == 1]
    return next(iter(even + cutting), ",")


def _widths(sample: Sequence[str], separator: str) -> list[int]:
    """The number of fields in each row of the sample, none if it cannot be cut this way."""
    try:
        widths = [len(row) for row in _csv_rows(sample, separator, strict=False) if not _is_blank(row)]
    except csv.Error:  # a field is too long, or there are too many
        return []
    if len(sample) == _N_SAMPLE_LINES and len(widths) > 1:
        widths.pop()  # the sample may end inside a quoted value
    return widths


def _csv_rows(lines: Iterable[str], separator: str, *, strict: bool) -> CsvRows:
    if separator == " ":
        lines = map(_without_blanks_at_the_end, lines)
    return CsvRows(lines, separator, skip_blanks=True, strict=strict)


def _without_blanks_at_the_end(line: str) -> str:
    """A blank at the end separates nothing; what has none is no copy."""
    if line[-1:] == "\n" and not line[-2:-1].isspace():
        return line
    stripped = line.rstrip()
    return line if len(stripped) == len(line) else stripped + "\n"


def _is_blank(row: Sequence[str]) -> bool:
    return len(row) <= 1 and not "".join(row).strip()


@contextmanager
def _open_text(path: str | Path) -> Iterator[TextIOWrapper]:
    how = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
    if str(path) != "-":
        with open_input(path, count_first=True) as raw, TextIOWrapper(raw, **how) as file:  # type: ignore[arg-type]
            yield file
        return
    file = TextIOWrapper(sys.stdin.buffer, **how)  # type: ignore[arg-type]
    try:
        yield file
    finally:
        file.detach()  # closing it would close standard input
