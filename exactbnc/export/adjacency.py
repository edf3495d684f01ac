"""Adjacency matrix as CSV: a header of names, then a row of 0 and 1 per variable; row i column j is 1 iff i -> j."""

from __future__ import annotations

import csv
import io
from collections import Counter

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
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise NetworkFileError(label, reader.line_num, f"expected CSV, but {error}") from error
    if not rows:
        raise NetworkFileError(label, None, "expected a header with the names of the variables, got an empty file")
    (_, names), matrix = rows[0], rows[1:]
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        raise NetworkFileError(label, rows[0][0], f"expected different names, got {repeated!r} twice")
    parents: list[list[int]] = [[] for _ in names]
    for parent, (line, row) in enumerate(matrix):
        if len(row) != len(names) or not {entry.strip() for entry in row} <= {"0", "1"}:
            raise NetworkFileError(label, line, f"expected {len(names)} entries 0 or 1, got {','.join(row)!r:.60}")
        for child, entry in enumerate(row):
            if entry.strip() == "1":
                parents[child].append(parent)
    if len(matrix) != len(names):
        raise NetworkFileError(label, None, f"expected a row for each of {len(names)} variables, got {len(matrix)}")
    return DAG.of(names, parents)
