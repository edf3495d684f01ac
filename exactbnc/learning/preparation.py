"""From a frame, a data set or a file to the data set that a network is learned from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from exactbnc.learning.discretize.tables import (
    AUTO,
    METHODS,
    discretized,
    find_cut_points,
    numeric_columns,
    quantities,
)
from exactbnc.network.codes import UNKNOWN, Codes
from exactbnc.network.numbers import number_of, numbers_of
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MAX_STATES, MEASURED, MISSING_STATE
from scorecache.data.frames import columns_of, holds_numbers, is_frame, names_of
from scorecache.data.identifiers import check_identifiers
from scorecache.errors import DataError, ParameterError
from scorecache.scores import Score
from scorecache.wording import listing

FEW_FRACTIONS = 10
"""Up to this many numbers with a fraction, a column without discretisation is not worth a warning."""

EM = "em"
"""Missing values are summed out: tables are read with a state for them, which `exactbnc.learning.em` takes away."""


States = tuple[tuple[Hashable, ...], ...]


class AnyColumn:
    """Contains every name."""

    def __contains__(self, name: object) -> bool:
        return True


@dataclass(frozen=True)
class Preparation:
    """What happens to a table before a network is learned from it; see `exactbnc.learn`."""

    discretize: str | None = AUTO
    missing: str = "error"
    states: Mapping[str, Iterable[Hashable]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    weights: Any = None
    keep_at_most: int | None = None
    max_states: int | None = None
    allow_identifiers: bool = False

    def __post_init__(self) -> None:
        if self.discretize not in (None, *METHODS):
            listed = ", ".join(map(repr, (None, *METHODS)))
            raise ParameterError(f"discretize must be one of {listed}. Got {self.discretize!r} instead.")

    def to_json(self) -> dict[str, Any]:
        """The steps in the types of JSON, for provenance."""
        return {
            "discretize": self.discretize,
            "missing": self.missing,
            "ignore": list(self.ignore) or None,
            "keep_at_most": self.keep_at_most,
            "weights": self.weights if isinstance(self.weights, str) else None,
            "max_states": self.max_states,
        }


@dataclass(frozen=True, eq=False)
class Prepared:
    """The table as it was read, the one to learn from, and the cut points that lead from one to the other."""

    source: Dataset
    dataset: Dataset
    cut_points: Mapping[str, tuple[float, ...]]


def prepare(
    data: Any, target: str | None, steps: Preparation, score: Score | None = None, *, may_lack: bool = False
) -> Prepared:
    """Read the table, leave out rows without a target, and discretise numbers, or keep them for a score of numbers.

    With `may_lack` numbers that are missing stay so, as NaN.
    """
    keeps_numbers = score is not None and score.takes_measurements
    if score is not None and keeps_numbers and steps.discretize not in (None, AUTO):
        raise ParameterError(f"the score {score.name!r} takes numbers as they are: leave discretize= out")
    source = read_any(data, steps, keeps_numbers=keeps_numbers)
    if target is not None:
        source, _ = rows_with_class(source, target)
    categories = set(steps.states) | ({*_texts_of(data)} if is_frame(data) else set())
    if score is not None and keeps_numbers:
        dataset = with_numbers(
            source, score, target, declared=categories, keep_at_most=steps.keep_at_most, may_lack=may_lack
        )
        check_identifiers(dataset, allow=steps.allow_identifiers, declared=steps.states)
        return Prepared(source, dataset, {})
    return in_intervals(source, target, steps, categories)


def in_intervals(source: Dataset, target: str | None, steps: Preparation, categories: Container[str] = ()) -> Prepared:
    """Discretise the numbers of a table, with "auto" not those of `categories`; refuse identifiers."""
    if steps.discretize is None:
        _warn_of_numbers(source, target)
        check_identifiers(source, allow=steps.allow_identifiers, declared=steps.states)
        return Prepared(source, source, {})
    columns = None
    if steps.discretize == AUTO:
        columns = [name for name in source.names if name not in categories]
    cut_points = find_cut_points(source, target, steps.discretize, columns=columns, keep_at_most=steps.keep_at_most)
    dataset = discretized(source, cut_points) if cut_points else source
    _check_columns(dataset, steps.max_states or MAX_STATES)
    check_identifiers(dataset, allow=steps.allow_identifiers, declared=steps.states)
    return Prepared(source, dataset, cut_points)


def _texts_of(frame: Any) -> Iterable[str]:
    """The columns of a frame that do not hold numbers."""
    return (
        str(name) for name, column in zip(names_of(frame), columns_of(frame), strict=True) if not holds_numbers(column)
    )


def with_numbers(
    dataset: Dataset,
    score: Score,
    target: str | None,
    *,
    declared: Container[str] = (),
    keep_at_most: int | None = None,
    may_lack: bool = False,
) -> Dataset:
    """The columns that a score of numbers reads as such: all of them, or beside states those that are quantities.

    Those hold a fraction, or more than ten different numbers; with `keep_at_most`, more than that many. The target and
    columns with declared states have states.

    Examples
    --------
    >>> from scorecache.scores import make_score
    >>> data = Dataset.from_columns({"sex": [0, 1, 1], "height": [1.62, 1.8, 1.75]})
    >>> list(with_numbers(data, make_score("bge-cg"), None).measurements)
    ['height']
    """
    if not score.takes_measurements:
        return dataset
    many = quantities(dataset, target, keep_at_most)
    chosen = [
        name
        for name in numeric_columns(dataset, target)
        if name in dataset.measurements
        or (name not in declared and (name in many or (keep_at_most is None and _has_fraction(dataset, name))))
    ]
    if not getattr(score, "takes_states", False):
        chosen = list(dataset.names)
    lacking = [name for name in chosen if MISSING_STATE in dataset.states[dataset.index[name]]]
    if lacking and not may_lack:
        raise DataError(
            f"numbers are missing in {listing(map(repr, lacking))}, and the score {score.name!r} needs them in every "
            "row: leave such rows out (missing='drop'), sum them out (missing='em', for 'bic-cg'), or discretise and "
            "take a score of states"
        )
    return with_gaps(dataset, lacking).measured(chosen)


def with_gaps(dataset: Dataset, names: Iterable[str]) -> Dataset:
    """The data set with these columns as numbers, NaN where one is missing.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": [1.5, None]}, missing="category")
    >>> with_gaps(data, ["x"]).measurements
    {'x': array([1.5, nan])}
    """
    states, codes, numbers = list(dataset.states), dataset.codes.copy(), dict(dataset.measurements)
    for name in names:
        v = dataset.index[name]
        texts = [state for state in states[v] if state not in (MEASURED, MISSING_STATE) and np.isnan(number_of(state))]
        if texts:
            raise DataError(f"column {name!r} must hold numbers. Got {listing(map(repr, texts))} instead.")
        if name not in numbers:
            numbers[name] = numbers_of(states[v])[codes[v]]
            states[v], codes[v] = (MEASURED,), 0
    return Dataset(dataset.names, tuple(states), codes, dataset.weights, numbers)


def _has_fraction(dataset: Dataset, name: str) -> bool:
    """Whether one of the column's numbers is not whole."""
    return bool((np.mod(numbers_of(dataset.states[dataset.index[name]]), 1) > 0).any())  # NaN is not


def read_any(data: Any, steps: Preparation, *, keeps_numbers: bool = False) -> Dataset:
    """The data set of a frame or a file, or the data set itself; many numbers stay numbers if they are wanted."""
    if isinstance(data, Dataset):
        if steps.states or steps.weights is not None:
            raise ParameterError("a Dataset has its states and weights; give states= and weights= with a frame or path")
        return data.columns(_kept(data.names, steps.ignore))
    is_discretized = steps.discretize is not None
    measures = is_discretized or keeps_numbers
    options: dict[str, Any] = {
        "states": dict(steps.states),
        "missing": steps.missing,
        "max_states": steps.max_states or (MAX_STATES if is_discretized else None),
        "measured": AnyColumn() if measures else (),
    }
    if isinstance(data, str | os.PathLike):
        from scorecache.data.reading import read_table

        if steps.weights is not None and not isinstance(steps.weights, str):
            raise ParameterError("weights must name a column of the file")
        return read_table(os.fspath(data), **options, weights=steps.weights, ignore=steps.ignore)
    if not is_frame(data):
        raise ParameterError(
            "data must be a DataFrame of pandas or polars, an Arrow table, a Dataset or the path of a file. "
            f"Got {type(data).__name__} instead."
        )
    names = [str(name) for name in names_of(data)]
    columns = columns_of(data)
    kept = _kept(names, steps.ignore)
    if len(kept) == len(names):
        return Dataset.from_frame(data, **options, weights=steps.weights)
    own = {name: column for name, column in zip(names, columns, strict=True) if name in kept}
    weights = own.pop(steps.weights, None) if isinstance(steps.weights, str) else steps.weights
    return Dataset.from_columns(own, **options, weights=weights)


def rows_with_class(dataset: Dataset, class_name: str) -> tuple[Dataset, int]:
    """The rows whose class is not missing, and how many others there are; a class has no state for those.

    A class that is not a column, or holds numbers, is refused.
    """
    dataset.column(class_name)  # an error lists the columns if it is not one
    if class_name in dataset.measurements:
        raise DataError(
            f"the class {class_name!r} holds many different numbers; a class has few values: "
            "discretise it into another column first"
        )
    v = dataset.index[class_name]
    if dataset.states[v][-1] != MISSING_STATE:
        return dataset, 0
    is_known = dataset.codes[v] < len(dataset.states[v]) - 1
    if is_known.all() or not is_known.any():  # a declared state of that name, or an error to come
        return dataset, 0
    states = (*dataset.states[:v], dataset.states[v][:-1], *dataset.states[v + 1 :])
    return replace(dataset.rows(is_known), states=states), int((~is_known).sum())


def _kept(names: Iterable[str], ignore: Iterable[str]) -> list[str]:
    """The names that are not to be ignored, which must exist."""
    listed = list(names)
    unknown = [name for name in ignore if name not in listed]
    if unknown:
        raise ParameterError(
            f"ignore names {listing(map(repr, unknown))}; the columns are {listing(map(repr, listed))}"
        )
    return [name for name in listed if name not in ignore]


def _warn_of_numbers(dataset: Dataset, target: str | None) -> None:
    """Warn of numbers with fractions that become categories."""
    found = [
        name
        for name in numeric_columns(dataset, target)
        if np.count_nonzero(np.mod(numbers_of(dataset.states[dataset.index[name]]), 1) > 0) > FEW_FRACTIONS
    ]
    if found:
        warnings.warn(
            f"every number of {listing(map(repr, found))} is a category of its own; discretize='quantile' (or "
            "'median', with a target 'mdlp') makes intervals of them",
            UserWarning,
            stacklevel=4,
        )


def observed_states(states: States) -> States:
    """The states of the variables without the one for missing values."""
    return tuple(listed[:-1] if listed[-1] == MISSING_STATE else listed for listed in states)


def observed_codes(states: States, codes: Codes) -> Codes:
    """Codes of the first of these states, with UNKNOWN in the place of the state for missing values."""
    observed = codes.copy()
    for row, listed in zip(observed, states, strict=False):
        if listed[-1] == MISSING_STATE:
            row[row == len(listed) - 1] = UNKNOWN
    return observed


def check_measurements(dataset: Dataset) -> None:
    """Refuse texts among the numbers of a measured column, which cannot be discretised."""
    for name in dataset.measurements:
        texts = [state for state in dataset.states[dataset.index[name]] if state not in (MEASURED, MISSING_STATE)]
        if texts:
            raise DataError(
                f"column {name!r} holds many numbers and among them {listing(map(repr, texts))}; correct that, write "
                f"a missing value as ? or NA, or leave the column out (ignore=[{name!r}])"
            )


def _check_columns(dataset: Dataset, most: int) -> None:
    """Refuse what no cut points could be found for: texts among many numbers, and too many texts."""
    check_measurements(dataset)
    wide = [
        f"{name!r} ({len(states)})"
        for name, states in zip(dataset.names, dataset.states, strict=True)
        if len(states) > most
    ]
    if wide:
        raise DataError(
            f"more than {most} distinct values look like an identifier: {', '.join(wide)}; leave such a column out "
            "(ignore=[...]), or allow it with max_states"
        )
