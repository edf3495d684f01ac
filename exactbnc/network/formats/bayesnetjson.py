"""A Bayesian network as JSON: the format that keeps everything, and the types of the states.

Keys: format ("exactbnc.bayesnet"), schema_version (1), class (a name or null), cut_points (by column), solution (what
the search found), class_fit (slope, shift by class, and by name the weights that rows without unknown values are
classified by, nested as the table is, or of numbers the predictive tables `student`, `exactbnc.network.student`),
provenance (recipe, steps, data, versions, command), and variables: a list of name, states, parents (names) and table,
lists within lists with one level per parent as listed and the variable's states innermost. A variable of numbers has
the type "number" in place of states; its table has a level per parent with states and innermost the intercept, the
coefficients of the parents that are numbers, and the variance. Keys that would be empty are left out. States are texts,
integers, finite floats and booleans; a numpy scalar is stored as the Python value it equals. Numbers are read back to
the last bit. Files with the format "exactbnc.model", which earlier versions wrote, have the network in the key
`network` and are read too, and so are those that pgmpy writes (`exactbnc.network.formats.pgmpyjson`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import isfinite
from types import GenericAlias
from typing import Any, TypeVar

import msgspec
import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.class_model import ClassFit
from exactbnc.network.codes import Floats
from exactbnc.network.formats import pgmpyjson
from exactbnc.network.formats._draft import Draft
from exactbnc.network.safe_names import plain, require_different
from scorecache.errors import ParameterError
from scorecache.system.jsonfile import decode_json
from scorecache.wording import shown

SUFFIXES = (".json",)
FORMAT = "exactbnc.bayesnet"
MODEL_FORMAT = "exactbnc.model"
"""Of files that contain such a network in the key `network`."""
SCHEMA_VERSION = 1
STATES, NUMBER = "states", "number"
"""The types of variables."""

T = TypeVar("T")


class _Variable(msgspec.Struct):
    name: str
    parents: list[str]
    table: msgspec.Raw
    states: list[str | int | float | bool] = []
    type: str = STATES


class _ClassFit(msgspec.Struct):
    slope: float
    shift: list[float] | None = None
    weights: dict[str, msgspec.Raw] | None = None
    student: dict[str, msgspec.Raw] | None = None


class _NetFile(msgspec.Struct, rename={"class_name": "class"}):
    """The object of a network, its tables still as text: their depth depends on the parents."""

    variables: list[_Variable]
    format: str | None = None
    schema_version: int | float | str | None = None
    class_name: str | None = None
    cut_points: dict[str, list[float]] = {}
    solution: dict[str, Any] = {}
    provenance: dict[str, Any] = {}
    class_fit: _ClassFit | None = None


class _ModelFile(msgspec.Struct, rename={"class_name": "class"}):
    """The object of a model: what is known of the network beside it."""

    network: _NetFile
    class_name: str | None
    cut_points: dict[str, list[float]]
    solution: dict[str, Any]
    provenance: dict[str, Any]


class _Head(msgspec.Struct):
    format: str | None = None
    schema_version: int | float | str | None = None
    cpds: msgspec.Raw = msgspec.Raw()


def render(net: BayesNet) -> tuple[str, list[str]]:
    """The text, one variable a line; nothing is ever escaped."""
    known = {
        "cut_points": {name: list(map(float, points)) for name, points in net.cut_points.items()},
        "solution": dict(net.solution),
        "provenance": dict(net.provenance),
        "class_fit": _fit_facts(net),
    }
    head = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "class": None if net.class_name is None else _storable_text(net.class_name),
        **{key: value for key, value in known.items() if value},
    }
    variables = [
        {
            "name": _storable_text(net.names[v]),
            **_kind(net, v),
            "parents": [net.names[parent] for parent in net.dag.parents[v]],
            "table": net.tables[v].tolist(),
        }
        for v in range(net.n_vars)
    ]
    listed = ",\n".join(f"    {_dump(variable)}" for variable in variables)
    try:
        lines = [f"  {_dump(key)}: {_dump(value)}" for key, value in head.items()]
    except (TypeError, ValueError) as error:  # a number that is not finite, or what JSON has no type for
        raise ParameterError(f"solution and provenance must be of the types of JSON, but {error}") from error
    return _storable_text("{\n" + ",\n".join([*lines, f'  "variables": [\n{listed}\n  ]']) + "\n}\n"), []


def _kind(net: BayesNet, v: int) -> dict[str, Any]:
    """What the values of a variable are."""
    return {"type": NUMBER} if net.is_number[v] else {"states": _storable_states(net.names[v], net.states[v])}


def _fit_facts(net: BayesNet) -> dict[str, Any]:
    """The class fit in the types of JSON, empty without one."""
    fit = net.class_fit
    if fit is None:
        return {}
    found: dict[str, Any] = {"slope": fit.slope}
    if fit.shift is not None:
        found["shift"] = fit.shift.tolist()
    if fit.weights is not None:
        named = zip(net.names, fit.weights, strict=True)
        found["weights"] = {name: own.tolist() for name, own in named if own is not None}
    if fit.student is not None:
        named = zip(net.names, fit.student, strict=True)
        found["student"] = {name: own.tolist() for name, own in named if own is not None}
    return found


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    head = _decode(content, _Head, label)
    if head.format is None and bytes(head.cpds):
        return pgmpyjson.parse(content, label)
    _check_head(head, (FORMAT, MODEL_FORMAT), label)
    if head.format == FORMAT:
        return _bayesnet_of(_decode(content, _NetFile, label), label)
    model = _decode(content, _ModelFile, label)
    _check_head(model.network, (FORMAT,), label)
    stored = model.network
    stored.class_name, stored.cut_points = model.class_name, model.cut_points
    stored.solution, stored.provenance = model.solution, model.provenance
    return _bayesnet_of(stored, label)


def _bayesnet_of(stored: _NetFile, label: str) -> BayesNet:
    """The network of an object that was read from JSON."""
    draft = Draft(label)
    for variable in stored.variables:
        _declare(variable, draft)
    for variable in stored.variables:
        shape = draft.family(variable.name, variable.parents, None)
        draft.fill(variable.name, _table(variable, shape, draft), None)
    try:
        return replace(
            draft.finish(),
            class_name=stored.class_name,
            cut_points={name: tuple(listed) for name, listed in stored.cut_points.items()},
            solution=stored.solution,
            provenance=stored.provenance,
            class_fit=_class_fit(stored, draft),
        )
    except NetworkFileError:
        raise
    except ParameterError as error:
        raise draft.fault(None, f"expected a consistent network, but {error}") from error


def _declare(variable: _Variable, draft: Draft) -> None:
    if variable.type == STATES:
        return draft.declare(variable.name, variable.states, None)
    if variable.type != NUMBER:
        kinds = f"expected the type of {variable.name!r} to be {STATES!r} or {NUMBER!r}"
        raise draft.fault(None, f"{kinds}, got {shown(variable.type)}")
    if variable.states:
        raise draft.fault(None, f"{variable.name!r} is of the type {NUMBER!r}, and has no states")
    draft.declare_number(variable.name, None)


def _class_fit(stored: _NetFile, draft: Draft) -> ClassFit | None:
    """What was fitted to the class; the weights have the shapes of the tables, as far as there are such axes."""
    fit = stored.class_fit
    if fit is None:
        return None
    arities = {variable.name: len(variable.states) for variable in stored.variables}

    def of_states(variable: _Variable) -> tuple[int, ...]:
        return tuple(arities[name] for name in (*variable.parents, variable.name))

    def of_numbers(variable: _Variable) -> tuple[int, ...]:
        sizes = [arities[name] for name in variable.parents if arities[name]]
        k = len(variable.parents) - len(sizes)
        return (*sizes, 2 + k + k * k)

    shift = None if fit.shift is None else np.array(fit.shift, dtype=np.float64)
    weights = _by_variable(fit.weights, "weights", of_states, stored, draft)
    return ClassFit(fit.slope, shift, weights, _by_variable(fit.student, "student", of_numbers, stored, draft))


def _by_variable(
    given: dict[str, msgspec.Raw] | None,
    what: str,
    shape_of: Callable[[_Variable], tuple[int, ...]],
    stored: _NetFile,
    draft: Draft,
) -> tuple[Floats | None, ...] | None:
    """Arrays by the names of variables, None for the variables that are not named."""
    if given is None:
        return None
    names = {variable.name for variable in stored.variables}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise draft.fault(None, f"{what!r} name {unknown[0]!r}, which is not a variable")
    return tuple(
        _numbers(given[variable.name], shape_of(variable), f"{what} of {variable.name!r}", draft)
        if variable.name in given
        else None
        for variable in stored.variables
    )


def _check_head(head: _Head | _NetFile, formats: Sequence[str], label: str) -> None:
    if head.format not in formats:
        raise NetworkFileError(
            label,
            None,
            f"expected a network with its tables, a JSON object whose 'format' is {FORMAT!r}, got {shown(head.format)}",
        )
    if head.schema_version != SCHEMA_VERSION:
        raise NetworkFileError(
            label, None, f"expected schema_version {SCHEMA_VERSION}, got {shown(head.schema_version)}"
        )


def _decode(content: bytes, kind: type[T], label: str) -> T:
    """The object of a JSON text, with a NetworkFileError where it is another one."""
    return decode_json(content, kind, lambda line, message: NetworkFileError(label, line, message))


def _table(variable: _Variable, shape: tuple[int, ...], draft: Draft) -> Floats:
    """The table of a variable."""
    return _numbers(variable.table, shape, f"'table' of {variable.name!r}", draft)


def _numbers(text: msgspec.Raw, shape: tuple[int, ...], what: str, draft: Draft) -> Floats:
    """The numbers, in lists nested as deep as the shape is long."""

    def fault(line: int | None, message: str) -> NetworkFileError:
        expected = f"expected {what} to be numbers in nested lists of the lengths {shape}"
        return draft.fault(None, f"{expected}; {message}" if message else expected)

    kind: Any = float
    for _ in shape:
        kind = GenericAlias(list, (kind,))
    nested = decode_json(bytes(text), kind, fault)
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
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_python_value)


def _python_value(value: Any) -> Any:
    """The Python value of a numpy scalar."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
