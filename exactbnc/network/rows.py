"""The rows of a table in the codes of a network, and the numbers of its variables of numbers.

Columns are matched by name, and a value is a state by the one rule of `exactbnc.network.states`. In a discretised
column a number is the interval that it lies in. A missing value is the state "missing" where the network has one, and
unknown otherwise; so is a value that the network has never seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes, Rows
from exactbnc.network.numbers import bins_of, number_of, numbers_of
from exactbnc.network.states import state_codes
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED, MISSING_STATE, MOST_STATES, is_missing
from scorecache.data.frames import columns_of, is_frame, names_of
from scorecache.errors import DataError, ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    from collections.abc import Hashable


def rows_of(net: BayesNet, data: Any) -> Dataset:
    """The network's columns of a data set, a frame or a file, in which values may be missing and anything else."""
    if isinstance(data, Dataset):
        return data
    if isinstance(data, str | os.PathLike):
        from scorecache.data.reading import read_table

        return read_table(
            os.fspath(data),
            missing="category",
            max_states=MOST_STATES,
            only=net.index,
            measured={*net.cut_points, *net.numbers},
            least_columns=1,
        )
    if not is_frame(data):
        raise ParameterError(
            f"data must be a DataFrame of pandas or polars, an Arrow table, a Dataset or a path. "
            f"Got {type(data).__name__} instead."
        )
    columns = dict(zip(map(str, names_of(data)), columns_of(data), strict=True))
    own = {name: column for name, column in columns.items() if name in net.index}
    if not own:
        raise no_column(net.names, columns)
    measured = {*net.cut_points, *net.numbers}
    return Dataset.from_columns(own, missing="category", max_states=MOST_STATES, measured=measured)


def coded_rows(net: BayesNet, dataset: Dataset) -> Rows:
    """The rows of a data set; columns that it does not have are unknown."""
    codes = np.full((net.n_vars, dataset.n_rows), UNKNOWN, dtype=np.uint16)
    numbers = np.full(codes.shape, np.nan) if net.numbers else None
    present = [name for name in net.names if name in dataset.index]
    if not present:
        raise no_column(net.names, dataset.names)
    for name in present:
        if numbers is not None and net.is_number[net.index[name]]:
            found = _numbers(dataset, name)
            numbers[net.index[name]] = found
            codes[net.index[name], np.isfinite(found)] = 0
            continue
        lookup = _lookup(net, name, dataset.states[dataset.index[name]])
        own = lookup[dataset.column(name)]
        if name in dataset.measurements and name in net.cut_points:
            is_number = ~np.isnan(dataset.measurements[name])
            own[is_number] = bins_of(dataset.measurements[name][is_number], net.cut_points[name])
        codes[net.index[name]] = own
    return Rows(codes, numbers)


def table_rows(dataset: Dataset) -> Rows:
    """The rows of a data set from which a network was learned, or that has its columns and states."""
    if not dataset.measurements:
        return Rows(dataset.codes)
    codes, numbers = dataset.codes.copy(), np.full(dataset.codes.shape, np.nan)
    for name, own in dataset.measurements.items():
        v = dataset.index[name]
        numbers[v], codes[v] = own, np.where(np.isfinite(own), 0, UNKNOWN)
    return Rows(codes, numbers)


def row_of(net: BayesNet, values: Mapping[str, Hashable]) -> Rows:
    """A row given by name; what is not named, None, NaN, NaT or pandas.NA is unknown."""
    row = np.full(net.n_vars, UNKNOWN, dtype=np.uint16)
    numbers = np.full((net.n_vars, 1), np.nan) if net.numbers else None
    for name, value in values.items():
        v = net.position(name)
        if is_missing(value):
            continue
        if numbers is not None and net.is_number[v]:
            numbers[v], row[v] = _number(name, value), 0
            continue
        (row[v],) = _lookup(net, name, (value,))
        if row[v] == UNKNOWN:
            states = listing(map(repr, net.states[v]))
            raise ParameterError(f"{value!r} is not a state of {name!r}; its states are {states}")
    return Rows(row[:, None], numbers)


def rows_sha256(rows: Codes | Rows) -> str:
    """A hash of rows in codes, by which a network recognises those that it was learned from."""
    own = Rows.of(rows)
    digest = sha256(np.ascontiguousarray(own.codes, dtype="<u2").tobytes())
    if own.numbers is not None:
        digest.update(np.ascontiguousarray(np.where(np.isnan(own.numbers), np.nan, own.numbers), dtype="<f8").tobytes())
    return digest.hexdigest()


def accuracy(net: BayesNet, dataset: Dataset, predicted: NDArray[np.int64]) -> tuple[float, int] | None:
    """The share of the rows whose class is not missing that are predicted correctly, and how many these are.

    None if the data have no class, or none that the network knows.
    """
    name = net.required_class
    if name not in dataset.index:
        return None
    lookup = _lookup(net, name, dataset.states[dataset.index[name]])
    actual = lookup[dataset.column(name)]
    is_missing = np.array([state == MISSING_STATE for state in dataset.states[dataset.index[name]]])
    has_class = (actual != UNKNOWN) | ~is_missing[dataset.column(name)]
    if not (actual != UNKNOWN).any():
        return None
    return float(np.mean((predicted == actual)[has_class])), int(has_class.sum())


def unseen_values(net: BayesNet, dataset: Dataset) -> dict[str, list[str]]:
    """Per column but the class, the values that are not states of the network, except missing ones."""
    found = {}
    for name in net.features:
        if name in dataset.index and not net.is_number[net.index[name]]:
            states = dataset.states[dataset.index[name]]
            named = {MISSING_STATE, MEASURED} if name in dataset.measurements else {MISSING_STATE}
            codes = _lookup(net, name, states)
            values = [str(s) for s, code in zip(states, codes, strict=True) if code == UNKNOWN and s not in named]
            if values:
                found[name] = values
    return found


def _lookup(net: BayesNet, name: str, states: Sequence[Hashable]) -> NDArray[np.uint16]:
    """The code of every state of a table's column."""
    found = state_codes(net.states[net.index[name]], states)
    lookup = np.array([UNKNOWN if code is None else code for code in found], dtype=np.uint16)
    if name in net.cut_points:
        bins = bins_of(numbers_of(tuple(states)), net.cut_points[name])
        is_number = bins <= len(net.cut_points[name])
        lookup[is_number] = bins[is_number]
    return lookup


def _numbers(dataset: Dataset, name: str) -> NDArray[np.float64]:
    """The numbers of a column, NaN where it has something else; infinities are not known numbers either."""
    if name in dataset.measurements:
        return dataset.measurements[name]
    found: NDArray[np.float64] = numbers_of(dataset.states[dataset.index[name]])[dataset.column(name)]
    return found


def _number(name: str, value: Hashable) -> float:
    number = number_of(value)
    if not np.isfinite(number):
        raise ParameterError(f"{name!r} is a variable of numbers; give a finite number. Got {value!r} instead.")
    return number


def no_column(wanted: Iterable[str], names: Iterable[str]) -> DataError:
    """The error for a table without a column that is wanted."""
    return DataError(
        f"expected columns of the network, {listing(map(repr, wanted))}; "
        f"the table has none of them, but {listing(map(repr, names))}"
    )
