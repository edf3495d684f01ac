"""How probable the rows of a table are: their likelihood, and the distribution of one variable in each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Floats
from exactbnc.network.rows import coded_rows, no_column, rows_of
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.wording import listing


def log_likelihood(net: BayesNet, data: Any) -> float:
    """The sum of log P over the rows, each times its weight; the densities of numbers."""
    dataset = rows_of(net, data)
    absent = [name for name in net.names if name not in dataset.index]
    if absent:
        raise ParameterError(f"the data lack the columns {listing(map(repr, absent))}")
    return _total(net.log_probability(coded_rows(net, dataset)), dataset)


def conditional_log_likelihood(net: BayesNet, data: Any, name: str) -> float:
    """The sum of log P(name | the other values) over the rows, each times its weight."""
    dataset = rows_of(net, data)
    dataset.column(name)  # an error lists the columns if it is not one
    require_states(net, name)
    rows = coded_rows(net, dataset)
    actual = rows.codes[net.position(name)]
    if (actual == UNKNOWN).any():
        raise ParameterError(f"the class {name!r} has values in the data that the network does not know")
    return _total(net.log_posterior(rows, name)[np.arange(len(actual)), actual], dataset)


def log_posterior_of_rows(net: BayesNet, data: Any, name: str) -> Floats:
    """log P(name = k | row), rows x states; the data must have another column of the network."""
    require_states(net, name)
    dataset = rows_of(net, data)
    if not any(column in net.index and column != name for column in dataset.names):
        raise no_column([column for column in net.names if column != name], dataset.names)
    return net.log_posterior(coded_rows(net, dataset), name)


def require_states(net: BayesNet, name: str) -> None:
    """Refuse a variable of numbers, which has a density in place of probabilities."""
    if net.is_number[net.position(name)]:
        raise ParameterError(f"{name!r} is a variable of numbers, without states to predict; ask query({name!r})")


def _total(values: Floats, dataset: Dataset) -> float:
    return float(values.sum() if dataset.weights is None else values @ dataset.weights)
