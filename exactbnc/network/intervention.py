"""The network after an intervention: the arcs into the variables that are set are cut."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Floats, Rows
from exactbnc.network.rows import row_of
from scorecache.errors import ParameterError


def intervened(net: BayesNet, values: Mapping[str, Hashable]) -> BayesNet:
    """The mutilated network, in which every variable that is set has its value for certain."""
    given = row_of(net, values)
    row = given.codes[:, 0]
    for name in values:
        if row[net.index[name]] == UNKNOWN:
            what = "number" if net.is_number[net.index[name]] else "state"
            raise ParameterError(f"do needs a {what} of {name!r}, got {values[name]!r}")
    is_set = row != UNKNOWN
    parents = [() if is_set[v] else listed for v, listed in enumerate(net.dag.parents)]
    tables = [_certain(net, v, given) if is_set[v] else net.tables[v] for v in range(net.n_vars)]
    return replace(
        net,
        dag=DAG.of(net.names, parents),
        tables=tuple(tables),
        solution={},
        provenance={**net.provenance, "do": {name: str(value) for name, value in values.items()}},
        class_fit=None,
    )


def _certain(net: BayesNet, v: int, given: Rows) -> Floats:
    """The table of a variable that has its value for certain."""
    if net.is_number[v]:
        return np.array([given.column(v)[0], 0.0])
    return np.asarray(np.eye(len(net.states[v]))[given.codes[v, 0]])
