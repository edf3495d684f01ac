"""Which numeric columns of a classifier stay numbers, with regressions by class, and which become intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from exactbnc.learning.classifiers._features import Features, bins_of
from exactbnc.learning.discretize.tables import KEPT_VALUES
from exactbnc.learning.discriminative.by_folds import N_FOLDS, dealt
from exactbnc.network.codes import Codes, Floats, Rows
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED
from scorecache.data.frames import as_floats, columns_of, holds_numbers
from scorecache.errors import DataError

GAUSSIAN, DISCRETIZE, AUTO = "gaussian", "discretize", "auto"
NUMERIC = (DISCRETIZE, GAUSSIAN, AUTO)

NO_CUTS = np.empty(0)
"""Cut points of a column that stays numbers: one interval, so that its codes say only whether a number is known."""

PSEUDO_COUNT = 0.5
"""Of every interval and class, where a column's intervals are judged."""


def quantities(table: Any, names: Sequence[str], declared: Collection[str]) -> dict[str, Floats]:
    """The columns that hold a fraction, or more than ten different numbers."""
    found = {}
    for name, column in zip(names, columns_of(table), strict=True):
        if name in declared or not holds_numbers(column):
            continue
        numbers = as_floats(column, name)
        known = np.unique(numbers[np.isfinite(numbers)])
        if len(known) > KEPT_VALUES or (np.mod(known, 1) > 0).any():
            found[name] = numbers
    return found


def gains_of_numbers(
    columns: Mapping[str, Floats], cuts: Mapping[str, Floats | None], actual: np.ndarray, weights: Any
) -> dict[str, float]:
    """By column, log P(class | number) of held-out rows by one Gaussian per class less that by the intervals, in nats.

    Both are naive Bayes of this column alone, with parameters from four fifths of the rows at a time. A column with
    missing numbers gets minus infinity: only intervals have a state for them.

    Examples
    --------
    >>> x = np.concatenate([np.linspace(-1, 1, 20), np.linspace(2, 4, 20)])
    >>> gains_of_numbers({"x": x}, {"x": np.array([-0.5])}, np.repeat([0, 1], 20), None)["x"] > 0
    True
    """
    w = np.ones(len(actual)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_classes = int(actual.max()) + 1
    fold_of = dealt(actual, list(columns.values()))
    found = {}
    for name, x in columns.items():
        own = cuts.get(name)
        if own is None or not np.isfinite(x).all():
            found[name] = -np.inf if not np.isfinite(x).all() else np.inf
            continue
        bins = bins_of(x, own)
        gain = 0.0
        for fold in range(N_FOLDS):
            held, used = fold_of == fold, fold_of != fold
            if not held.any() or not used.any():
                continue
            prior = np.bincount(actual[used], w[used], minlength=n_classes) + PSEUDO_COUNT
            by_number = np.log(prior) + _gaussian_logs(x, actual, w, used, held, n_classes)
            counts = np.full((len(own) + 1, n_classes), PSEUDO_COUNT)
            np.add.at(counts, (bins[used], actual[used]), w[used])
            by_interval = np.log(prior) + np.log(counts / counts.sum(axis=0))[bins[held]]
            rows = np.arange(int(held.sum()))
            difference = _normalised(by_number) - _normalised(by_interval)
            gain += float(w[held] @ difference[rows, actual[held]])
        found[name] = gain
    return found


def as_numbers(dataset: Dataset, columns: Mapping[str, Floats]) -> Dataset:
    """The data set with these columns, which have one interval in it, as numbers."""
    for name, numbers in columns.items():
        if not np.isfinite(numbers).all():
            raise DataError(
                f"{name!r} lacks numbers in training rows, and stays numbers with numeric='gaussian': leave those rows "
                "out, or use numeric='auto', which makes intervals of such a column"
            )
    states = tuple(
        (MEASURED,) if name in columns else listed for name, listed in zip(dataset.names, dataset.states, strict=True)
    )
    return Dataset(dataset.names, states, dataset.codes, dataset.weights, dict(columns))


def rows_with_numbers(codes: Codes, table: Any, features: Features, names: Collection[str]) -> Rows:
    """The codes of a table with the numbers of these columns; a number that is not finite is not known."""
    numbers = np.full(codes.shape, np.nan)
    for v, (name, column) in enumerate(zip(features.names, columns_of(table), strict=True)):
        if name in names:
            own = as_floats(column, name)
            numbers[v] = np.where(np.isfinite(own), own, np.nan)
    return Rows(codes, numbers)


def _gaussian_logs(
    x: Floats, actual: np.ndarray, w: Floats, used: np.ndarray, held: np.ndarray, n_classes: int
) -> Floats:
    """log N(x; mean and variance of the class), the variances with one row of that of all."""
    n = np.bincount(actual[used], w[used], minlength=n_classes)
    centre = np.average(x[used], weights=w[used])
    z = x - centre
    whole = max(float(np.average(z[used] ** 2, weights=w[used])), np.finfo(np.float64).tiny)
    mean = np.bincount(actual[used], w[used] * z[used], minlength=n_classes) / (n + 1)
    square = np.bincount(actual[used], w[used] * (z[used] - mean[actual[used]]) ** 2, minlength=n_classes)
    variance = (square + whole) / (n + 1)
    found: Floats = -0.5 * (np.log(variance) + (z[held, None] - mean) ** 2 / variance)
    return found


def _normalised(logs: Floats) -> Floats:
    logs = logs - logs.max(axis=1, keepdims=True)
    found: Floats = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return found
