"""How a network predicts its class: from its tables with a temperature, or by weights that were fitted to the class.

    log P(c | x) = a log P_net(c | x) + b_c - log Z                     where values are unknown, summed out exactly
    log P(c | x) = sum over the families with the class of T_v[x_v, x_pa(v), c] - log Z     where all are known

Of numbers there are no weights; where all values are known, predictive distributions may take the place of the
regressions in P_net (`exactbnc.network.student`). The weights T have the shapes of the tables, so that predicting by
them takes as long. The temperature (a, b) brings the tables to the scale of probabilities that the weights have;
without weights it serves all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes, Floats, Rows
from exactbnc.network.families import OpenFamilies, open_families
from exactbnc.network.normalisation import normalise
from exactbnc.network.student import StudentFamily, check_student
from scorecache.errors import ParameterError


@dataclass(frozen=True, eq=False)
class ClassFit:
    """Numbers fitted to predict the class of a network, as `BayesNet.class_fit` and its file keep them.

    Parameters
    ----------
    slope : float, default 1
        a; smaller than 1 where the tables are too sure of themselves.
    shift : array of float64, optional
        b, by class.
    weights : tuple of arrays, optional
        By variable, shaped as `BayesNet.tables`; None for families without the class. The arrays become read-only.
    student : tuple of arrays, optional
        By variable of numbers with the class as a parent, its predictive table (`exactbnc.network.student`); None for
        the others. The arrays become read-only.

    Examples
    --------
    >>> from exactbnc.graph.dag import DAG
    >>> from exactbnc.network.codes import UNKNOWN
    >>> dag = DAG.from_arcs(["x", "y"], [("y", "x")])
    >>> tables = (np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
    >>> net = BayesNet(dag, (("no", "yes"), ("no", "yes")), tables, "y", class_fit=ClassFit(slope=0.5))
    >>> codes = np.array([[0, UNKNOWN], [UNKNOWN, UNKNOWN]], dtype=np.uint16)
    >>> np.exp(net.log_posterior(codes)).round(3).tolist()
    [[0.68, 0.32], [0.5, 0.5]]
    """

    slope: float = 1.0
    shift: Floats | None = None
    weights: tuple[Floats | None, ...] | None = None
    student: tuple[Floats | None, ...] | None = None

    def check(self, net: BayesNet) -> None:
        """Raise a ParameterError if the numbers do not fit the network."""
        target = net.position(net.required_class)
        n_classes = int(net.arities[target])
        if not (np.isfinite(self.slope) and self.slope >= 0):
            raise ParameterError(f"the slope of a temperature must be a number from 0. Got {self.slope!r} instead.")
        if self.shift is not None and (self.shift.shape != (n_classes,) or not np.isfinite(self.shift).all()):
            raise ParameterError(f"the shift of a temperature must have {n_classes} finite numbers, one per class")
        if self.student is not None:
            check_student(net, self.student)
        if self.weights is None:
            return
        if net.numbers:
            raise ParameterError(f"a network with numbers has no weights, and {net.numbers[0]!r} is one of numbers")
        if len(self.weights) != net.n_vars:
            raise ParameterError(f"{net.n_vars} variables need as many weights. Got {len(self.weights)} instead.")
        for v, (own, table) in enumerate(zip(self.weights, net.tables, strict=True)):
            has_class = v == target or target in net.dag.parents[v]
            if (own is not None) != has_class:
                raise ParameterError(f"{net.names[v]!r} must have weights only with the class in its family")
            if own is not None and (own.shape != table.shape or not np.isfinite(own).all()):
                raise ParameterError(f"the weights of {net.names[v]!r} must be finite, in the shape of its table")
            if own is not None:
                own.flags.writeable = False


class ClassModel:
    """The class posterior of a network with a `ClassFit`, ready for many rows."""

    def __init__(self, net: BayesNet, fit: ClassFit) -> None:
        self.net = net
        self.slope, self.shift, self.weights, self.student = fit.slope, fit.shift, fit.weights, fit.student
        self._target = net.position(net.required_class)

    def log_posterior(self, given: Codes | Rows) -> Floats:
        """log P(class | the other values of the row), rows x classes."""
        rows = Rows.of(given)
        if self.weights is None and self.student is None:
            return self._scaled(rows)
        is_partial = self.is_partial(rows.codes)
        of_complete = self._predictive if self.weights is None else self._fitted
        if not is_partial.any():
            return of_complete(rows)
        log_p = np.empty((rows.n_rows, int(self.net.arities[self._target])))
        log_p[~is_partial] = of_complete(rows.take(~is_partial))
        log_p[is_partial] = self._scaled(rows.take(is_partial))
        return log_p

    def is_partial(self, codes: Codes) -> NDArray[np.bool_]:
        """Which rows lack a value of a family with the class."""
        return self._families.partial_rows(codes)

    def _fitted(self, rows: Rows) -> Floats:
        """By the weights."""
        sums = np.zeros((rows.n_rows, self._families.n_states))
        self._families.add_to(sums, rows, is_complete=True)
        normalise(sums)
        return sums

    def _predictive(self, rows: Rows) -> Floats:
        """By the tables and the predictive distributions, with the temperature."""
        sums = np.zeros((rows.n_rows, int(self.net.arities[self._target])))
        of_states = [v for v in self._children if not self.net.is_number[v]]
        open_families(self.net, of_states, self._target).add_to(sums, rows, is_complete=True)
        for family in self.predictive_families:
            family.add_to(sums, rows)
        normalise(sums)
        return self._with_temperature(sums)

    @cached_property
    def predictive_families(self) -> list[StudentFamily]:
        """Those of the numbers with the class as a parent."""
        tables = self.student or ()
        return [StudentFamily.of(self.net, v, self._target, own) for v, own in enumerate(tables) if own is not None]

    def _scaled(self, rows: Rows) -> Floats:
        """By the tables, with the temperature."""
        return self._with_temperature(self.net.posterior(self.net.required_class).log_probabilities(rows))

    def _with_temperature(self, log_p: Floats) -> Floats:
        """In place."""
        if self.slope == 1.0 and self.shift is None:
            return log_p
        with np.errstate(invalid="ignore"):
            log_p *= self.slope
        log_p[np.isnan(log_p)] = 0.0  # 0 times -inf
        if self.shift is not None:
            log_p += self.shift
        normalise(log_p)
        return log_p

    @cached_property
    def _families(self) -> OpenFamilies:
        return open_families(self.net, self._children, self._target, self.weights)

    @cached_property
    def _children(self) -> list[int]:
        """The children of the families with the class."""
        target = self._target
        return [v for v, parents in enumerate(self.net.dag.parents) if v == target or target in parents]
