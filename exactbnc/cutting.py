"""Cut points applied to a data set: columns of numbers become columns of intervals.

The values of a data set read from a file are texts; a column is one of numbers if all its states read as numbers (the
state for missing values aside). Cut points are learned by the transformers of `exactbnc.discretize`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scorecache._encode import MISSING_STATE
from scorecache.dataset import Dataset
from scorecache.errors import ParameterError

Floats = NDArray[np.float64]
CutPoints = Mapping[str, Sequence[float]]


def numbers_of(states: tuple[Hashable, ...]) -> Floats:
    """The numbers that states are or spell, NaN where there is none; the same column is asked for again and again."""
    return _remembered_numbers(states, tuple(map(type, states)))  # (0, 1) equals (False, True)


def numeric_columns(dataset: Dataset, class_name: str) -> list[str]:
    """The columns, the class aside, whose states are all numbers."""
    return [
        name
        for name, states in zip(dataset.names, dataset.states, strict=True)
        if name != class_name
        and np.isfinite(numbers_of(states)).any()
        and np.isnan(numbers_of(states)).sum() == (MISSING_STATE in states)
    ]


def learn_cuts(
    dataset: Dataset, class_name: str, method: str, *, keep_at_most: int | None = None, n_bins: int = 5
) -> dict[str, tuple[float, ...]]:
    """The cut points of the numeric columns with more than `keep_at_most` distinct values, by the method's name."""
    from exactbnc.discretize import DISCRETIZERS

    if method not in DISCRETIZERS:
        raise ParameterError(f"the discretisation must be one of {', '.join(DISCRETIZERS)}. Got {method!r} instead.")
    names = numeric_columns(dataset, class_name)
    if not names:
        return {}
    bins = {"n_bins": n_bins} if method == "quantile" else {}
    table = np.column_stack([_numbers(dataset, name) for name in names])
    learner = DISCRETIZERS[method](keep_at_most=keep_at_most, **bins)
    learner.fit(table, dataset.column(class_name), sample_weight=dataset.weights)
    return {name: tuple(learner.cut_points_[v].tolist()) for v, name in enumerate(names) if v in learner.cut_points_}


def cut(dataset: Dataset, cut_points: CutPoints) -> Dataset:
    """The data set with these columns as intervals, all of them declared; missing values keep their state."""
    from exactbnc.discretize import interval_labels

    codes, states = dataset.codes.copy(), list(dataset.states)
    for name, points in cut_points.items():
        v = dataset.index[name]
        labels: tuple[Hashable, ...] = tuple(interval_labels(np.array(points)))
        if MISSING_STATE in dataset.states[v]:
            labels = (*labels, MISSING_STATE)
        codes[v] = bin_lookup(dataset.states[v], points)[dataset.codes[v]]
        states[v] = labels
    return replace(dataset, codes=codes, states=tuple(states))


def bin_lookup(states: tuple[Hashable, ...], points: Sequence[float]) -> NDArray[np.uint16]:
    """The bin of every state: the number of cut points below it; one past the last for what is not a number."""
    numbers = numbers_of(states)
    bins = np.searchsorted(np.asarray(points, dtype=np.float64), numbers)
    return np.where(np.isnan(numbers), len(points) + 1, bins).astype(np.uint16)


def _numbers(dataset: Dataset, name: str) -> Floats:
    found: Floats = numbers_of(dataset.states[dataset.index[name]])[dataset.column(name)]
    return found


@lru_cache(maxsize=256)
def _remembered_numbers(states: tuple[Hashable, ...], types: tuple[type, ...]) -> Floats:
    numbers = np.array([_number_of(state) for state in states], dtype=np.float64)
    numbers.flags.writeable = False
    return numbers


def _number_of(state: Hashable) -> float:
    if isinstance(state, bool) or not isinstance(state, str | int | float):
        return math.nan
    if isinstance(state, str) and (not state.isascii() or "_" in state):  # numbers to Python, but not in a table
        return math.nan
    try:
        return float(state)
    except (ValueError, OverflowError):
        return math.nan
