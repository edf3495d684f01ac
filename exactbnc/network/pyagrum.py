"""A Bayesian network as an object of pyAgrum."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.safe_names import Rule, encode_states
from scorecache.errors import ParameterError
from scorecache.wording import listing

_ANY_TEXT = Rule.of(r"(?s:.*)", r"(?!)")


def to_pyagrum(net: BayesNet) -> Any:
    """A `pyagrum.BayesNet` with the same names and tables; its labels are the states as texts.

    Of numbers alone it is a `pyagrum.clg.CLG`, whose `sigma` are standard deviations; pyAgrum has no model of numbers
    with parents that have states.
    """
    if net.numbers:
        return _linear_gaussian(net)
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


def require_gaussian(net: BayesNet) -> None:
    """Refuse a network that is none of pyAgrum's: with states, or with a coefficient of 0."""
    if len(net.numbers) < net.n_vars:
        states = [name for name in net.names if name not in net.numbers]
        raise ParameterError(
            f"pyAgrum has numbers in networks of numbers alone, but {listing(map(repr, states))} have states; "
            "save() as .json"
        )
    for name, table in zip(net.names, net.tables, strict=True):
        if not table[1:-1].all():
            raise ParameterError(f"pyAgrum takes no coefficient of 0, and {name!r} has one; save() as .json")


def _linear_gaussian(net: BayesNet) -> Any:
    """A `CLG` with the same regressions."""
    require_gaussian(net)
    try:
        clg = import_module("pyagrum.clg")
    except ImportError as error:
        raise ImportError("to_pyagrum needs pyAgrum 2.0 or later (pip install pyagrum)") from error
    model = clg.CLG()
    for name, table in zip(net.names, net.tables, strict=True):
        model.add(clg.GaussianVariable(name, float(table[0]), float(np.sqrt(table[-1]))))
    for name, parents, table in zip(net.names, net.dag.parents, net.tables, strict=True):
        for parent, coefficient in zip(parents, table[1:-1].tolist(), strict=True):
            model.addArc(net.names[parent], name, coefficient)
    return model
