"""Which columns and weights a score takes, and whether potentials score them instead of counts of whole rows."""

from __future__ import annotations

import numpy as np

from scorecache.data.dataset import Dataset
from scorecache.errors import DataError
from scorecache.scores import CellScore, Score
from scorecache.scores.gaussian import BGe, NumberScore


def uses_potentials(score: Score, dataset: Dataset) -> bool:
    """Is the score a sum of potentials that counting whole rows does not give?"""
    has_fractions = dataset.weights is not None and dataset.weights.dtype != np.int64
    return isinstance(score, NumberScore) or (isinstance(score, CellScore) and has_fractions)


def require_counts(dataset: Dataset, score: Score) -> None:
    """Refuse weights that are not whole for a score that is defined for counts of rows."""
    if dataset.weights is not None and dataset.weights.dtype != np.int64:
        raise DataError(
            f"the score {score.name!r} is defined for counts of rows, but the row weights are not whole numbers; "
            "round them, or take 'bdeu', 'bic', 'aic', 'll', 'k2' or 'bd'"
        )


def check_columns(dataset: Dataset, score: Score) -> None:
    """Refuse columns that the score has no use for."""
    if not isinstance(score, NumberScore):
        return
    if isinstance(score, BGe):
        score.check_matrix(len(dataset.measurements))
    states = [name for name in dataset.names if name not in dataset.measurements]
    if states and not score.takes_states:
        partner = f"{score.name.removesuffix('-g')}-cg"
        raise DataError(
            f"the score {score.name!r} is one of numbers, but {states[0]!r} is a column of states: keep it as numbers "
            f"(data.measured([{states[0]!r}])), or take {partner!r}"
        )
    for name, numbers in dataset.measurements.items():
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            raise DataError(f"row {row}: {name!r} must be a finite number for the score {score.name!r}")
        counted = numbers if dataset.weights is None else numbers[dataset.weights > 0]
        if not isinstance(score, BGe) and counted.min() == counted.max():
            raise DataError(
                f"{name!r} has the same number in all rows, for which a Gaussian likelihood has no maximum: "
                "leave it out (ignore=[...]), or take the score 'bge' or 'bge-cg'"
            )
