"""What an experiment is, and how its cells are computed once and kept.

A table of a paper is made of cells (a data set and a method), each with a result in the types of JSON. Results lie in
one file per cell, written completely or not at all, so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from scorecache.system.atomic import atomic_write

Result = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One data set and one method of a table."""

    data: str
    method: str

    @property
    def file_name(self) -> str:
        return f"{self.data}--{self.method}.json"


@dataclass(frozen=True)
class Line:
    """One line of a report: what it is about, and numbers of the paper and ours, None where there is none."""

    title: str
    paper: Mapping[str, float | None]
    ours: Mapping[str, float | None]


@dataclass(frozen=True)
class Report:
    """The paper's table beside ours; `notes` say what the averages and tests are."""

    title: str
    columns: Sequence[str]
    lines: Sequence[Line]
    notes: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


class Experiment(Protocol):
    """One table of one paper."""

    paper: str
    table: str
    title: str

    def cells(self, *, quick: bool) -> list[Cell]:
        """What has to be computed; `quick`: the small data sets only."""

    def compute(self, cell: Cell) -> Result:
        """One result."""

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """The table from the results that there are."""


@dataclass(frozen=True)
class Store:
    """Results of one table in a folder."""

    folder: Path

    def get(self, cell: Cell) -> Result | None:
        path = self.folder / cell.file_name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def put(self, cell: Cell, result: Result) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.folder / cell.file_name) as (sink,):
            sink.write(json.dumps(result).encode())


@dataclass(frozen=True)
class Archive:
    """Results of one table in a file that is kept with the repository: a line of JSON per cell, of several tables.

    What it holds is not computed again; what is computed goes to `beside`, if there is one, and joins it by `save`.
    """

    path: Path
    table: str
    beside: Store | None = None

    def get(self, cell: Cell) -> Result | None:
        known = self._lines().get((self.table, cell.data, cell.method))
        return known if known is not None or self.beside is None else self.beside.get(cell)

    def put(self, cell: Cell, result: Result) -> None:
        if self.beside is not None:
            self.beside.put(cell, result)

    def save(self, results: Mapping[Cell, Result]) -> None:
        """Add or replace these cells; lines are sorted."""
        lines = self._lines() | {(self.table, cell.data, cell.method): result for cell, result in results.items()}
        with atomic_write(self.path) as (sink,):
            for (table, data, method), result in sorted(lines.items()):
                parts = {"table": table, "data": data, "method": method, **_rounded(result)}
                sink.write((json.dumps(parts) + "\n").encode())

    def _lines(self) -> dict[tuple[str, str, str], Result]:
        if not self.path.exists():
            return {}
        found = map(json.loads, self.path.read_text(encoding="utf-8").splitlines())
        return {(line.pop("table"), line.pop("data"), line.pop("method")): line for line in found}


def _rounded(value: Any) -> Any:
    """Six digits are more than a table shows."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, list) else value


def run(
    experiment: Experiment,
    cells: Iterable[Cell],
    store: Store | Archive | None,
    report: Callable[[str], None] | None = None,
) -> dict[Cell, Result]:
    """Compute the cells that are not in the store; a cell that fails is reported and omitted."""
    listed = list(cells)
    results: dict[Cell, Result] = {}
    begun, spent = time.monotonic(), 0
    for number, cell in enumerate(listed, 1):
        known = None if store is None else store.get(cell)
        if known is None:
            spent += 1
            known = experiment.compute(cell)
            if store is not None:
                store.put(cell, known)
        results[cell] = known
        if report is not None:
            report(_progress(number, len(listed), cell, time.monotonic() - begun, spent))
    return results


def _progress(number: int, total: int, cell: Cell, seconds: float, spent: int) -> str:
    remaining = seconds / max(spent, 1) * (total - number)
    return f"[{number}/{total}] {cell.data}, {cell.method}; {seconds:.0f} s so far, about {remaining:.0f} s to go"


def to_stderr(line: str) -> None:
    """One line of progress."""
    print(line, file=sys.stderr, flush=True)
