"""Cut points applied to a data set: columns of numbers become columns of intervals.

The values of a data set read from a file are texts; a column is one of numbers if all its states read as numbers (the
state for missing values aside), or if it holds measurements (`Dataset.measurements`). Cut points are learned by the
transformers of `exactbnc.learning.discretize`.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.numbers import bins_of, numbers_of
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED, MISSING_STATE
from scorecache.errors import ParameterError

Floats = NDArray[np.float64]
CutPoints = Mapping[str, Sequence[float]]

METHODS = ("auto", "mdlp", "median", "quantile")
AUTO = METHODS[0]
"""MDLP where there is a class, else intervals of equal frequency, for columns of more numbers than a category has."""
KEPT_VALUES = 10
"""With "auto", columns of at most this many different numbers are categories."""
LEAST_BINS = 5
"""With "auto", a column gets this many intervals of equal frequency where MDLP would make fewer, or has no class."""


def numeric_columns(dataset: Dataset, class_name: str | None) -> list[str]:
    """The columns, the class aside if there is one, whose values are all numbers."""
    return [
        name
        for name, states in zip(dataset.names, dataset.states, strict=True)
        if name != class_name
        and (_all_measured(states) if name in dataset.measurements else _all_numbers(numbers_of(states), states))
    ]


def quantities(dataset: Dataset, class_name: str | None, most_kept: int | None = None) -> list[str]:
    """The columns that "auto" discretises: measurements, and more than `most_kept` numbers without a leading zero."""
    least = KEPT_VALUES if most_kept is None else most_kept
    states = dict(zip(dataset.names, dataset.states, strict=True))
    return [
        name
        for name in numeric_columns(dataset, class_name)
        if name in dataset.measurements or (_n_numbers(states[name]) > least and not _are_digits(states[name]))
    ]


def find_cut_points(
    dataset: Dataset,
    class_name: str | None,
    method: str,
    *,
    columns: Container[str] | None = None,
    keep_at_most: int | None = None,
    n_bins: int = 5,
) -> dict[str, tuple[float, ...]]:
    """The cut points of the numeric columns with more than `keep_at_most` distinct values, by the method's name.

    Of these only `columns`, if they are given. Measurements, which the whole data set has too many of to keep, are
    discretised in every part of it.
    """
    numeric = numeric_columns(dataset, class_name)
    if method not in METHODS:
        raise ParameterError(f"the discretisation must be one of {', '.join(METHODS)}. Got {method!r} instead.")
    if class_name is None and method == "mdlp":
        raise ParameterError("mdlp discretises for a class: name it (target='NAME'), or choose median or quantile")
    options: dict[str, int] = {"n_bins": n_bins} if method == "quantile" else {}
    if method == AUTO:
        numeric = quantities(dataset, class_name, keep_at_most)
        method = "quantile" if class_name is None else "mdlp"
        options = {"n_bins" if class_name is None else "least_bins": LEAST_BINS}
    if columns is not None:
        numeric = [name for name in numeric if name in columns]
    if not numeric:
        return {}

    from exactbnc.learning.discretize.registry import DISCRETIZERS

    labels = np.zeros(dataset.n_rows, dtype=np.uint16) if class_name is None else dataset.column(class_name)
    measured = [name for name in numeric if name in dataset.measurements]
    others = [name for name in numeric if name not in dataset.measurements]
    found: dict[str, tuple[float, ...]] = {}
    for names, most_kept in ((measured, None), (others, keep_at_most)):
        if names:
            table = np.column_stack([_numbers(dataset, name) for name in names])
            learner = DISCRETIZERS[method](keep_at_most=most_kept, **options)
            learner.fit(table, labels, sample_weight=dataset.weights)
            own = learner.cut_points_
            found |= {name: tuple(own[v].tolist()) for v, name in enumerate(names) if v in own}
    return {name: found[name] for name in numeric if name in found}


def discretized(dataset: Dataset, cut_points: CutPoints) -> Dataset:
    """The data set with these columns as intervals, all of them declared; missing values keep their state."""
    if not cut_points:
        return dataset

    from exactbnc.learning.discretize._base import interval_labels

    codes, states = dataset.codes.copy(), list(dataset.states)
    for name, points in cut_points.items():
        v = dataset.index[name]
        labels: tuple[Hashable, ...] = tuple(interval_labels(np.array(points)))
        if MISSING_STATE in dataset.states[v]:
            labels = (*labels, MISSING_STATE)
        codes[v] = bins_of(_numbers(dataset, name), points)
        states[v] = labels
    left = {name: numbers for name, numbers in dataset.measurements.items() if name not in cut_points}
    return replace(dataset, codes=codes, states=tuple(states), measurements=left)


def _numbers(dataset: Dataset, name: str) -> Floats:
    if name in dataset.measurements:
        return dataset.measurements[name]
    found: Floats = numbers_of(dataset.states[dataset.index[name]])[dataset.column(name)]
    return found


def _n_numbers(states: tuple[Hashable, ...]) -> int:
    return len(states) - (MISSING_STATE in states)


def _are_digits(states: tuple[Hashable, ...]) -> bool:
    """Whether some state is written with a leading zero, as codes and telephone numbers are."""
    return any(isinstance(state, str) and len(state) > 1 and state[0] == "0" and state.isdigit() for state in states)


def _all_measured(states: tuple[Hashable, ...]) -> bool:
    return set(states) <= {MEASURED, MISSING_STATE}


def _all_numbers(numbers: Floats, states: tuple[Hashable, ...]) -> bool:
    n_others = int(np.count_nonzero(np.isnan(numbers)))  # infinities are numbers, as in a column of measurements
    return n_others < len(numbers) and n_others == (MISSING_STATE in states)
