"""Features and class as codes, the tables N_ck of the Bayes factors, and the naive Bayes that judges a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN
from exactbnc.network.parameters.closed_form import EAP
from exactbnc.network.parameters.counts import FamilyCounts
from scorecache.data.dataset import Dataset
from scorecache.data.frames import columns_of, missing_mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """Features and class as codes, with row weights.

    `features[i]` has the codes of feature i, UNKNOWN where its value is missing; `arities[i]` counts its states.
    """

    features: NDArray[np.uint16]
    arities: tuple[int, ...]
    classes: Ints
    n_classes: int
    weights: Ints | None = None

    @classmethod
    def of(cls, table: Any, names: list[str], y: NDArray[Any], weights: Ints | None = None) -> Coded:
        """Encode a DataFrame or an array of categories, and the classes; rows of weight 0 declare no states."""
        counts = np.ones(len(y), dtype=np.bool_) if weights is None else weights > 0
        encoded = [_encode(values, counts, name) for values, name in zip(columns_of(table), names, strict=True)]
        labels = np.unique(y[counts])
        classes = np.searchsorted(labels, y).clip(max=len(labels) - 1)
        features = np.array([codes for codes, _ in encoded])
        return cls(features, tuple(arity for _, arity in encoded), classes, len(labels), weights)

    def rows(self, chosen: Ints) -> Coded:
        """Some of the rows; features and class keep all their states."""
        weights = None if self.weights is None else self.weights[chosen]
        return Coded(self.features[:, chosen], self.arities, self.classes[chosen], self.n_classes, weights)

    def keep(self, support: NDArray[np.bool_]) -> Coded:
        """Some of the features."""
        arities = tuple(arity for arity, stays in zip(self.arities, support, strict=True) if stays)
        return Coded(self.features[support], arities, self.classes, self.n_classes, self.weights)

    @property
    def class_counts(self) -> Floats:
        """N_c"""
        return np.bincount(self.classes, self.weights, minlength=self.n_classes).astype(np.float64)

    def tables(self) -> list[Floats]:
        """N_ck of every feature, counted over the rows in which it is known."""
        return [self._table(codes, arity) for codes, arity in zip(self.features, self.arities, strict=True)]

    def _table(self, codes: NDArray[np.uint16], arity: int) -> Floats:
        is_known = codes != UNKNOWN
        cells = self.classes[is_known] * arity + codes[is_known]
        weights = None if self.weights is None else self.weights[is_known]
        counts = np.bincount(cells, weights, minlength=self.n_classes * arity).astype(np.float64)
        return counts.reshape(self.n_classes, arity)


def _encode(values: Any, counts: NDArray[np.bool_], name: str) -> tuple[NDArray[np.uint16], int]:
    """The codes of a column and the number of its states, 1 for a column without any value."""
    is_known = counts & ~missing_mask(values)
    codes = np.full(len(values), UNKNOWN, dtype=np.uint16)
    if not is_known.any():
        return codes, 1
    dataset = Dataset.from_columns([values[is_known]], names=[name])
    codes[is_known] = dataset.codes[0]
    return codes, int(dataset.arities[0])


def predict_naive_bayes(train: Coded, test: Coded) -> Ints:
    """The class codes of the test rows, by a naive Bayes with EAP parameters learned from the training rows.

        c(x) = argmax_c  log theta_c + sum over the known x_i of log theta_cx_i

    Of equally probable classes the first is taken.
    """
    log_p = np.repeat(_log_eap(train.class_counts)[None, :], len(test.classes), axis=0)
    for codes, arity, counts in zip(test.features, test.arities, train.tables(), strict=True):
        of_states = _log_eap(counts).T
        of_unknown = np.zeros((1, train.n_classes))  # summed out: independent of the class
        log_p += np.vstack([of_states, of_unknown])[np.minimum(codes, arity)]
    best: Ints = np.argmax(log_p, axis=1)
    return best


def _log_eap(counts: Floats) -> Floats:
    return np.log(EAP().table(FamilyCounts(counts, class_axis=0)))
