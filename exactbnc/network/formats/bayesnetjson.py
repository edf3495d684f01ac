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
from typing import Any, NoReturn

import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.graph.textfile import decoded
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats._draft import Draft
from exactbnc.network.safe_names import plain, require_different
from scorecache.errors import ParameterError
from scorecache.system.nested import NestedNumbers, parse_with_numbers
from scorecache.wording import shown

SUFFIXES = (".json",)
FORMAT = "exactbnc.bayesnet"
MODEL_FORMAT = "exactbnc.model"
"""Of `exactbnc.learning.model`, whose files hold such a network."""
SCHEMA_VERSION = 1


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
    stored = load(content, label)
    if isinstance(stored, dict) and stored.get("format") == MODEL_FORMAT:
        stored = stored.get("network")
    return from_stored(stored, label)


def from_stored(stored: Any, label: str) -> BayesNet:
    """The network of an object that was read from JSON."""
    draft = Draft(label)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise draft.fault(None, f"expected a JSON object whose 'format' is {FORMAT!r}, got {shown(stored)}")
    version = stored.get("schema_version")
    if version != SCHEMA_VERSION:
        raise draft.fault(None, f"expected schema_version {SCHEMA_VERSION}, got {shown(version)}")
    variables = stored.get("variables")
    if not isinstance(variables, list) or not all(isinstance(variable, dict) for variable in variables):
        raise draft.fault(None, f"expected 'variables' to be a list of objects, got {shown(variables)}")
    for variable in variables:
        name, states = variable.get("name"), variable.get("states")
        if not isinstance(name, str):
            raise draft.fault(None, f"expected the name of a variable, got {shown(name)}")
        if not isinstance(states, list) or not all(isinstance(state, str | int | float) for state in states):
            raise draft.fault(None, f"expected 'states' of {name!r} to list texts and numbers, got {shown(states)}")
        draft.declare(name, states, None)
    for variable in variables:
        _define(variable, draft)
    return draft.finish()


def _define(variable: dict[str, Any], draft: Draft) -> None:
    name, parents = variable["name"], variable.get("parents")
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise draft.fault(None, f"expected 'parents' of {name!r} to list names, got {shown(parents)}")
    shape = draft.family(name, parents, None)
    stored = variable.pop("table", None)
    table = NestedNumbers.of(stored).floats(shape)
    if table is None:
        raise draft.fault(None, f"expected 'table' of {name!r} to be numbers in nested lists of the lengths {shape}")
    if not np.isfinite(table).all():
        raise draft.fault(None, f"expected probabilities in the table of {name!r}, got a number too large for one")
    draft.fill(name, table, None)


def load(content: bytes, label: str) -> Any:
    """The object of a JSON text, its tables as `NestedNumbers`, with an error that names the line."""
    n_bytes = len(content)
    text = decoded(content, label)
    del content
    try:
        return parse_with_numbers(text, n_bytes, ("table",), parse_float=_finite_float, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise NetworkFileError(label, error.lineno, f"expected JSON, but {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond all reason
        raise NetworkFileError(label, None, f"expected the JSON of a network, but {error}") from error


def _finite_float(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _refuse_constant(digits)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _storable_states(name: str, states: Sequence[Hashable]) -> list[str | int | float]:
    require_different(name, states)
    return [_storable(name, plain(state)) for state in states]


def _storable(name: str, state: Hashable) -> str | int | float:
    if isinstance(state, str):
        return _storable_text(state)
    if isinstance(state, int) or (isinstance(state, float) and isfinite(state)):
        return state
    raise ParameterError(f"JSON holds states that are texts, finite numbers and booleans. Got {state!r} of {name!r}.")


def _storable_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"JSON holds texts of UTF-8. Got {text!r} instead, half of a surrogate pair.") from error
    return text


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
