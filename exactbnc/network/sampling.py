"""Rows drawn from a network, parents before children."""

from __future__ import annotations

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.regressions import regression_of
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED
from scorecache.errors import ParameterError


def sample(net: BayesNet, n_rows: int, *, seed: int = 0) -> Dataset:
    """Draw rows from the joint distribution; the same seed draws the same rows.

    >>> from exactbnc.graph.dag import DAG
    >>> net = BayesNet(DAG.from_arcs(["x"], []), (("a", "b"),), (np.array([0.0, 1.0]),))
    >>> sample(net, 3).codes.tolist()
    [[1, 1, 1]]
    """
    if n_rows < 1:
        raise ParameterError(f"n_rows must be at least 1. Got {n_rows} instead.")
    random = np.random.default_rng(seed)
    codes, numbers = np.zeros((net.n_vars, n_rows), dtype=np.uint16), dict[int, Floats]()
    for v in net.dag.order:
        if net.is_number[v]:
            own = regression_of(net, v)
            at = own.table[tuple(codes[u] for u in own.given)] if own.given else own.table[None]
            numbers[v] = at[:, 0] + np.sqrt(at[:, -1]) * random.standard_normal(n_rows)
            for i, u in enumerate(own.regressors, start=1):
                numbers[v] += at[:, i] * numbers[u]
            continue
        totals = np.cumsum(net.tables[v], axis=-1)
        below = totals[..., :-1] / totals[..., -1:]  # a last state of probability zero is not drawn
        rows = below[tuple(codes[u] for u in net.dag.parents[v])] if net.dag.parents[v] else below[None, :]
        codes[v] = (random.random(n_rows)[:, None] >= rows).sum(axis=1)
    states = tuple(listed or (MEASURED,) for listed in net.states)
    measurements = {net.names[v]: numbers[v] for v in sorted(numbers)}
    return Dataset(net.names, states, codes, measurements=measurements)
