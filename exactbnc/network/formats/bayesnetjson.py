"""A Bayesian network as JSON: the one format that keeps the types of the states.

Keys: format ("exactbnc.bayesnet"), schema_version (1), class (a name or null), variables: a list of name, states,
parents (names) and table, lists within lists with one level per parent as listed and the variable's states innermost.
States are texts, integers, finite floats and booleans; a numpy scalar is stored as the Python value it equals. Numbers
are read back to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from math import isfinite
from types import GenericAlias
from typing import Any, TypeVar

import msgspec
import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.network.bayesnet import BayesNet, Floats
from exactbnc.network.formats._draft import Draft
from exactbnc.network.safe_names import plain, require_different
from scorecache.errors import ParameterError
from scorecache.system.jsonfile import decode_json
from scorecache.wording import shown

SUFFIXES = (".json",)
FORMAT = "exactbnc.bayesnet"
MODEL_FORMAT = "exactbnc.model"
"""Of `exactbnc.learning.model`, whose files contain such a network."""
SCHEMA_VERSION = 1

T = TypeVar("T")


class _Variable(msgspec.Struct):
    name: str
    states: list[str | int | float | bool]
    parents: list[str]
    table: msgspec.Raw


class NetFile(msgspec.Struct, rename={"class_name": "class"}):
    """The object of a network, its tables still as text: their depth depends on the parents."""

    variables: list[_Variable]
    format: str | None = None
    schema_version: int | float | str | None = None
    class_name: str | None = None


class _Model(msgspec.Struct):
    network: NetFile


class _Head(msgspec.Struct):
    format: str | None = None


def render(net: BayesNet, class_name: str | None) -> tuple[str, list[str]]:
    """The text, one variable a line; nothing is ever escaped."""
    head = [
        f'  "format": "{FORMAT}"',
        f'  "schema_version": {SCHEMA_VERSION}',
        f'  "class": {_dump(class_name)}',
    ]
    variables = [
        {
            "name": _storable_text(net.names[v]),
            "states": _storable_states(net.names[v], net.states[v]),
            "parents": [net.names[parent] for parent in net.dag.parents[v]],
            "table": net.tables[v].tolist(),
        }
        for v in range(net.n_vars)
    ]
    listed = ",\n".join(f"    {_dump(variable)}" for variable in variables)
    return "{\n" + ",\n".join([*head, f'  "variables": [\n{listed}\n  ]']) + "\n}\n", []


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network, or that of a model; `label` names the file in errors."""
    if format_of(content, label) == MODEL_FORMAT:
        return bayesnet_of(decode(content, _Model, label).network, label)
    return bayesnet_of(decode(content, NetFile, label), label)


def format_of(content: bytes, label: str) -> str | None:
    """The 'format' of a JSON file; None if it has none."""
    return decode(content, _Head, label).format


def bayesnet_of(stored: NetFile, label: str) -> BayesNet:
    """The network of an object that was read from JSON."""
    draft = Draft(label)
    if stored.format != FORMAT:
        raise draft.fault(None, f"expected a JSON object whose 'format' is {FORMAT!r}, got {shown(stored.format)}")
    if stored.schema_version != SCHEMA_VERSION:
        raise draft.fault(None, f"expected schema_version {SCHEMA_VERSION}, got {shown(stored.schema_version)}")
    for variable in stored.variables:
        draft.declare(variable.name, variable.states, None)
    for variable in stored.variables:
        shape = draft.family(variable.name, variable.parents, None)
        draft.fill(variable.name, _table(variable, shape, draft), None)
    return draft.finish()


def decode(content: bytes, kind: type[T], label: str) -> T:
    """The object of a JSON text, with a NetworkFileError where it is another one."""
    return decode_json(content, kind, lambda line, message: NetworkFileError(label, line, message))


def _table(variable: _Variable, shape: tuple[int, ...], draft: Draft) -> Floats:
    """The numbers, in lists nested as deep as the shape is long."""

    def fault(line: int | None, message: str) -> NetworkFileError:
        expected = f"expected 'table' of {variable.name!r} to be numbers in nested lists of the lengths {shape}"
        return draft.fault(None, f"{expected}; {message}" if message else expected)

    kind: Any = float
    for _ in shape:
        kind = GenericAlias(list, (kind,))
    nested = decode_json(bytes(variable.table), kind, fault)
    try:
        table = np.array(nested, dtype=np.float64)
    except ValueError as error:  # lists of different lengths
        raise fault(None, "") from error
    if table.shape != shape:
        raise fault(None, f"got {table.shape}")
    return table


def _storable_states(name: str, states: Sequence[Hashable]) -> list[str | int | float]:
    require_different(name, states)
    return [_storable(name, plain(state)) for state in states]


def _storable(name: str, state: Hashable) -> str | int | float:
    if isinstance(state, str):
        return _storable_text(state)
    if isinstance(state, int) or (isinstance(state, float) and isfinite(state)):
        return state
    raise ParameterError(f"JSON states are texts, finite numbers and booleans. Got {state!r} of {name!r} instead.")


def _storable_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"JSON texts are UTF-8. Got {text!r} instead, half of a surrogate pair.") from error
    return text


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
