"""The data sets of the papers: read from a folder, or the few that scikit-learn carries where there is none."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

import numpy as np

from scorecache import Dataset, read_csv

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_FOLDER = ROOT.parent / "shared" / "data"
PUBLISHED = Path(__file__).resolve().parent / "published"
MOST_STATES = 2**16
CLASS = "class"
EMBEDDED = ("iris", "wine", "breast-cancer-wisconsin-diagnostic")


def names_in(folder: Path) -> set[str]:
    """The data sets of a folder, or the embedded ones if it is not there."""
    if not folder.is_dir():
        return set(EMBEDDED)
    return {path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz")}


@lru_cache(maxsize=8)
def load(folder: Path, name: str, missing: str = "drop") -> Dataset:
    """A data set with its class in the last column, called "class"; rows with missing values dropped by default."""
    if folder.is_dir():
        return read_csv(folder / f"{name}.csv.gz", missing=missing, max_states=MOST_STATES)
    return _embedded(name)


def published(name: str) -> dict[str, dict[str, float | None]]:
    """A table of a paper: row name -> column -> number; an empty field is None."""
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    key = next(iter(rows[0]))
    return {
        row[key]: {column: float(text) if text else None for column, text in row.items() if column != key}
        for row in rows
    }


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    loaders = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "breast-cancer-wisconsin-diagnostic": datasets.load_breast_cancer,
    }
    bunch = loaders[name]()
    columns = {
        str(title).replace(" ", "_"): values for title, values in zip(bunch.feature_names, bunch.data.T, strict=True)
    }
    columns[CLASS] = np.asarray(bunch.target_names)[bunch.target]
    return Dataset.from_columns(columns, max_states=MOST_STATES)
