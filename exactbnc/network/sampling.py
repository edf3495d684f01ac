"""Rows drawn from a network, parents before children."""

from __future__ import annotations

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from scorecache.data.dataset import Dataset
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
    codes = np.empty((net.n_vars, n_rows), dtype=np.uint16)
    for v in net.dag.order:
        totals = np.cumsum(net.tables[v], axis=-1)
        below = totals[..., :-1] / totals[..., -1:]  # a last state of probability zero is not drawn
        rows = below[tuple(codes[u] for u in net.dag.parents[v])] if net.dag.parents[v] else below[None, :]
        codes[v] = (random.random(n_rows)[:, None] >= rows).sum(axis=1)
    return Dataset(net.names, net.states, codes)
