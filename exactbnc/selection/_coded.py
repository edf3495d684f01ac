"""Features and class as codes, values that are missing set apart: what the selector counts in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.bayesnet import UNKNOWN
from scorecache._encode import is_missing
from scorecache.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """`features[i]` has the codes of feature i, UNKNOWN where its value is missing; `arities[i]` counts its states."""

    features: NDArray[np.uint16]
    arities: tuple[int, ...]
    classes: Ints
    n_classes: int

    @classmethod
    def of(cls, table: Any, names: list[str], y: NDArray[Any]) -> Coded:
        """Encode a DataFrame or an array of categories, and the classes."""
        is_frame = hasattr(table, "iloc")
        columns = [table.iloc[:, i] if is_frame else table[:, i] for i in range(len(names))]
        encoded = [_encode(values, name) for values, name in zip(columns, names, strict=True)]
        labels, classes = np.unique(y, return_inverse=True)
        features = np.array([codes for codes, _ in encoded])
        return cls(features, tuple(arity for _, arity in encoded), classes.astype(np.int64), len(labels))

    def rows(self, chosen: Ints) -> Coded:
        """Some of the rows; features and class keep all their states."""
        return Coded(self.features[:, chosen], self.arities, self.classes[chosen], self.n_classes)

    def keep(self, support: NDArray[np.bool_]) -> Coded:
        """Some of the features."""
        arities = tuple(arity for arity, stays in zip(self.arities, support, strict=True) if stays)
        return Coded(self.features[support], arities, self.classes, self.n_classes)

    @property
    def class_counts(self) -> Floats:
        """N_c"""
        return np.bincount(self.classes, minlength=self.n_classes).astype(np.float64)

    def tables(self) -> list[Floats]:
        """N_ck of every feature, counted over the rows in which it is known."""
        return [self._table(codes, arity) for codes, arity in zip(self.features, self.arities, strict=True)]

    def _table(self, codes: NDArray[np.uint16], arity: int) -> Floats:
        is_known = codes != UNKNOWN
        cells = self.classes[is_known] * arity + codes[is_known]
        counts = np.bincount(cells, minlength=self.n_classes * arity).astype(np.float64)
        return counts.reshape(self.n_classes, arity)


def _encode(values: Any, name: str) -> tuple[NDArray[np.uint16], int]:
    """The codes of a column and the number of its states; of a column that is never known, one that never occurs."""
    is_known = ~_missing_mask(values)
    codes = np.full(len(values), UNKNOWN, dtype=np.uint16)
    if not is_known.any():
        return codes, 1
    dataset = Dataset.from_columns([values[is_known]], names=[name])
    codes[is_known] = dataset.codes[0]
    return codes, int(dataset.arities[0])


def _missing_mask(values: Any) -> NDArray[np.bool_]:
    if isinstance(values, np.ndarray):
        return np.array([is_missing(value) for value in values.tolist()], dtype=np.bool_)
    mask: NDArray[np.bool_] = values.isna().to_numpy()
    return mask
