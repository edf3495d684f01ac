"""What looks odd in the columns of training data, in words: none of it is an error, all of it can be a mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scorecache.data.dataset import Dataset

MANY_VALUES = 20
"""A column with more distinct numbers than this is probably not meant as categories."""
FEW_TEXTS = 0.1
"""The share of texts among numbers up to which they look like faults."""
HARDLY_REPEATED = 0.5
"""Distinct values per row from which a column looks like an identifier."""
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+", re.ASCII)


def notes_on_columns(dataset: Dataset, class_name: str | None, *, is_discretized: bool) -> Iterator[str]:
    """The notes; columns of numbers need none if they are discretised."""
    from exactbnc.learning.discretize.tables import numeric_columns
    from scorecache.wording import listing

    numeric = numeric_columns(dataset, class_name)
    sizes = {name: len(states) for name, states in zip(dataset.names, dataset.states, strict=True)}
    many = [f"{name} ({sizes[name]})" for name in numeric if sizes[name] > MANY_VALUES]
    if many and not is_discretized:
        yield (
            f"columns of numbers with every value treated as a category: {listing(many)}; "
            "--discretize auto turns them into intervals"
        )
    others = [name for name in dataset.names if name not in {*numeric, *dataset.measurements, class_name}]
    mixed = {name: _texts_among_numbers(dataset, name) for name in others}
    for name, texts in mixed.items():
        if texts:
            yield (
                f"{name} holds {sizes[name] - len(texts)} different numbers and {listing(map(repr, texts))}: every "
                "value is treated as a category; correct that, or write a missing value as ? or NA"
            )
    commas = [name for name in others if _has_decimal_commas(dataset, name)]
    if commas:
        yield f"columns of numbers with a decimal comma, read as text: {listing(commas)}; --decimal , reads the numbers"
    unique = [
        f"{name} ({sizes[name]} values in {dataset.n_rows:,} rows)"
        for name in others
        if not mixed[name] and name not in commas and sizes[name] > max(MANY_VALUES, HARDLY_REPEATED * dataset.n_rows)
    ]
    if unique:
        yield f"columns of text whose values hardly repeat: {listing(unique)}; --ignore leaves a column out"


def _has_decimal_commas(dataset: Dataset, name: str) -> bool:
    """Are half of the values or more such as 3,5?"""
    states = dataset.states[dataset.index[name]]
    return sum(_COMMA_NUMBER.fullmatch(str(state)) is not None for state in states) >= max(1, len(states) / 2)


def _texts_among_numbers(dataset: Dataset, name: str) -> list[str]:
    """The few texts of a column of many numbers."""
    import numpy as np

    from exactbnc.network.numbers import numbers_of
    from scorecache.data.encoding import MISSING_STATE

    states = dataset.states[dataset.index[name]]
    is_number = np.isfinite(numbers_of(states))
    texts = [
        str(state) for state, is_own in zip(states, is_number, strict=True) if not is_own and state != MISSING_STATE
    ]
    is_mixed = is_number.sum() > MANY_VALUES and len(texts) <= FEW_TEXTS * len(states)
    return texts if is_mixed else []
