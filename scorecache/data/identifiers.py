"""Columns that look like identifiers: nearly every row has a value of its own, so that nothing can be learned."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from scorecache.data.columns import number_of
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError
from scorecache.wording import listing

FEW_VALUES = 50
"""Up to this many values a column is never taken for an identifier."""
MOST_DIFFERENT = 0.9
"""The share of different values among the rows above which it is."""


def identifier_columns(dataset: Dataset) -> list[str]:
    """The columns of texts or whole numbers with more than 50 values that differ in more than 90 % of the rows.

    Columns of measurements and of numbers with fractions are not meant: they are to be discretised.

    Examples
    --------
    >>> ids = [f"p{row}" for row in range(100)]
    >>> identifier_columns(Dataset.from_columns({"id": ids, "y": [0, 1] * 50}))
    ['id']
    """
    least = max(FEW_VALUES, MOST_DIFFERENT * dataset.total_weight)
    return [
        name
        for name, states, codes in zip(dataset.names, dataset.states, dataset.codes, strict=True)
        if len(states) > least
        and name not in dataset.measurements
        and np.count_nonzero(np.bincount(codes, minlength=len(states))) > least
        and not _has_fractions(states)
    ]


def check_identifiers(dataset: Dataset, *, allow: bool = False, declared: Container[str] = ()) -> None:
    """Refuse columns that look like identifiers, unless they are allowed or their states are declared.

    Raises
    ------
    DataError
        There is such a column; the message says how to leave it out and how to keep it.
    """
    found = [] if allow else [name for name in identifier_columns(dataset) if name not in declared]
    if found:
        n_values = {name: len(dataset.states[dataset.index[name]]) for name in found}
        raise DataError(
            f"values that are almost all different look like identifiers: "
            f"{listing(f'{name!r} ({count:,} values)' for name, count in n_values.items())} in "
            f"{dataset.total_weight:,} rows; leave such a column out (ignore=[...]), discretise it if it is a "
            "quantity, or keep it (allow_identifiers=True)"
        )


def _has_fractions(states: tuple[object, ...]) -> bool:
    """Are the values numbers, and some of them not whole?"""
    numbers = [number_of(state) if isinstance(state, str) else state for state in states]
    known = [number for number in numbers if isinstance(number, int | float)]
    return len(known) >= len(states) - 1 and any(not float(number).is_integer() for number in known)
