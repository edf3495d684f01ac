"""A `LinearGaussianBayesianNetwork` as pgmpy saves it in JSON, in the layout of bnlearn's repository.

Keys: nodes (names), arcs (pairs of names) and cpds, by name: parents, coefficients (by parent and of "(Intercept)", a
list of one number each) and variance (a list of one number). Such files are read; `BayesNet.to_pgmpy` makes the model
that writes them.
"""

from __future__ import annotations

import msgspec
import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats._draft import Draft
from scorecache.system.jsonfile import decode_json

INTERCEPT = "(Intercept)"


class _Regression(msgspec.Struct):
    coefficients: dict[str, list[float]]
    variance: list[float]
    parents: list[str] = []


class _File(msgspec.Struct):
    nodes: list[str]
    cpds: dict[str, _Regression]
    arcs: list[tuple[str, str]] | None = None


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    found = decode_json(content, _File, lambda line, message: NetworkFileError(label, line, message))
    draft = Draft(label)
    for name in found.nodes:
        draft.declare_number(name, None)
    for name, own in found.cpds.items():
        draft.family(name, own.parents, None)
        rows = [INTERCEPT, *own.parents]
        if set(own.coefficients) != set(rows) or any(len(listed) != 1 for listed in own.coefficients.values()):
            wanted = ", ".join(map(repr, rows))
            raise draft.fault(None, f"expected the coefficients of {name!r} to be one number each of {wanted}")
        if len(own.variance) != 1:
            raise draft.fault(None, f"expected the variance of {name!r} to be one number, got {len(own.variance)}")
        draft.fill(name, np.array([*(own.coefficients[row][0] for row in rows), own.variance[0]]), None)
    net = draft.finish()
    if found.arcs is not None and set(found.arcs) != set(net.arcs):
        raise draft.fault(None, "expected the arcs to be those from the parents that the regressions have")
    return net
