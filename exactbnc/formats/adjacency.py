"""Adjacency matrix as CSV: a header of names, then a row of 0 and 1 per variable; row i column j is 1 iff i -> j."""

from __future__ import annotations

import csv
import io
from collections import Counter

from exactbnc.errors import NetworkFileError
from exactbnc.formats.network import Network
from exactbnc.graph.dag import DAG
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


def parse(text: str, label: str) -> DAG:
    """Read what `render` writes; `label` names the file in errors."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
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
        parents: list[list[int]] = [[] for _ in names]
        n_rows = 0
        for n_rows, row in enumerate(rows, 1):
            entries = [entry.strip() for entry in row]
            if len(row) != len(names) or not {*entries} <= {"0", "1"}:
                got = ",".join(row[:60])[:60]
                raise NetworkFileError(label, reader.line_num, f"expected {len(names)} entries 0 or 1, got {got!r:.60}")
            for child, entry in enumerate(entries):
                if entry == "1":
                    parents[child].append(n_rows - 1)
    except csv.Error as error:
        raise NetworkFileError(label, reader.line_num, f"expected CSV, but {error}") from error
    if n_rows != len(names):
        raise NetworkFileError(label, None, f"expected a row for each of {len(names)} variables, got {n_rows}")
    return DAG.of(names, parents)
