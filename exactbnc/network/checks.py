"""What must hold of a network's states, tables, class and cut points; `BayesNet` checks it where it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactbnc.network.codes import UNKNOWN
from exactbnc.network.regressions import check_regression, table_shape
from scorecache.data.encoding import MISSING_STATE
from scorecache.errors import ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    from exactbnc.network.bayesnet import BayesNet

ROW_SUM_TOLERANCE = 1e-6
"""How far from one the probabilities of a configuration may add up: files contain rounded numbers."""


def check_network(net: BayesNet) -> None:
    """Raise a ParameterError if the parts do not fit each other; the tables become read-only."""
    _check_states(net)
    _check_tables(net)
    _check_columns(net)
    if net.class_fit is not None:
        net.class_fit.check(net)


def _check_states(net: BayesNet) -> None:
    if not len(net.states) == len(net.tables) == net.dag.n_vars:
        raise ParameterError(
            f"{net.dag.n_vars} variables need as many lists of states and tables. "
            f"Got {len(net.states)} and {len(net.tables)} instead."
        )
    for name, listed in zip(net.names, net.states, strict=True):
        if len(listed) > UNKNOWN:
            raise ParameterError(f"{name!r} must have at most {UNKNOWN} states. Got {len(listed)} instead.")
        if len(set(listed)) < len(listed):
            raise ParameterError(f"the states of {name!r} must be different from each other")


def _check_tables(net: BayesNet) -> None:
    for v, (name, table) in enumerate(zip(net.names, net.tables, strict=True)):
        is_number = bool(net.is_number[v])
        numbers = [net.names[u] for u in net.dag.parents[v] if net.is_number[u]]
        if numbers and not is_number:
            raise ParameterError(
                f"{name!r} has states, and {listing(map(repr, numbers))} among its parents are numbers: "
                "only a variable of numbers can have such parents"
            )
        shape = table_shape(net, v)
        if table.shape != shape or table.dtype != np.float64:
            what = "intercept, coefficients and variance" if is_number else "its own"
            raise ParameterError(
                f"the table of {name} must be float64 {shape}, its parents' states and {what}. "
                f"Got {table.dtype} {table.shape} instead."
            )
        if is_number:
            check_regression(net, v)
        elif not (table.min() >= 0 and np.abs(table.sum(axis=-1) - 1).max() <= ROW_SUM_TOLERANCE):
            raise ParameterError(f"the table of {name} must contain probabilities that add up to one")
        table.flags.writeable = False


def _check_columns(net: BayesNet) -> None:
    """The class and the discretised columns are variables with states, and the cut points fit them."""
    for name in (*(() if net.class_name is None else (net.class_name,)), *net.cut_points):
        if net.is_number[net.position(name)]:
            raise ParameterError(f"{name!r} is a variable of numbers; a class and a discretised column have states")
    for name, points in net.cut_points.items():
        states = net.states[net.index[name]]
        n_intervals = len(states) - (MISSING_STATE in states)
        if list(points) != sorted(set(points)) or len(points) + 1 != n_intervals:
            raise ParameterError(f"the cut points of {name!r} must be ascending, one fewer than its intervals")
