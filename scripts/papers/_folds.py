"""The training and test rows of a cross-validation, columns of numbers discretised by what the training rows say."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from exactbnc.learning.discretize.tables import discretized, find_cut_points
from scorecache import Dataset


def splits(data: Dataset, *, n_folds: int = 10, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Numbers of training and test rows, stratified by the class in the last column; those of `cross_validate`."""
    from sklearn.model_selection import StratifiedKFold

    classes = data.column(data.names[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(classes, classes))


def folds(
    data: Dataset, method: str, *, keep_at_most: int | None = None, n_folds: int = 10, seed: int = 0
) -> Iterator[tuple[Dataset, Dataset]]:
    """Training and test rows, discretised by a method of `find_cut_points`."""
    for train, test in splits(data, n_folds=n_folds, seed=seed):
        known, asked = data.rows(train), data.rows(test)
        points = find_cut_points(known, data.names[-1], method, keep_at_most=keep_at_most)
        yield discretized(known, points), discretized(asked, points)
