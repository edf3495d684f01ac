"""Predictive distributions of numbers: Student's, where the regressions of a network are a posterior.

    X given w, under one configuration:   Student with D degrees of freedom, location a + b . w,
                                          squared scale s2 [ c + |L (w - mu)|^2 ]

a, b and s2 are the network's own regression; D, c, mu and the k x k matrix L, in this order and by rows, are the
numbers on the last axis of a table of `ClassFit.student`. They say how sure the data make of the regression: far from
what was seen, and where little was seen, the distribution is wide. Where all values are known, this is the ratio of
marginal likelihoods of the training rows with and without the new one; with unknown numbers among the parents it is no
closed form, and the regressions alone are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactbnc.network.codes import Floats, Rows
from exactbnc.network.regressions import regression_of
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.network.bayesnet import BayesNet

ROWS_AT_ONCE = 2**12
"""Tables are looked up for this many rows at a time."""


def student_shape(net: BayesNet, v: int) -> tuple[int, ...]:
    """The shape that the table of a variable of numbers must have."""
    k = len(regression_of(net, v).regressors)
    return (*net.tables[v].shape[:-1], 2 + k + k * k)


def check_student(net: BayesNet, tables: Sequence[Floats | None]) -> None:
    """Raise a ParameterError if the tables do not fit a network with a class; they become read-only."""
    if len(tables) != net.n_vars:
        raise ParameterError(f"{net.n_vars} variables need as many predictive tables. Got {len(tables)} instead.")
    target = net.position(net.required_class)
    for v, own in enumerate(tables):
        name, has_class = net.names[v], bool(net.is_number[v]) and target in net.dag.parents[v]
        if (own is not None) != has_class:
            raise ParameterError(f"{name!r} must have a predictive table only as a number with the class as a parent")
        if own is None:
            continue
        shape = student_shape(net, v)
        if own.shape != shape or not (np.isfinite(own).all() and (own[..., :2] > 0).all()):
            raise ParameterError(f"the predictive table of {name!r} must hold finite numbers, shaped {shape}")
        own.flags.writeable = False


@dataclass(frozen=True, eq=False)
class StudentFamily:
    """The predictive distributions of a child of the class; the first axis of both tables is that of the class."""

    child: int
    given: tuple[int, ...]
    regressors: tuple[int, ...]
    regressions: Floats
    predictive: Floats

    @classmethod
    def of(cls, net: BayesNet, child: int, target: int, predictive: Floats) -> StudentFamily:
        own = regression_of(net, child)
        axis = own.given.index(target)
        given = tuple(v for v in own.given if v != target)
        return cls(child, given, own.regressors, np.moveaxis(own.table, axis, 0), np.moveaxis(predictive, axis, 0))

    def add_to(self, sums: Floats, rows: Rows) -> None:
        """sums[row, c] += the log-density of the child; all values but the class are known."""
        for low in range(0, rows.n_rows, ROWS_AT_ONCE):
            chosen = slice(low, low + ROWS_AT_ONCE)
            sums[chosen] += self._log_densities(rows, chosen)

    def _log_densities(self, rows: Rows, chosen: Any) -> Floats:
        """Rows x classes."""
        from scipy.special import gammaln

        at: tuple[Any, ...] = (slice(None), *(rows.codes[v, chosen] for v in self.given))
        regression, predictive = self.regressions[at], self.predictive[at]
        if self.given:  # classes x rows x numbers
            regression, predictive = regression.transpose(1, 0, 2), predictive.transpose(1, 0, 2)
        k = len(self.regressors)
        w = (
            np.array([rows.column(v)[chosen] for v in self.regressors])
            .reshape(k, len(rows.codes[0, chosen]))
            .T[:, None, :]
        )
        x = rows.column(self.child)[chosen, None]
        freedom, spread = predictive[..., 0], predictive[..., 1]
        error = x - regression[..., 0] - (regression[..., 1:-1] * w).sum(axis=-1)
        if k:
            root = predictive[..., 2 + k :].reshape(*predictive.shape[:-1], k, k)
            away = np.einsum("...ij,...j->...i", root, w - predictive[..., 2 : 2 + k])
            spread = spread + (away**2).sum(axis=-1)
        scale = regression[..., -1] * spread
        constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - np.log(np.pi * freedom * scale) / 2
        found: Floats = constant - (freedom + 1) / 2 * np.log1p(error**2 / (freedom * scale))
        return found
