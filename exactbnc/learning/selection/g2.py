"""The G^2 test of conditional independence, X and Y given Z.

    G^2 = 2 sum_xyz N_xyz log( N_xyz N_z / (N_xz N_yz) ),   p = P(chi^2_df >= G^2)
    df  = sum_z (r_xz - 1)(r_yz - 1)

where r_xz counts the states of X that occur together with z (the term of a z that never occurs is 0). Zero margins thus
cost their degrees of freedom; where no margin is zero, df = (r_x - 1)(r_y - 1) prod r_z. With df = 0 the data contain
no information and p = 1.

A test is made only if there are, on average, at least five rows to a cell: N >= 5 r_x r_y prod r_z, over the states
that occur. Otherwise there is no result, neither of independence nor of dependence.
Reference: P. Spirtes, C. Glymour, R. Scheines, "Causation, Prediction, and Search", 2nd ed., 2000; the rule of five as
in I. Tsamardinos, L. E. Brown, C. F. Aliferis, "The max-min hill-climbing Bayesian network structure learning
algorithm", Machine Learning 65, 2006.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.learning.selection import _kernels
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

ROWS_PER_CELL = 5.0


@dataclass(frozen=True)
class G2:
    """The outcome of a test."""

    statistic: float
    degrees: int
    p_value: float

    @property
    def association(self) -> tuple[float, float]:
        """Larger for a stronger dependence: by small p, and where p underflows to 0, by large G^2."""
        return -self.p_value, self.statistic


class G2Tests:
    """The tests on one data set, each made once; variables are numbers, in the order of the columns."""

    def __init__(self, dataset: Dataset, *, rows_per_cell: float = ROWS_PER_CELL) -> None:
        self._codes, self._arities = _without_empty_states(dataset)
        self._weights = np.ones(dataset.n_rows, dtype=np.int64)
        if dataset.weights is not None:
            self._weights[:] = dataset.weights
        self._most_cells = dataset.total_weight / rows_per_cell if rows_per_cell > 0 else math.inf
        self._known: dict[tuple[int, int, tuple[int, ...]], G2 | None] = {}

    @property
    def n_vars(self) -> int:
        return len(self._codes)

    @property
    def n_made(self) -> int:
        """How many different tests have been made."""
        return sum(found is not None for found in self._known.values())

    def test(self, x: int, y: int, given: Collection[int] = ()) -> G2 | None:
        """X and Y given Z, the same in every order; None if there are too few rows for the cells."""
        key = (min(x, y), max(x, y), tuple(sorted(given)))
        if x == y or x in key[2] or y in key[2]:
            raise ParameterError(f"a test needs different variables. Got {x}, {y} given {key[2]} instead.")
        if key not in self._known:
            self._known[key] = self._made(*key)
        return self._known[key]

    def _made(self, x: int, y: int, given: tuple[int, ...]) -> G2 | None:
        if math.prod(self._arities[[x, y, *given]].tolist()) > self._most_cells:
            return None
        from scipy.special import chdtrc  # takes 0.2 s to import

        members = np.array(given, dtype=np.int64)
        total, degrees = _kernels.g2(self._codes, self._arities, self._weights, x, y, members)
        statistic = max(0.0, total)  # rounding may leave it just below
        return G2(statistic, degrees, float(chdtrc(degrees, statistic)) if degrees else 1.0)


def _without_empty_states(dataset: Dataset) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The codes and arities that are left when states that never occur are not counted."""
    counted = dataset.codes if dataset.weights is None else dataset.codes[:, dataset.weights > 0]
    codes = np.empty_like(dataset.codes)
    arities = np.empty(dataset.n_vars, dtype=np.int64)
    for v, column in enumerate(counted):
        occurring = np.unique(column)
        codes[v] = np.minimum(np.searchsorted(occurring, dataset.codes[v]), len(occurring) - 1)
        arities[v] = len(occurring)
    return codes, arities
