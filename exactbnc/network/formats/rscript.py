"""bnlearn's own way to a network with parameters: a script in R that builds it with `custom.fit`.

    source("net.R")        # makes `net`, a bn.fit of states, of numbers, or of both (a conditional Gaussian network)

bnlearn has files for networks of states alone (BIF among them); this one is for all. Tables are arrays whose first axis
is the child, then its parents; regressions of a child with parents that have states are matrices with a column per
configuration, the first parent fastest, as bnlearn numbers them. Standard deviations take the place of variances. R's
scripts are written, not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.regressions import regression_of
from exactbnc.network.safe_names import Rule, SafeNames

SUFFIXES = (".r",)

_TEXT = Rule(re.compile(r"[^\0]+", re.DOTALL), re.compile(r"\0"))
"""Strings of R hold everything but the character 0."""


def render(net: BayesNet) -> tuple[str, list[str]]:
    """The script, and what was escaped."""
    safe = SafeNames.of(net, _TEXT, _TEXT)
    return "".join(f"{line}\n" for line in _lines(net, safe)), []


def _lines(net: BayesNet, safe: SafeNames) -> Iterator[str]:
    names = [_text(name) for name in safe.names]
    yield "library(bnlearn)"
    yield f"net <- empty.graph({_vector(names)})"
    arcs = [names[v] for child, parents in enumerate(net.dag.parents) for parent in parents for v in (parent, child)]
    if arcs:
        columns = 'dimnames = list(NULL, c("from", "to"))'
        yield f"arcs(net) <- matrix({_vector(arcs)}, ncol = 2, byrow = TRUE, {columns})"
    yield "net <- custom.fit(net, dist = list("
    for v, name in enumerate(names):
        own = _regressions(net, v, names) if net.is_number[v] else _table(net, v, names, safe)
        yield f"  {name} = {own}{',' if v + 1 < net.n_vars else ''}"
    yield "))"


def _table(net: BayesNet, v: int, names: Sequence[str], safe: SafeNames) -> str:
    """The probabilities: R runs over the first axis fastest, and the child comes first."""
    axes = (v, *net.dag.parents[v])
    values = np.moveaxis(net.tables[v], -1, 0).ravel(order="F")
    labels = ", ".join(f"{names[u]} = {_vector(map(_text, safe.states[u]))}" for u in axes)
    sizes = _vector(str(len(net.states[u])) for u in axes)
    if len(axes) == 1:
        states = _vector(map(_text, safe.states[v]))
        return f"matrix({_numbers(values)}, nrow = 1, dimnames = list(NULL, {states}))"
    return f"array({_numbers(values)}, dim = {sizes}, dimnames = list({labels}))"


def _regressions(net: BayesNet, v: int, names: Sequence[str]) -> str:
    """The coefficients and standard deviations, configuration by configuration."""
    own = regression_of(net, v)
    rows = ['"(Intercept)"', *(names[u] for u in own.regressors)]
    if not own.given:
        named = ", ".join(f"{row} = {_number(b)}" for row, b in zip(rows, own.table[:-1], strict=True))
        return f"list(coef = c({named}), sd = {_number(np.sqrt(own.table[-1]))})"
    # configurations with the first parent fastest
    table = own.table.transpose(*reversed(range(len(own.given))), -1).reshape(-1, own.table.shape[-1])
    matrix = f"matrix({_numbers(table[:, :-1].ravel())}, nrow = {len(rows)}, dimnames = list({_vector(rows)}, NULL))"
    return f"list(coef = {matrix}, sd = {_numbers(np.sqrt(table[:, -1]))})"


def _vector(items: Iterable[str]) -> str:
    return f"c({', '.join(items)})"


def _numbers(values: Floats) -> str:
    return _vector(map(_number, values.tolist()))


def _number(value: float) -> str:
    return repr(float(value))


def _text(text: str) -> str:
    """A string of R, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)
