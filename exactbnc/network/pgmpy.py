"""A Bayesian network as an object of pgmpy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from exactbnc.network.bayesnet import BayesNet


def to_pgmpy(net: BayesNet) -> Any:
    """A `pgmpy.models.DiscreteBayesianNetwork` with the same names, states and tables."""
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
