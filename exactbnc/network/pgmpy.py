"""A Bayesian network as an object of pgmpy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from scorecache.errors import ParameterError
from scorecache.wording import listing


def to_pgmpy(net: BayesNet) -> Any:
    """A `pgmpy.models.DiscreteBayesianNetwork` with the same names, states and tables.

    Of numbers alone it is a `LinearGaussianBayesianNetwork`, whose `std` are standard deviations; pgmpy has no model of
    numbers with parents that have states.
    """
    if net.numbers:
        return _linear_gaussian(net)
    try:
        models, factors = import_module("pgmpy.models"), import_module("pgmpy.factors.discrete")
    except ImportError as error:
        raise ImportError("to_pgmpy needs pgmpy 1.0 or later (pip install pgmpy)") from error

    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(net.names)
    model.add_edges_from(net.dag.arcs)
    for v, (name, parents, table) in enumerate(zip(net.names, net.dag.parents, net.tables, strict=True)):
        # states of the child by configurations of the parents, the last parent fastest
        columns = table.reshape(-1, table.shape[-1]).T
        cpd = factors.TabularCPD(
            name,
            table.shape[-1],
            columns.tolist(),
            evidence=[net.names[parent] for parent in parents],
            evidence_card=list(table.shape[:-1]),
            state_names={net.names[u]: list(net.states[u]) for u in (v, *parents)},
        )
        model.add_cpds(cpd)
    return model


def _linear_gaussian(net: BayesNet) -> Any:
    """A `LinearGaussianBayesianNetwork` with the same regressions."""
    if len(net.numbers) < net.n_vars:
        states = [name for name in net.names if name not in net.numbers]
        raise ParameterError(
            "pgmpy has networks of states and networks of numbers, none of both, but "
            f"{listing(map(repr, states))} have states and {listing(map(repr, net.numbers))} are numbers"
        )
    try:
        models, factors = import_module("pgmpy.models"), import_module("pgmpy.factors.continuous")
    except ImportError as error:
        raise ImportError("to_pgmpy needs pgmpy 1.0 or later (pip install pgmpy)") from error
    model = models.LinearGaussianBayesianNetwork()
    model.add_nodes_from(net.names)
    model.add_edges_from(net.dag.arcs)
    for name, parents, table in zip(net.names, net.dag.parents, net.tables, strict=True):
        cpd = factors.LinearGaussianCPD(
            name, table[:-1].tolist(), float(np.sqrt(table[-1])), [net.names[parent] for parent in parents]
        )
        model.add_cpds(cpd)
    return model
