"""The training and test rows of papers 000 and 003: a holdout for large data sets, five stratified folds for others.

Holdouts are the first rows against the rest, as the files of those data sets are ordered. Cut points are learned by
Fayyad and Irani's method on the training rows alone; the papers may have cut all rows at once, they do not say. Columns
of numbers with at most three values are categories (codes such as yes and no, or low, middle, high).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from exactbnc.baselines.evaluation import Method
from exactbnc.baselines.evaluation.crossval import evaluate_split
from exactbnc.learning.discretize.tables import discretized, find_cut_points
from papers._data import load
from papers._experiment import Result
from scorecache import Dataset

N_TRAINING = {"chess": 2130, "letter": 15000, "mofn-3-7-10": 300, "satimage": 4435, "waveform-21": 300}
"""The rows from here on are the test rows. Others (segment too, whose 1540 rows are not known) are cross-validated."""
N_FOLDS = 5
KEEP_AT_MOST = 3
FILES = {"breast": "breast-cancer-wisconsin", "diabetes": "pima", "vote-complete": "vote"}
"""Where the papers' name of a data set is not that of its file."""
SEEDS = {"diabetes": 1}
"""`diabetes` and `pima` are the same rows; other folds make them two measurements, as far as that goes."""
WITH_MISSING = ("vote",)
"""All 435 rows are counted in the papers' tables, so a missing value is a category here."""


@dataclass(frozen=True)
class Part:
    """Rows to learn from and rows to ask for, discretised."""

    known: Dataset
    asked: Dataset


def file_of(name: str) -> str:
    """The file of a data set."""
    return FILES.get(name, name)


def whole(folder: Path, name: str) -> Dataset:
    """The data set as the papers count its rows, nothing cut."""
    return load(folder, file_of(name), "category" if name in WITH_MISSING else "drop")


@lru_cache(maxsize=2)
def parts(folder: Path, name: str) -> tuple[Part, ...]:
    """One part for a holdout, five for cross-validation."""
    data = whole(folder, name)
    found = []
    for train, test in row_splits(data, name):
        known, asked = data.rows(train), data.rows(test)
        points = find_cut_points(known, data.names[-1], "mdlp", keep_at_most=KEEP_AT_MOST)
        found.append(Part(discretized(known, points), discretized(asked, points)))
    return tuple(found)


def row_splits(data: Dataset, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The row numbers of training and test."""
    from sklearn.model_selection import StratifiedKFold

    rows = np.arange(data.n_rows)
    if name in N_TRAINING:
        return [(rows[: N_TRAINING[name]], rows[N_TRAINING[name] :])]
    classes = data.column(data.names[-1])
    n_folds = min(N_FOLDS, int(np.bincount(classes).max()))
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=SEEDS.get(name, 0)).split(rows, classes))


def accuracy(folder: Path, name: str, method: Method) -> Result:
    """Test rows classified correctly over test rows, all parts together, and the seconds it took."""
    listed = parts(folder, name)
    class_name = listed[0].known.names[-1]
    scores = [(evaluate_split(method, part.known, part.asked, class_name), part.asked.n_rows) for part in listed]
    n_rows = sum(rows for _, rows in scores)
    return {
        "accuracy": sum(score.accuracy * rows for score, rows in scores) / n_rows,
        "n_rows": n_rows,
        "n_unproved": sum(score.is_proved is False for score, _ in scores),
        "seconds": sum(score.fit_seconds + score.predict_seconds for score, _ in scores),
    }
