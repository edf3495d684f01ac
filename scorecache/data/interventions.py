"""Which values were set by an experiment and not observed: such rows do not count for the families of their variable.

A variable that was set in a row says nothing there about what its parents do, so its families are scored on the other
rows alone (all of N, counts, means and penalties); as a parent it counts in every row. Reference: Cooper, Yoo (1999).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.data.dataset import Dataset
from scorecache.data.frames import columns_of, is_frame, names_of
from scorecache.errors import DataError, ParameterError
from scorecache.wording import listing

Mask = NDArray[np.bool_]
_TRUTH = {"0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}


@dataclass(frozen=True, eq=False)
class Interventions:
    """Per variable and row of a table: was the value set?"""

    names: tuple[str, ...]
    was_set: Mask

    @classmethod
    def of(cls, dataset: Dataset, given: Any) -> Interventions:
        """Truth values by column.

        Parameters
        ----------
        dataset : Dataset
        given : mapping of names to columns, DataFrame, Dataset or Interventions
            One truth value (or 0 and 1) per row of the data; columns that are not there were never set.

        Returns
        -------
        Interventions

        Raises
        ------
        ParameterError
            If a name is not a column of the data.
        DataError
            If there are more or fewer rows, something else than truth values, or a variable that was set in all rows.

        Examples
        --------
        >>> data = Dataset.from_columns({"drug": [0, 1, 1], "well": [0, 1, 0]})
        >>> Interventions.of(data, {"drug": [True, True, False]}).n_rows
        {'drug': 2}
        """
        if isinstance(given, Interventions):
            given = dict(zip(given.names, given.was_set, strict=True))
        if isinstance(given, Dataset):
            listed = {
                name: np.array(states, dtype=object)[codes]
                for name, states, codes in zip(given.names, given.states, given.codes, strict=True)
            }
        elif is_frame(given):
            listed = dict(zip(map(str, names_of(given)), columns_of(given), strict=True))
        elif isinstance(given, Mapping):
            listed = {str(name): column for name, column in given.items()}
        else:
            raise ParameterError(
                f"interventions must be columns of truth values by name. Got {type(given).__name__} instead."
            )
        was_set = np.zeros((dataset.n_vars, dataset.n_rows), dtype=np.bool_)
        for name, column in listed.items():
            if name not in dataset.index:
                raise ParameterError(
                    f"interventions on {name!r}, but the columns are {listing(map(repr, dataset.names))}"
                )
            was_set[dataset.index[name]] = _truth_values(name, column, dataset.n_rows)
        counts = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
        for name, own in zip(dataset.names, was_set, strict=True):
            if not counts[~own].sum() > 0:
                raise DataError(
                    f"{name!r} was set in all rows, so that nothing says what its parents do: leave its interventions "
                    "out and forbid the arcs into it"
                )
        return cls(dataset.names, was_set)

    @property
    def n_rows(self) -> dict[str, int]:
        """In how many rows each variable was set that ever was."""
        sums = self.was_set.sum(axis=1).tolist()
        return {name: count for name, count in zip(self.names, sums, strict=True) if count}

    @cached_property
    def sha256(self) -> str:
        """A digest, the same on every machine."""
        return hashlib.sha256(repr(self.was_set.shape).encode() + np.packbits(self.was_set).tobytes()).hexdigest()

    def tables(self, dataset: Dataset) -> tuple[tuple[Dataset, ...], list[int]]:
        """The rows that count, for each distinct choice of rows; and which of these tables is that of each variable."""
        different, table_of = np.unique(self.was_set, axis=0, return_inverse=True)
        tables = tuple(dataset.rows(~own) if own.any() else dataset for own in different)
        return tables, np.ravel(table_of).tolist()


def _truth_values(name: str, column: Any, n_rows: int) -> Mask:
    values = np.asarray(column, dtype=object).ravel().tolist()
    if len(values) != n_rows:
        raise DataError(f"{n_rows} rows need as many interventions on {name!r}. Got {len(values)} instead.")
    try:
        return np.array([_TRUTH[str(int(v) if isinstance(v, float | np.floating) else v).lower()] for v in values])
    except (KeyError, ValueError) as error:
        raise DataError(f"interventions on {name!r} must be true or false, or 0 or 1. Got {error} instead.") from None
