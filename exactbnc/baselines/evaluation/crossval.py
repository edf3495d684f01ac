"""Cross-validation of several classifiers on the same folds.

Folds are stratified and shuffled by a seed. Cut points are learned on the training rows of each fold; the states of the
other columns are those of the whole table, as if they had been declared. Accuracy is the share of rows whose most
probable class is right, log-loss the mean of -log P(right class), Brier the mean of sum_c (P(c) - [c is right])^2,
halved for two classes. AUC is the area under the ROC curve of the second of two classes; of more classes the plain mean
(macro) over those with rows in the fold, each against all others. Row weights count.

Seconds are wall time without compiling. Each process fits a method to a few rows before it times it first, so that
loading libraries does not count either.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.baselines.evaluation.methods import Method
from exactbnc.learning.discretize.tables import discretized, find_cut_points
from exactbnc.network.rows import table_rows
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError
from scorecache.scoring.workers import results_of
from scorecache.system.compiled import work_clock

Floats = NDArray[np.float64]

WARM_UP_ROWS, WARM_UP_COLUMNS = 10, 6
"""Of each class, and beside the class."""

_warm: set[str] = set()
"""The names of the methods that were fitted in this process since its last cross-validation began."""


@dataclass(frozen=True)
class Scores:
    """One method on one fold."""

    accuracy: float
    log_loss: float
    brier: float
    auc: float | None
    fit_seconds: float
    predict_seconds: float
    is_proved: bool | None


@dataclass(frozen=True)
class Evaluation:
    """One method on all folds."""

    method: str
    folds: tuple[Scores, ...]

    def mean(self, name: str) -> float | None:
        """The mean of a measure over the folds; None if it is not defined."""
        values = [getattr(fold, name) for fold in self.folds]
        return None if any(value is None for value in values) else fmean(values)

    def spread(self, name: str) -> float | None:
        """Its standard deviation over the folds."""
        values = [getattr(fold, name) for fold in self.folds]
        is_plain = len(values) > 1 and all(value is not None and np.isfinite(value) for value in values)
        return stdev(values) if is_plain else None

    @property
    def n_proved(self) -> int | None:
        """The folds whose structure was proved best; None if there are no structures."""
        proofs = [fold.is_proved for fold in self.folds if fold.is_proved is not None]
        return sum(proofs) if proofs else None


def cross_validate(
    dataset: Dataset,
    class_name: str,
    methods: Sequence[Method],
    *,
    n_folds: int = 10,
    seed: int = 0,
    discretize: str | None = None,
    columns: Container[str] | None = None,
    keep_at_most: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    listener: Callable[[str, int], None] | None = None,
) -> list[Evaluation]:
    """Cross-validate several methods on the same folds.

    The fits run one after the other, or `n_jobs` at a time on joblib's active backend, or on the cluster of a Dask
    `client` (`scorecache.scoring.workers.connected`); the measures are the same.

    Parameters
    ----------
    dataset : Dataset
    class_name : str
    methods : sequence of Method
    n_folds : int, default 10
    seed : int, default 0
        Shuffles the rows.
    discretize : str, optional
        "auto", "mdlp", "median" or "quantile"; the cut points are learned on the training rows of each fold.
    columns : container of names, optional
        Those to discretise; by default all columns of numbers, for "auto" those of more than ten.
    keep_at_most : int, optional
        Columns with at most this many distinct numbers are not discretised.
    n_jobs : int, optional
    client : dask.distributed.Client, optional
    listener : callable, optional
        `listener(method, fold)` is called after each fit.

    Returns
    -------
    list of Evaluation
        One per method.

    Raises
    ------
    ParameterError
        If the number of folds does not fit the data.
    DataError
        If the training rows of a fold have a single class.

    Examples
    --------
    >>> from exactbnc.baselines.evaluation import Exact
    >>> data = Dataset.from_codes([[0, 1] * 8, [0, 0, 1, 1] * 4, [0, 1] * 8])
    >>> (found,) = cross_validate(data, "2", [Exact()], n_folds=2)
    >>> found.method, found.mean("accuracy")
    ('anb bdeu eap', 1.0)
    """
    folds = _folds(dataset, class_name, n_folds, seed)
    _warm.clear()

    @lru_cache(maxsize=1)  # the fits of a fold follow each other
    def split(fold: int) -> tuple[Dataset, Dataset]:
        training, held_out = (dataset.rows(chosen) for chosen in folds[fold])
        if discretize is None:
            return training, held_out
        cut_points = find_cut_points(training, class_name, discretize, columns=columns, keep_at_most=keep_at_most)
        return discretized(training, cut_points), discretized(held_out, cut_points)

    def arguments(fit: tuple[int, int]) -> tuple[Any, ...]:
        fold, number = fit
        return methods[number], *split(fold), class_name

    fits = [(fold, number) for fold in range(n_folds) for number in range(len(methods))]
    found: dict[tuple[int, int], Scores] = {}
    for fit, scores in results_of(evaluate_split, fits, arguments, n_jobs=n_jobs, client=client):
        found[fit] = scores
        if listener is not None:
            listener(methods[fit[1]].name, fit[0])
    return [
        Evaluation(method.name, tuple(found[fold, number] for fold in range(n_folds)))
        for number, method in enumerate(methods)
    ]


def evaluate_split(method: Method, training: Dataset, held_out: Dataset, class_name: str) -> Scores:
    """Train a method, after a warm-up, and measure its predictions on held-out rows, coded alike."""
    _warm_up(method, training, class_name)
    return predict_split(method, training, held_out, class_name)[0]


def predict_split(method: Method, training: Dataset, held_out: Dataset, class_name: str) -> tuple[Scores, Floats]:
    """Train a method; the measures of its predictions on held-out rows, and the predictions."""
    rows = _rows_for(method, held_out)
    begun = work_clock()
    fitted = method.fit(training, class_name)
    ready = work_clock()
    log_posterior = fitted.predict(rows)
    done = work_clock()
    weights = None if held_out.weights is None else held_out.weights.astype(np.float64)
    measured = measures(log_posterior, held_out.column(class_name), weights)
    seconds = {"fit_seconds": ready - begun, "predict_seconds": done - ready}
    return Scores(**measured, **seconds, is_proved=fitted.is_proved), log_posterior  # type: ignore[arg-type]


def _rows_for(method: Method, dataset: Dataset) -> Any:
    """The rows as a method reads them: codes, and the numbers beside them where it takes numbers."""
    if not dataset.measurements:
        return dataset.codes
    if not getattr(method, "takes_numbers", False):
        dataset.require_categories()
    return table_rows(dataset)


def _warm_up(method: Method, training: Dataset, class_name: str) -> None:
    """Fit a method to a few rows and columns if this process has not fitted it yet."""
    if method.name in _warm:
        return
    _warm.add(method.name)
    classes = training.column(class_name)
    rows = np.concatenate([np.flatnonzero(classes == code)[:WARM_UP_ROWS] for code in np.unique(classes)])
    features = [name for name in training.names if name != class_name][:WARM_UP_COLUMNS]
    few = training.columns([*features, class_name]).rows(np.sort(rows))
    with suppress(Exception):  # what is wrong with the method is reported by the fit that counts
        method.fit(few, class_name).predict(_rows_for(method, few))


def measures(log_posterior: Floats, right: NDArray[np.uint16], weights: Floats | None) -> dict[str, float | None]:
    """Accuracy, log-loss, Brier and AUC of predictions."""
    probabilities = np.exp(log_posterior)
    s = log_posterior.shape[1]
    is_right = log_posterior.argmax(axis=1) == right
    losses = -log_posterior[np.arange(len(right)), right]
    distances = ((probabilities - np.eye(s)[right]) ** 2).sum(axis=1) / (2 if s == 2 else 1)
    return {
        "accuracy": float(np.average(is_right, weights=weights)),
        "log_loss": float(np.average(losses, weights=weights)),
        "brier": float(np.average(distances, weights=weights)),
        "auc": macro_auc(probabilities, right, weights),
    }


def macro_auc(probabilities: Floats, right: NDArray[np.uint16], weights: Floats | None) -> float | None:
    """The AUC of two classes, or the mean over those that occur, each against the others; None if only one occurs."""
    counts = np.bincount(right, weights, minlength=probabilities.shape[1])
    present = np.flatnonzero(counts)
    if len(present) < 2:
        return None
    chosen = present[1:] if len(counts) == 2 else present
    return fmean(area_under_curve(right == code, probabilities[:, code], weights) for code in chosen)


def area_under_curve(is_positive: NDArray[np.bool_], scores: Floats, weights: Floats | None) -> float:
    """The area under the ROC curve: how often a positive row scores above another one, ties counting half."""
    each = np.ones(len(scores)) if weights is None else weights
    levels, at = np.unique(scores, return_inverse=True)
    positive = np.bincount(at, weights=each * is_positive, minlength=len(levels))
    negative = np.bincount(at, weights=each * ~is_positive, minlength=len(levels))
    below = np.cumsum(negative) - negative
    return float(positive @ (below + negative / 2) / (positive.sum() * negative.sum()))


def stratified_folds(classes: NDArray[np.uint16], n_folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, drawn as scikit-learn's `StratifiedKFold(n_folds, shuffle=True)` does."""
    rng = np.random.RandomState(seed)
    _, first, codes = np.unique(classes, return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(first))[codes]  # classes numbered by first appearance
    dealt = np.sort(in_order)
    shares = [np.bincount(dealt[fold::n_folds], minlength=len(first)) for fold in range(n_folds)]
    fold_of = np.empty(len(classes), dtype=np.int64)
    for number in range(len(first)):
        own = np.arange(n_folds).repeat([share[number] for share in shares])
        rng.shuffle(own)
        fold_of[in_order == number] = own
    return fold_of


def _folds(
    dataset: Dataset, class_name: str, n_folds: int, seed: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    if not 2 <= n_folds <= dataset.n_rows:
        raise ParameterError(
            f"the number of folds must be from 2 to {dataset.n_rows}, the rows. Got {n_folds} instead."
        )
    classes = dataset.column(class_name)
    largest = int(np.bincount(classes).max())
    if n_folds > largest:
        raise ParameterError(
            f"the number of folds must be at most {largest}, the rows of the largest class. Got {n_folds} instead."
        )
    fold_of = stratified_folds(classes, n_folds, seed)
    folds = [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(n_folds)]
    for train, _ in folds:
        if len(np.unique(classes[train])) < 2:
            way = "use fewer folds" if n_folds > 2 else "two of its values need two rows each"
            raise DataError(f"the class {class_name!r} has one value in the training rows of a fold; {way}")
    return folds
