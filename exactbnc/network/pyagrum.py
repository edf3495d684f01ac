"""A Bayesian network as an object of pyAgrum."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.safe_names import Rule, encode_states
from scorecache.errors import ParameterError
from scorecache.wording import listing

_ANY_TEXT = Rule.of(r"(?s:.*)", r"(?!)")


def to_pyagrum(net: BayesNet) -> Any:
    """A `pyagrum.BayesNet` with the same names and tables; its labels are the states as texts."""
    if net.numbers:
        raise ParameterError(
            f"pyAgrum takes variables with states, but {listing(map(repr, net.numbers))} are numbers; save() as .json"
        )
    try:
        pyagrum = import_module("pyagrum")
    except ImportError as error:
        raise ImportError("to_pyagrum needs pyAgrum 2.0 or later (pip install pyagrum)") from error

    model = pyagrum.BayesNet()
    for name, states in zip(net.names, net.states, strict=True):
        model.add(pyagrum.LabelizedVariable(name, name, list(encode_states(name, states, _ANY_TEXT))))
    for parent, child in net.dag.arcs:
        model.addArc(parent, child)
    for name, table in zip(net.names, net.tables, strict=True):
        # pyAgrum runs over the child fastest and over the parent that came last slowest
        n_parents = table.ndim - 1
        model.cpt(name).fillWith(table.transpose(*reversed(range(n_parents)), n_parents).ravel().tolist())
    return model
