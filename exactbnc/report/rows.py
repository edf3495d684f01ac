"""The rows by which a network is judged, read as those it was learned from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from exactbnc.learning.preparation import EM, AnyColumn, check_measurements, rows_with_class, with_gaps
from exactbnc.report.assessment import columns_of
from exactbnc.report.subject import Subject
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MAX_STATES
from scorecache.data.frames import columns_of as columns_of_frame
from scorecache.data.frames import is_frame, names_of
from scorecache.data.reading import read_table
from scorecache.errors import DataError, ParameterError

TEXT = ("separator", "encoding", "decimal", "na")


def rows_for(subject: Subject, data: Any, given: Mapping[str, Any] | None = None) -> Dataset:
    """The network's columns of a data set, a frame or a file; rows without a class are left out.

    Parameters
    ----------
    subject : Subject
        Its provenance says how its own table was read.
    data : DataFrame, Dataset or path
    given : mapping, optional
        What is read in another way: separator, encoding, decimal, na, weights, missing, max_states.

    Returns
    -------
    Dataset
    """
    steps = subject.provenance.get("steps")
    known: dict[str, Any] = dict(steps) if isinstance(steps, dict) else {}
    known |= {name: value for name, value in (given or {}).items() if value is not None}
    has_cuts = known.get("discretize") is not None or bool(subject.net is not None and subject.net.cut_points)
    numbers = () if subject.net is None else subject.net.numbers
    options = {
        "missing": "category" if known.get("missing") == EM else known.get("missing") or "error",
        "max_states": known.get("max_states") or (MAX_STATES if has_cuts else None),
        "measured": AnyColumn() if has_cuts else numbers,
    }
    dataset = _encoded(data, columns_of(subject), known, options)
    if subject.class_name in dataset.index:
        dataset, _ = rows_with_class(dataset, subject.class_name)
    check_measurements(dataset)
    return with_gaps(dataset, [name for name in numbers if name in dataset.index])


def _encoded(data: Any, wanted: list[str], known: Mapping[str, Any], options: Mapping[str, Any]) -> Dataset:
    if isinstance(data, Dataset):
        return data.columns([name for name in wanted if name in data.index])
    weights = known.get("weights")
    if isinstance(data, str | os.PathLike):
        text = {name: known[name] for name in TEXT if known.get(name) is not None}
        return read_table(os.fspath(data), **text, **options, weights=weights, only=wanted)
    if not is_frame(data):
        raise ParameterError(
            "data must be a DataFrame of pandas or polars, an Arrow table, a Dataset or the path of a file. "
            f"Got {type(data).__name__} instead."
        )
    columns = dict(zip(map(str, names_of(data)), columns_of_frame(data), strict=True))
    if weights is not None and weights not in columns:
        raise DataError(f"expected the column {weights!r}, the weights of the rows; the data lack it")
    own = {name: columns[name] for name in wanted if name in columns}
    return Dataset.from_columns(own, **options, weights=None if weights is None else columns[weights])
