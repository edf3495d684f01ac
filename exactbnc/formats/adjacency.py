"""Adjacency matrix as CSV: a header of names, then a row of 0 and 1 per variable; row i column j is 1 iff i -> j."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from exactbnc.errors import NetworkFileError
from exactbnc.formats._arcs import ArcTable
from exactbnc.formats.network import Network
from scorecache.data.csvrows import CsvRows, TooManyFieldsError
from scorecache.system.limits import MOST_VARIABLES, too_many_variables

SUFFIXES = (".csv",)


def render(network: Network) -> str:
    """The matrix as CSV."""
    dag = network.dag
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(dag.names)
    for parent in range(dag.n_vars):
        writer.writerow([int(parent in parents) for parents in dag.parents])
    matrix = text.getvalue()
    return f"\ufeff{matrix}" if matrix.startswith("\ufeff") else matrix  # the reader takes one for a byte order mark


def parse(text: str, label: str) -> ArcTable:
    """Read what `render` writes; `label` names the file in errors."""
    reader = CsvRows(_lines(text), ",")
    try:
        rows = filter(None, reader)
        names = next(rows, None)
        if names is None:
            raise NetworkFileError(label, None, "expected a header with the names of the variables, got an empty file")
        if len(names) > MOST_VARIABLES:
            raise NetworkFileError(label, reader.line_num, too_many_variables(f"{len(names):,}"))
        if len(set(names)) < len(names):
            repeated = Counter(names).most_common(1)[0][0]
            raise NetworkFileError(label, reader.line_num, f"expected different names, got {repeated[:60]!r} twice")
        table = ArcTable(names)
        _add_arcs(table, len(names), rows, label, reader)
        return table
    except TooManyFieldsError:
        raise NetworkFileError(label, reader.line_num + 1, too_many_variables("a line with more fields")) from None
    except csv.Error as error:
        raise NetworkFileError(label, reader.line_num, f"expected CSV, but {error}") from error


def _add_arcs(table: ArcTable, n_vars: int, rows: Iterable[list[str]], label: str, place: CsvRows) -> None:
    """The ones of the matrix, read row by row; `place` knows the line."""
    n_rows = 0
    for n_rows, row in enumerate(rows, 1):
        if len(row) != n_vars or not {entry.strip() for entry in row} <= {"0", "1"}:
            came = ",".join(row[:60])
            raise NetworkFileError(label, place.line_num, f"expected {n_vars} entries 0 or 1, got {came[:60]!r:.60}")
        if n_rows <= n_vars:
            for child, entry in enumerate(row):
                if "1" in entry:
                    table.add(n_rows - 1, child)
    if n_rows != n_vars:
        raise NetworkFileError(label, None, f"expected a row for each of {n_vars} variables, got {n_rows}")


def _lines(text: str) -> Iterator[str]:
    """One at a time, with their ends."""
    start = 0
    for end in re.finditer(r"\r\n|\r|\n", text):
        yield text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield text[start:]
