"""Probabilities of arcs from a CSV file of three columns: parent, child, probability; a first line may name them."""

from __future__ import annotations

import csv
import io
import os

from exactbnc.graph.textfile import read_text
from scorecache.errors import InputError


def read_probabilities(path: str | os.PathLike[str]) -> dict[tuple[str, str], float]:
    """The probabilities by (parent, child).

    Raises
    ------
    InputError
        If a line has not three fields, its last field is no number, or an arc is listed twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("parent,child,probability\\nsmoke,lung,0.9\\n")
    ...     file.flush()
    ...     read_probabilities(file.name)
    {('smoke', 'lung'): 0.9}
    """
    found: dict[tuple[str, str], float] = {}
    reader = csv.reader(io.StringIO(read_text(path)), skipinitialspace=True, strict=True)
    try:
        for row in reader:
            fields = [field.strip() for field in row]
            if not any(fields):
                continue
            p = _number(fields[-1])
            if p is None and reader.line_num == 1:
                continue
            if len(fields) != 3 or p is None:
                raise InputError(f"{path}:{reader.line_num}: expected parent, child and probability, got {row!r:.80}")
            if (fields[0], fields[1]) in found:
                raise InputError(f"{path}:{reader.line_num}: {fields[0]} -> {fields[1]} is listed twice")
            found[fields[0], fields[1]] = p
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: {error}") from error
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
