"""What the table of a variable of numbers is: a linear regression for every configuration of its parents with states.

    X = a_z + b_z . W + noise,    noise ~ N(0, s2_z)

Z are the parents with states, W the parents that are numbers. The table has one axis per variable of Z, ascending, and
on the last axis a, then b by the variables of W, ascending, then s2. A variance of zero is a number that is certain; it
goes with a variable without parents, such as `BayesNet.do` leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exactbnc.network.codes import Floats
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.network.bayesnet import BayesNet


@dataclass(frozen=True, eq=False)
class Regression:
    """The regressions of one variable, by configuration; `given` are Z, `regressors` W."""

    child: int
    given: tuple[int, ...]
    regressors: tuple[int, ...]
    table: Floats

    @property
    def members(self) -> tuple[int, ...]:
        """All variables of the family."""
        return (*self.given, *self.regressors, self.child)

    def at(self, configuration: dict[int, int], scope: tuple[int, ...], shape: tuple[int, ...]) -> Floats:
        """The table with some of Z at these states, configurations of `scope` (whose sizes are `shape`) x numbers."""
        kept = tuple(v for v in self.given if v in scope)
        table = self.table[tuple(slice(None) if v in kept else configuration[v] for v in self.given)]
        order = sorted(range(len(kept)), key=lambda axis: scope.index(kept[axis]))
        table = table.transpose(*order, len(kept))
        sizes = [size if v in kept else 1 for v, size in zip(scope, shape, strict=True)]
        whole = np.broadcast_to(table.reshape(*sizes, table.shape[-1]), (*shape, table.shape[-1]))
        return whole.reshape(-1, table.shape[-1])


def regression_of(net: BayesNet, v: int) -> Regression:
    """The regressions of a variable of numbers."""
    parents = net.dag.parents[v]
    given = tuple(u for u in parents if not net.is_number[u])
    return Regression(v, given, tuple(u for u in parents if net.is_number[u]), net.tables[v])


def table_shape(net: BayesNet, v: int) -> tuple[int, ...]:
    """The shape that the table of a variable must have."""
    parents = net.dag.parents[v]
    sizes = [len(net.states[u]) for u in parents if not net.is_number[u]]
    if net.is_number[v]:
        return (*sizes, len(parents) - len(sizes) + 2)
    return (*sizes, len(net.states[v]))


def check_regression(net: BayesNet, v: int) -> None:
    """Raise a ParameterError if the numbers of a variable of numbers cannot be its regressions."""
    table, name = net.tables[v], net.names[v]
    if not np.isfinite(table).all():
        raise ParameterError(f"the regressions of {name!r} must have finite coefficients and variances")
    is_certain = not net.dag.parents[v] and table[-1] == 0.0
    if not (is_certain or (table[..., -1] > 0.0).all()):
        smallest = float(table[..., -1].min())
        raise ParameterError(f"the variances of {name!r} must be above 0. Got {smallest!r} instead.")
