"""Adjacency matrix as CSV: a header of names, then a row of 0 and 1 per variable; row i column j is 1 iff i -> j."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from exactbnc.dag import DAG
from exactbnc.export.network import Network, NetworkFileError

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


def parse(text: str, label: str) -> DAG:
    """Read what `render` writes; `label` names the file in errors."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = filter(None, reader)
        names = next(rows, None)
        if names is None:
            raise NetworkFileError(label, None, "expected a header with the names of the variables, got an empty file")
        if len(set(names)) < len(names):
            repeated = Counter(names).most_common(1)[0][0]
            raise NetworkFileError(label, reader.line_num, f"expected different names, got {repeated!r} twice")
        return DAG.from_arcs(names, _arcs(names, rows, label, reader))
    except csv.Error as error:
        raise NetworkFileError(label, reader.line_num, f"expected CSV, but {error}") from error


def _arcs(names: list[str], rows: Iterable[list[str]], label: str, place: Any) -> Iterator[tuple[str, str]]:
    """The ones of the matrix, read row by row; `place` knows the line."""
    n_rows = 0
    for n_rows, row in enumerate(rows, 1):
        if len(row) != len(names) or not {entry.strip() for entry in row} <= {"0", "1"}:
            came = ",".join(row)
            raise NetworkFileError(label, place.line_num, f"expected {len(names)} entries 0 or 1, got {came!r:.60}")
        if n_rows <= len(names):
            yield from ((names[n_rows - 1], child) for child, entry in zip(names, row, strict=True) if "1" in entry)
    if n_rows != len(names):
        raise NetworkFileError(label, None, f"expected a row for each of {len(names)} variables, got {n_rows}")
