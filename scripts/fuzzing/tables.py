"""The readers of data tables and of declared states, under test."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from exactbnc.cli._training import AnyColumn
from fuzzing import objects
from fuzzing.reader import Reader, Seed
from scorecache.data.csvfile import SEPARATORS, read_csv
from scorecache.data.dataset import Dataset
from scorecache.data.statesfile import load_states


@dataclass(frozen=True)
class Table:
    """What was read, and the limit it was read with."""

    dataset: Dataset
    max_states: int | None


def _read_table(path: str, names: list[str], random: Random) -> Table:
    """Options as a caller may give them; most files are read with none."""
    options: dict[str, Any] = {}
    if random.random() < 0.5:
        if random.random() < 0.3:
            options["separator"] = random.choice((*SEPARATORS, "\\t", "é", "a"))
        if random.random() < 0.3:
            options["header"] = False
        options |= table_options(names, random)
    return Table(read_csv(path, **options), options.get("max_states"))


def table_options(names: list[str], random: Random) -> dict[str, Any]:
    """Options that every kind of table takes."""
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        options["states"] = {random.choice(names): random.choice((["0", "1"], ["no", "yes", "é"], ["missing"]))}
    if random.random() < 0.4:
        options["weights"] = random.choice(names)
    options["missing"] = random.choice(("error", "drop", "category"))
    options["missing_values"] = random.choice((("?",), (), ("NA", "0"), ("",)))
    options["max_states"] = random.choice((None, 1, 3, 65536))
    options["ignore"] = [random.choice(names)] if random.random() < 0.1 else []
    options["only"] = random.choice((None, None, names[:2]))
    options["measured"] = random.choice((None, AnyColumn()))
    return options


def write_table(table: Table, path: str) -> None:
    """Write the rows as CSV."""
    data = table.dataset
    weights = "the weights of these rows"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([*data.names, weights])
        for row in range(data.n_rows):
            values = [str(listed[code]) for listed, code in zip(data.states, data.codes[:, row], strict=True)]
            writer.writerow([*values, 1 if data.weights is None else data.weights[row]])


def reread_table(path: str, table: Table) -> Table:
    """Read what `write_table` wrote."""
    data = table.dataset
    declared = dict(zip(data.names, data.states, strict=True))
    weights = "the weights of these rows"
    return Table(read_csv(path, separator=",", states=declared, weights=weights, missing_values=()), table.max_states)


def same_table(mine: Table, theirs: Table) -> bool:
    """Are the rows the same, the second ones with weights?"""
    a, b = mine.dataset, theirs.dataset
    weights = np.ones(a.n_rows) if a.weights is None else a.weights
    same_weights = b.weights is not None and np.array_equal(weights, b.weights)
    return a.names == b.names and a.states == b.states and np.array_equal(a.codes, b.codes) and same_weights


def _table_seed(random: Random) -> Seed:
    content = objects.table_text(random)
    return content, [*content.split(b"\n")[0].decode().replace('"', "").split(","), "w", "a", "0"]


def _states_seed(random: Random) -> Seed:
    return json.dumps({name: ["no", 1, 2.5, "é"] for name in objects.names(random, 3)}).encode(), None


CSV = Reader("csv", ".csv", _table_seed, _read_table, write_table, same_table, reread_table)
STATES = Reader(
    "states",
    ".json",
    _states_seed,
    lambda path, _, __: load_states(path),
    lambda states, path: Path(path).write_bytes(json.dumps(states).encode()),
    is_json=True,
)
