"""Mutual information tests: information in nats less the quantiles that independence would reach.

    MIT(x | W) = 2 N I(x; W) - sum_i chi2_quantile(confidence, l_i),    l_i = (r - 1) (r_i - 1) prod_{h < i} r_h

with the parents ordered by falling arity (which makes the penalty largest); the empty set scores 0. Reference: de
Campos (2006); Carvalho (2009), section 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from scorecache.errors import ParameterError
from scorecache.scores._base import CellScore, Floats, Shape, n_log_n


@dataclass(frozen=True)
class MIT(CellScore):
    """Mutual information tests at a confidence level."""

    confidence: float = 0.99

    name: ClassVar[str] = "mit"
    has_penalty: ClassVar[bool] = True
    has_constant: ClassVar[bool] = True
    title: ClassVar[str] = "mutual information tests"
    reference: ClassVar[str] = "de Campos 2006; Carvalho 2009"
    likelihood_weight: ClassVar[float | None] = 2.0

    def __post_init__(self) -> None:
        if not (isinstance(self.confidence, (int, float)) and 0 < self.confidence < 1):
            raise ParameterError(
                f"The 'confidence' parameter of mit must be a number in (0, 1). Got {self.confidence!r} instead."
            )

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return 2.0 * n_log_n(n_max)

    def penalty(self, r: int, shapes: Sequence[Shape], n: int) -> Floats:
        degrees = [_degrees_of_freedom(r, shape) for shape in shapes]
        needed = np.unique([dof for listed in degrees for dof in listed])
        from scipy.special import gammaincinv  # scipy takes 0.2 s to import, and few scores need it

        quantiles = 2.0 * gammaincinv(needed / 2.0, self.confidence)  # of chi-square; 0 degrees of freedom give 0
        quantile = dict(zip(needed.tolist(), quantiles.tolist(), strict=True))
        return np.array([sum(quantile[dof] for dof in listed if dof > 0) for listed in degrees], dtype=np.float64)

    def child_constant(self, counts: NDArray[np.int64]) -> float:
        """-2 N H(x), so that the empty set scores 0."""
        n = counts[counts > 0].astype(np.float64)
        return float(2.0 * np.sum(n * np.log(n / n.sum())))


def _degrees_of_freedom(r: int, shape: Shape) -> list[float]:
    degrees, q = [], 1.0
    for arity in sorted(shape, reverse=True):
        degrees.append((r - 1) * (arity - 1) * q)
        q *= arity
    return degrees
