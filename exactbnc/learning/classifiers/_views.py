"""The discretisations that the members of an ensemble read: the automatic one, and intervals of equal frequency."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.classifiers._features import Features
from exactbnc.learning.discretize._tally import Tally
from exactbnc.learning.discretize.equal_frequency import equal_frequency_places
from exactbnc.learning.ensemble.pool import Inputs
from scorecache.data.encoding import MISSING_STATE, is_missing
from scorecache.data.frames import as_floats, columns_of

Floats = NDArray[np.float64]

QUANTILES = (5, 8, 12)
"""Intervals of equal frequency of the discretisations beside the automatic one."""
NAMES = ("automatic", *(f"{n_bins} quantiles" for n_bins in QUANTILES))


def views_of(own: Features, table: Any, weights: Floats) -> tuple[Features, ...]:
    """The automatic one, `own`, first; it is alone where no column has cut points."""
    if all(cuts is None for cuts in own.cut_points):
        return (own,)
    classes = np.zeros(len(weights), dtype=np.int64)
    tallies = {
        v: Tally.of(as_floats(column, name), classes, weights)
        for v, (name, column) in enumerate(zip(own.names, columns_of(table), strict=True))
        if own.cut_points[v] is not None
    }
    views = [own]
    for n_bins in QUANTILES:
        places = {v: equal_frequency_places(tally, n_bins) for v, tally in tallies.items()}
        cuts = {v: tally.cut_points(places[v]) for v, tally in tallies.items()}
        views.append(_recut(own, [cuts.get(v) for v in range(len(own.names))]))
    return tuple(views)


def grown_views(views: Sequence[Features], own: Features) -> tuple[Features, ...]:
    """The same cut points where `own` has further states."""
    return (own, *(_recut(own, view.cut_points) for view in views[1:]))


def inputs_of(views: Sequence[Features], table: Any) -> Inputs:
    """The table as the members read it; what has no cut points, and the numbers, are read once."""
    own = views[0]
    numbers = {
        v: as_floats(column, own.names[v])
        for v, (column, cuts) in enumerate(zip(columns_of(table), own.cut_points, strict=True))
        if cuts is not None
    }
    codes = [own.encode(table)]
    for view in views[1:]:
        codes.append(codes[0].copy())
        for v, column in numbers.items():
            codes[-1][v] = view.intervals(v, column)
    return Inputs(tuple(codes), _columns(numbers.values(), codes[0].shape[1]))


def inputs_of_row(views: Sequence[Features], values: Sequence[Any]) -> Inputs | None:
    """The same of one row; None if a value is not what its column holds, which `inputs_of` reports."""
    codes = [view.encode_row(values) for view in views]
    if any(own is None for own in codes):
        return None
    numbers = [
        np.array([np.nan if is_missing(value) else float(value)])
        for value, cuts in zip(values, views[0].cut_points, strict=True)
        if cuts is not None
    ]
    return Inputs(tuple(own for own in codes if own is not None), _columns(numbers, 1))


def _columns(numbers: Collection[Floats], n_rows: int) -> Floats:
    return np.column_stack(list(numbers)) if numbers else np.empty((n_rows, 0))


def _recut(own: Features, cut_points: Sequence[Floats | None]) -> Features:
    states = list(own.states)
    for v, cuts in enumerate(cut_points):
        if cuts is not None:
            states[v] = (*range(len(cuts) + 1), *([MISSING_STATE] if own.has_missing_state[v] else []))
    return replace(own, states=tuple(states), cut_points=tuple(cut_points))
