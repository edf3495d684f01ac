"""Other names for variables: CSV of two columns, the name in a network and the name to use instead."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import replace

from exactbnc.errors import NetworkFileError
from exactbnc.graph.dag import DAG
from exactbnc.graph.textfile import read_text


def read_names(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the names of a file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "names.csv").write_text("0,asia\\n1,tub\\n")
    ...     read_names(f"{folder}/names.csv")
    {'0': 'asia', '1': 'tub'}
    """
    reader = csv.reader(io.StringIO(read_text(path)), skipinitialspace=True, strict=True)
    names: dict[str, str] = {}
    try:
        for row in reader:
            pair = [field.strip() for field in row]
            if not any(pair):
                continue
            if len(pair) != 2 or not all(pair):
                raise NetworkFileError(path, reader.line_num, f"expected two names with a comma, got {row!r:.60}")
            if pair[0] in names:
                raise NetworkFileError(path, reader.line_num, f"expected {pair[0][:60]!r} once, got it twice")
            names[pair[0]] = pair[1]
    except csv.Error as error:
        raise NetworkFileError(path, reader.line_num, f"expected a quoted name to end: {error}") from error
    return names


def renamed(dag: DAG, names: Mapping[str, str]) -> DAG:
    """The network with other names; variables that are not listed keep theirs.

    Examples
    --------
    >>> renamed(DAG.from_modelstring("[0][1|0]"), {"0": "asia", "1": "tub"}).arcs
    (('asia', 'tub'),)
    """
    return replace(dag, names=tuple(names.get(name, name) for name in dag.names))
