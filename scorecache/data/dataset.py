"""A data table as integer codes: declared states, names, and how often each row counts."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorecache.data.encoding import (
    MEASURED,
    MOST_STATES,
    MOST_WEIGHT,
    Encoder,
    Encoding,
    RawColumn,
    assemble,
    check_states,
    is_missing,
    not_a_weight,
    row_weights,
    undeclared,
)
from scorecache.data.frames import as_floats, columns_of, distinct_objects, holds_numbers, is_frame, names_of
from scorecache.errors import DataError, ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    import pandas

_SORTABLE_KINDS = "biufUSmM"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of categories as integer codes, with declared states and row weights; no value is missing.

    `from_frame`, `from_columns`, `from_codes` and `read_table` make one.

    Parameters
    ----------
    names : tuple of str
        The variables.
    states : tuple of tuples
        `states[v]` lists the states of variable v, also those that never occur.
    codes : array of uint16
        Variables x rows, from 0 to the number of states less one.
    weights : array of int64 or float64, optional
        How many identical rows a row stands for; None is one each. Numbers that are not whole go with the scores that
        take them (`exactbnc scores`), and with parameters.
    measurements : mapping of names to float64 arrays
        The columns that are kept as numbers: for scores of numbers such as `bge`, or until they are discretised
        (`exactbnc.learning.discretize.tables`). The one state "a number" stands for all of them, and a number is NaN
        where the column has another state, such as "missing". A reader that is asked to keeps the numbers where they
        are too many to be states; `measured` makes numbers of states.

    Raises
    ------
    DataError
        If the parts do not fit each other.

    Examples
    --------
    >>> data = Dataset.from_columns({"rain": ["no", "yes", "no"], "wet": [0, 1, 1]})
    >>> data.n_rows, data.arities.tolist(), data.column("rain").tolist()
    (3, [2, 2], [0, 1, 0])
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    codes: NDArray[np.uint16]
    weights: NDArray[np.int64] | NDArray[np.float64] | None = None
    measurements: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_names(self.names)
        _check_codes(self)
        _check_weights(self)
        _check_measurements(self)
        self.codes.flags.writeable = False
        if self.weights is not None:
            self.weights.flags.writeable = False
        for numbers in self.measurements.values():
            numbers.flags.writeable = False

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[Any, Any] | Iterable[Any],
        *,
        names: Iterable[str] | None = None,
        states: Mapping[Any, Iterable[Hashable]] | None = None,
        weights: ArrayLike | None = None,
        missing: str = "error",
        max_states: int | None = None,
        measured: Container[str] = (),
    ) -> Dataset:
        """Encode columns of hashable values.

        Parameters
        ----------
        columns : mapping of names to values, or sequence of columns
        names : sequence of str, optional
            Of a sequence of columns; 0, 1, 2, ... by default.
        states : mapping of names to states, optional
            States that are not declared are sorted: numbers by size, text as text, objects without an order as they
            come.
        weights : array of numbers, optional
            How many rows each row stands for; a row of weight 0 only declares states.
        missing : {"error", "drop", "category"}
            For None, NaN, NaT and pandas.NA: an error, rows without them, or one more state.
        max_states : int, optional
            Most values of a column; by default 100 for numbers and 1000 for anything else.
        measured : container of names, optional
            Columns that keep their numbers (`measurements`) if they have more of them than a column may have states.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If a value is missing or not declared, or a column has too many values.

        Examples
        --------
        >>> data = Dataset.from_columns({"rain": ["no", "yes", "no"], "wet": [0, 1, 1]}, states={"rain": ["yes", "no"]})
        >>> data.states
        (('yes', 'no'), (0, 1))
        >>> data.codes.tolist()
        [[1, 0, 1], [0, 1, 1]]
        """
        if isinstance(columns, Mapping):
            if names is not None:
                raise ParameterError("names go with a sequence of columns; a mapping brings its own")
            names, columns = list(columns), columns.values()
        columns = list(columns)
        names = list(map(str, range(len(columns)) if names is None else names))
        _check_names(names)
        if len(names) != len(columns):
            raise ParameterError(f"{len(columns)} columns need as many names. Got {len(names)} instead.")
        declared = {str(name): tuple(listed) for name, listed in (states or {}).items()}
        encoding = Encoding(declared, missing, max_states)
        encoding.check_columns(names)
        raw = [
            (_measured_column(name, values, encoding) if name in measured and name not in declared else None)
            or _raw_column(name, values, declared.get(name))
            for name, values in zip(names, columns, strict=True)
        ]
        n_rows = _common_length(raw)
        return cls(*assemble(raw, None if weights is None else row_weights(weights, n_rows), encoding))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        states: Mapping[Any, Iterable[Hashable]] | None = None,
        weights: str | ArrayLike | None = None,
        missing: str = "error",
        max_states: int | None = None,
        measured: Container[str] = (),
    ) -> Dataset:
        """Encode a frame of pandas or polars, or any other that speaks Arrow's C stream interface.

        A categorical column of pandas and an Enum of polars declare their categories, in their order.

        Parameters
        ----------
        frame : DataFrame
        weights : str or array of numbers, optional
            The name of a column, which then is not a variable, or how many rows each row stands for.
        states, missing, max_states, measured
            As in `from_columns`.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If a value is missing, a column has too many values, or two columns have the same name.

        Examples
        --------
        >>> import pandas as pd
        >>> data = Dataset.from_frame(pd.DataFrame({"rain": ["no", "yes"], "n": [3, 1]}), weights="n")
        >>> data.names, data.total_weight
        (('rain',), 4)
        """
        if not is_frame(frame):
            raise ParameterError(
                f"expected a DataFrame of pandas or polars, or another Arrow table. Got {type(frame).__name__} instead."
            )
        names, columns = [str(name) for name in names_of(frame)], columns_of(frame)
        if isinstance(weights, str):
            if weights not in names:
                raise ParameterError(f"the weights {weights!r} are not a column; columns are {listing(names)}")
            position = names.index(weights)
            del names[position]
            weights = columns.pop(position)
        return cls.from_columns(
            columns,
            names=names,
            states=states,
            weights=weights,
            missing=missing,
            max_states=max_states,
            measured=measured,
        )

    from_pandas = from_frame

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        arities: Sequence[int] | None = None,
        *,
        names: Iterable[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> Dataset:
        """Take codes as they are; the states are 0, 1, ..., arity - 1.

        Parameters
        ----------
        codes : array of whole numbers
            Variables x rows.
        arities : sequence of int, optional
            The numbers of states; by default the largest code of a variable and one.
        names : sequence of str, optional
            0, 1, 2, ... by default.
        weights : array of numbers, optional

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If the codes are not whole numbers from 0 on, variables x rows, or do not fit the arities.

        Examples
        --------
        >>> data = Dataset.from_codes([[0, 1, 1], [2, 0, 1]], names=["a", "b"])
        >>> data.arities.tolist(), data.n_rows
        ([2, 3], 3)
        """
        table = np.asarray(codes)
        if table.ndim != 2 or table.dtype.kind not in "biu" or table.size == 0:
            raise DataError(f"codes must be whole numbers, variables x rows. Got {table.dtype} {table.shape} instead.")
        if table.min() < 0 or table.max() >= MOST_STATES:
            raise DataError(f"codes must be from 0 to {MOST_STATES - 1}. Got {table.min()} to {table.max()} instead.")
        if arities is None:
            arities = [int(largest) + 1 for largest in table.max(axis=1)]
        counts = None if weights is None else row_weights(weights, table.shape[1])
        if counts is not None:
            table, counts = table[:, counts > 0], counts[counts > 0]
        return cls(
            names=tuple(map(str, range(len(table)) if names is None else names)),
            states=tuple(tuple(range(arity)) for arity in arities),
            codes=np.array(table, dtype=np.uint16, order="C"),
            weights=counts,
        )

    def __sizeof__(self) -> int:
        # Dask sends an argument once per worker, not once per task, if it says that it is large
        arrays = [self.codes, *self.measurements.values(), *(() if self.weights is None else (self.weights,))]
        return 1024 + sum(int(array.nbytes) for array in arrays)

    @property
    def n_vars(self) -> int:
        return len(self.names)

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        return np.array([len(states) for states in self.states], dtype=np.int64)

    @cached_property
    def total_weight(self) -> float:
        """N: the number of rows, each counted as often as its weight says; not whole where the weights are not."""
        return self.n_rows if self.weights is None else self.weights.sum().item()

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """The weights as counts of rows, which scores are defined for; a DataError if they are not whole numbers."""
        if self.weights is not None and self.weights.dtype != np.int64:
            raise DataError("scores are defined for counts of rows: weights must be whole numbers (int64)")
        return cast("NDArray[np.int64] | None", self.weights)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    @cached_property
    def state_labels(self) -> tuple[tuple[str, ...], ...]:
        """The states as text; as Python writes them in columns with states such as 1 and '1' that text cannot tell."""
        labels = ((states, tuple(map(str, states))) for states in self.states)
        return tuple(plain if len(set(plain)) == len(plain) else tuple(map(repr, states)) for states, plain in labels)

    @cached_property
    def sha256(self) -> str:
        """A digest of names, states, codes, weights and measurements, the same on every machine."""
        typed = [[(type(state).__name__, str(state)) for state in states] for states in self.states]
        head = json.dumps([self.names, typed, self.codes.shape, self.weights is not None])
        digest = hashlib.sha256(head.encode())
        digest.update(self.codes.astype("<u2", copy=False).data)
        if self.weights is not None:
            digest.update(self.weights.astype("<i8" if self.weights.dtype == np.int64 else "<f8", copy=False).data)
        for name in self.names:
            if name in self.measurements:
                digest.update(np.ascontiguousarray(self.measurements[name], dtype="<f8").data)
        return digest.hexdigest()

    def rows(self, chosen: NDArray[Any]) -> Dataset:
        """Some of the rows; the states stay declared.

        Parameters
        ----------
        chosen : array of int or bool
            The numbers of the rows, or for each row whether it is chosen.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> import numpy as np
        >>> data = Dataset.from_columns({"rain": ["no", "yes", "no"]})
        >>> data.rows(np.array([0, 2])).codes.tolist(), data.rows(np.array([0, 2])).states
        ([[0, 0]], (('no', 'yes'),))
        """
        weights = None if self.weights is None else self.weights[chosen]
        measurements = {name: numbers[chosen] for name, numbers in self.measurements.items()}
        return Dataset(self.names, self.states, np.ascontiguousarray(self.codes[:, chosen]), weights, measurements)

    def columns(self, names: Sequence[str]) -> Dataset:
        """Some of the columns.

        Parameters
        ----------
        names : sequence of str
            In the order that the result has.

        Returns
        -------
        Dataset

        Raises
        ------
        ParameterError
            If a name is not a column.

        Examples
        --------
        >>> Dataset.from_columns({"rain": ["no", "yes"], "wet": [0, 1]}).columns(["wet"]).names
        ('wet',)
        """
        for name in names:
            self.column(name)
        positions = [self.index[name] for name in names]
        states = tuple(self.states[position] for position in positions)
        measurements = {name: self.measurements[name] for name in names if name in self.measurements}
        return Dataset(tuple(names), states, np.ascontiguousarray(self.codes[positions]), self.weights, measurements)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame: the states, or the numbers where they were kept.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> Dataset.from_columns({"rain": ["no", "yes"], "wet": [0, 1]}).to_pandas()
          rain  wet
        0   no    0
        1  yes    1
        """
        import pandas

        columns = {}
        for name, states, codes in zip(self.names, self.states, self.codes, strict=True):
            values = pandas.Index(states, tupleize_cols=False).take(codes)
            if name in self.measurements:
                numbers = self.measurements[name]
                is_number = ~np.isnan(numbers)
                values = numbers if is_number.all() else np.where(is_number, numbers, values.to_numpy(dtype=object))
            columns[name] = values
        return pandas.DataFrame(columns)

    def measured(self, names: Iterable[str] | None = None) -> Dataset:
        """The same table with columns kept as numbers whose states are numbers, or texts that spell them.

        Parameters
        ----------
        names : sequence of str, optional
            All columns by default.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If a state is not a number.

        Examples
        --------
        >>> Dataset.from_columns({"x": [1.5, 2.0], "y": ["a", "b"]}).measured(["x"]).measurements
        {'x': array([1.5, 2. ])}
        """
        states, codes, numbers = list(self.states), self.codes.copy(), dict(self.measurements)
        for name in self.names if names is None else names:
            own = self.column(name)
            if name not in numbers:
                values = np.array([_number(name, state) for state in self.states[self.index[name]]])
                numbers[name] = values[own]
                states[self.index[name]], codes[self.index[name]] = (MEASURED,), 0
        return Dataset(self.names, tuple(states), codes, self.weights, numbers)

    def require_categories(self) -> None:
        """Refuse measurements, which cannot be counted.

        Raises
        ------
        DataError
            If a column keeps its numbers; it must be discretised first.

        Examples
        --------
        >>> Dataset.from_columns({"x": [0, 1]}).require_categories()
        """
        if self.measurements:
            raise DataError(
                f"{listing(map(repr, self.measurements))} must be discretised first: "
                "exactbnc.learning.discretize.tables.discretized(dataset, cut_points), with those of find_cut_points"
            )

    def value(self, name: str, row: int) -> Hashable:
        """The value of a column in a row: a state, or a measurement.

        Parameters
        ----------
        name : str
            The column.
        row : int
            The number of the row, from 0.

        Returns
        -------
        hashable

        Raises
        ------
        ParameterError
            If the name is not a column.

        Examples
        --------
        >>> Dataset.from_columns({"rain": ["no", "yes"]}).value("rain", 1)
        'yes'
        """
        state = self.states[self.index[name]][self.column(name)[row]]
        number = float(self.measurements[name][row]) if name in self.measurements else math.nan
        return state if math.isnan(number) else number

    def column(self, name: str) -> NDArray[np.uint16]:
        """The codes of a variable, by row.

        Parameters
        ----------
        name : str

        Returns
        -------
        array of uint16

        Raises
        ------
        ParameterError
            If the name is not a column; the message lists the columns.

        Examples
        --------
        >>> Dataset.from_columns({"rain": ["no", "yes", "no"]}).column("rain").tolist()
        [0, 1, 0]
        """
        if name not in self.index:
            raise ParameterError(f"{name!r} is not a column; columns are {listing(map(repr, self.names))}")
        codes: NDArray[np.uint16] = self.codes[self.index[name]]
        return codes


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise DataError("a data set needs at least one column")
    if not all(isinstance(name, str) and name for name in names):
        raise DataError(f"column names must be texts that are not empty. Got {listing(map(repr, names))} instead.")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"column names must be different from each other; found twice: {listing(map(repr, twice))}")


def _check_codes(dataset: Dataset) -> None:
    names, states, codes = dataset.names, dataset.states, dataset.codes
    if codes.dtype != np.uint16 or codes.ndim != 2 or not codes.flags.c_contiguous:
        raise DataError(
            "codes must be a C-contiguous uint16 array, variables x rows (from_codes makes one). "
            f"Got {codes.dtype} {codes.shape} instead."
        )
    if not len(names) == len(states) == len(codes):
        raise DataError(f"{len(names)} names, {len(states)} lists of states, {len(codes)} rows of codes do not match")
    if codes.shape[1] == 0:
        raise DataError("a data set needs at least one row (of weight above 0)")
    for name, known, largest in zip(names, states, codes.max(axis=1), strict=True):
        check_states(name, known)
        if largest >= len(known):
            raise DataError(f"column {name!r} has the code {largest} but only {len(known)} states")


def _check_weights(dataset: Dataset) -> None:
    weights = dataset.weights
    if weights is None:
        return
    if weights.dtype not in (np.int64, np.float64) or weights.shape != (dataset.n_rows,):
        raise DataError(
            f"weights must be {dataset.n_rows} int64 or float64 numbers. Got {weights.dtype} {weights.shape} instead."
        )
    if not weights.min() >= 0:
        raise DataError(not_a_weight(weights.min().item()))
    total = weights.sum(dtype=np.float64)
    if not 1 <= total <= MOST_WEIGHT:
        raise DataError(f"the row weights must add up to a number from 1 to 2**53 - 1. Got {total:.0f} instead.")


def _check_measurements(dataset: Dataset) -> None:
    for name, numbers in dataset.measurements.items():
        if name not in dataset.index or numbers.dtype != np.float64 or numbers.shape != (dataset.n_rows,):
            raise DataError(
                f"measurements must be {dataset.n_rows} float64 numbers of a column. "
                f"Got {numbers.dtype} {numbers.shape} of {name!r} instead."
            )


def _raw_column(name: str, values: Any, declared: tuple[Hashable, ...] | None) -> RawColumn:
    """Number the distinct values of a column: as its categories are, by sorting an array, or one by one."""
    categorical = getattr(values, "cat", values)
    if hasattr(categorical, "categories") and hasattr(categorical, "codes"):
        raw = _categorical_column(name, categorical)
    elif getattr(values, "ndim", 0) == 1 and (found := distinct_objects(values)) is not None:
        distinct, codes = found
        raw = RawColumn(name, distinct, codes.astype(np.uint16), is_overfull=len(distinct) > MOST_STATES)
    else:
        values = values.to_numpy() if hasattr(values, "to_numpy") else values
        is_sortable = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in _SORTABLE_KINDS
        raw = _sorted_column(name, values) if is_sortable else _listed_column(name, values)
    return raw if declared is None else _as_declared(raw, declared)


def _measured_column(name: str, values: Any, encoding: Encoding) -> RawColumn | None:
    """A column of numbers that has more of them than states are allowed; None for any other."""
    if not hasattr(values, "dtype") or not holds_numbers(values):
        return None
    numbers = as_floats(values, name)
    is_missing_number = np.isnan(numbers)
    if len(np.unique(numbers[~is_missing_number])) <= min(encoding.limit(is_numeric=True), MOST_STATES - 1):
        return None
    others: list[Hashable] = [None] if is_missing_number.any() else []
    return RawColumn(name, [MEASURED, *others], is_missing_number.astype(np.uint16), numbers=numbers)


def _number(name: str, state: Hashable) -> float:
    try:
        return float(cast("Any", state))
    except (TypeError, ValueError) as error:
        raise DataError(f"column {name!r} cannot be kept as numbers: {state!r} is not one") from error


def _categorical_column(name: str, categorical: Any) -> RawColumn:
    values = list(categorical.categories)
    codes = np.asarray(categorical.codes)
    if codes.size and codes.min() < 0:  # pandas writes -1 for a missing value
        codes = np.where(codes < 0, len(values), codes)
        values.append(None)
    return RawColumn(name, values, codes.astype(np.uint16), is_declared=True, is_overfull=len(values) > MOST_STATES)


def _sorted_column(name: str, array: NDArray[Any]) -> RawColumn:
    distinct = np.unique(array)  # NaN and NaT once, at the end
    codes = np.searchsorted(distinct, array).astype(np.uint16)
    kept = distinct[:MOST_STATES]
    values = [None if is_missing(value) else value for value in (kept if kept.dtype.kind in "mM" else kept.tolist())]
    return RawColumn(name, values, codes, is_overfull=len(distinct) > MOST_STATES)


def _listed_column(name: str, values: Any) -> RawColumn:
    if isinstance(values, str):
        raise DataError(f"column {name!r} must be a sequence of values. Got {values!r} instead.")
    encoder = Encoder(_python_value)
    try:
        codes = encoder.encode(values.tolist() if isinstance(values, np.ndarray) else list(values))
    except TypeError as error:
        raise DataError(f"column {name!r} must be a sequence of hashable values: {error}") from error
    return encoder.column(name, codes)


def _python_value(value: Any) -> Hashable:
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.bool_ | np.number | np.str_) else value


def _as_declared(raw: RawColumn, declared: tuple[Hashable, ...]) -> RawColumn:
    """Number the values of a column by its declared states instead."""
    codes_of = {state: code for code, state in enumerate((*declared, None))}
    is_strange = np.array([value not in codes_of for value in raw.values])[raw.codes]
    if is_strange.any():
        row = int(np.argmax(is_strange))
        raise DataError(f"row {row}: {undeclared(raw.name, raw.values[raw.codes[row]], declared)}")
    lookup = np.array([codes_of.get(value, 0) for value in raw.values])
    values = list(declared if raw.missing_code is None else (*declared, None))
    codes = lookup[raw.codes].astype(np.uint16)
    is_overfull = raw.is_overfull or len(values) > MOST_STATES
    return RawColumn(raw.name, values, codes, is_declared=True, is_overfull=is_overfull)


def _common_length(columns: Sequence[RawColumn]) -> int:
    lengths = {column.name: len(column.codes) for column in columns}
    if len(set(lengths.values())) > 1:
        counts = listing(f"{length} in {name!r}" for name, length in lengths.items())
        raise DataError(f"the columns must have the same number of rows. Got {counts} instead.")
    return next(iter(lengths.values()), 0)
