"""The network after an intervention: the arcs into the variables that are set are cut."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from scorecache.errors import ParameterError


def intervened(net: BayesNet, values: Mapping[str, Hashable]) -> BayesNet:
    """The mutilated network, in which every variable that is set has its value for certain."""
    row = net.encode_row(values)
    for name in values:
        if row[net.index[name]] == UNKNOWN:
            raise ParameterError(f"do needs a state of {name!r}, got {values[name]!r}")
    is_set = row != UNKNOWN
    parents = [() if is_set[v] else listed for v, listed in enumerate(net.dag.parents)]
    tables = [np.eye(len(net.states[v]))[row[v]] if is_set[v] else net.tables[v] for v in range(net.n_vars)]
    return replace(
        net,
        dag=DAG.of(net.names, parents),
        tables=tuple(tables),
        solution={},
        provenance={**net.provenance, "do": {name: str(value) for name, value in values.items()}},
        class_fit=None,
    )
