"""A self-contained network: tables, class, cut points and provenance, in one JSON file.

Keys: format ("exactbnc.model"), schema_version (1), class (a name or null), cut_points (by column), missing_is_state
(columns whose state "missing" represents missing values), solution (see `solution_facts` and `search_facts`),
provenance (recipe, the steps before it, data, versions, command), and network, as in
`exactbnc.network.formats.bayesnetjson`. A value of a table is the state with the same text, or else the one state that
is the same number, so that 1.0 is 1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import NetworkFileError
from exactbnc.formats.network import Network
from exactbnc.formats.trace import trace_facts
from exactbnc.learning.discretize.tables import bins_of, numbers_of
from exactbnc.learning.learn import Learned
from exactbnc.network.bayesnet import UNKNOWN, BayesNet, Codes
from exactbnc.network.formats import bayesnetjson
from exactbnc.network.states import state_codes
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Solution
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED, MISSING_STATE
from scorecache.errors import DataError, ParameterError
from scorecache.system.atomic import atomic_write
from scorecache.system.files import read_input
from scorecache.wording import listing

SCHEMA_VERSION = 1


@dataclass(frozen=True, eq=False)
class Model:
    """A network as `exactbnc learn` writes it and `exactbnc predict` reads it.

    Parameters
    ----------
    net : BayesNet
    class_name : str, optional
        The class of a classifier.
    cut_points : mapping of names to ascending numbers
        For the columns that were discretised.
    missing_is_state : tuple of str
        The columns whose state "missing" represents missing values.
    solution, provenance : mapping
        Facts for people and reports; they do not change predictions.

    Raises
    ------
    ParameterError
        If a name is not a variable, or the cut points do not fit its states.
    """

    net: BayesNet
    class_name: str | None = None
    cut_points: Mapping[str, Sequence[float]] = field(default_factory=dict)
    missing_is_state: tuple[str, ...] = ()
    solution: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own_class = () if self.class_name is None else (self.class_name,)
        for name in (*own_class, *self.cut_points, *self.missing_is_state):
            self.net.position(name)
        for name in self.missing_is_state:
            if MISSING_STATE not in self.net.states[self.net.index[name]]:
                raise ParameterError(f"{name!r} has no state {MISSING_STATE!r} for missing values")
        for name, points in self.cut_points.items():
            n_bins = len(self.net.states[self.net.index[name]]) - (name in self.missing_is_state)
            if list(points) != sorted(set(points)) or len(points) + 1 != n_bins:
                raise ParameterError(f"the cut points of {name!r} must be ascending, one fewer than its intervals")

    @property
    def required_class(self) -> str:
        """The class; a ParameterError if the network has none."""
        if self.class_name is None:
            raise ParameterError("the network has no class; learn a classifier (--class NAME, target='NAME')")
        return self.class_name

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.net.states[self.net.index[self.required_class]]

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(name for name in self.net.names if name != self.class_name)

    def encode(self, dataset: Dataset) -> Codes:
        """The codes of a table's features, columns matched by name; what is absent, missing or never seen is unknown.

        A table that has no column of the model is refused.
        """
        return self._encoded(dataset, self.features)

    def encode_all(self, dataset: Dataset) -> Codes:
        """The codes of a table as `encode` gives them, with those of the class."""
        return self._encoded(dataset, self.net.names)

    def _encoded(self, dataset: Dataset, names: Sequence[str]) -> Codes:
        if names and not any(name in dataset.index for name in names):
            raise DataError(
                f"expected columns of the model, {listing(map(repr, names))}; "
                f"the table has none of them, but {listing(map(repr, dataset.names))}"
            )
        codes = np.full((self.net.n_vars, dataset.n_rows), UNKNOWN, dtype=np.uint16)
        for name in names:
            if name in dataset.index:
                codes[self.net.index[name]] = self._codes(name, dataset)
        return codes

    def unseen(self, dataset: Dataset) -> dict[str, list[str]]:
        """Per column, the values that are not states of the model, except missing ones."""
        found = {}
        for name in self.features:
            if name in dataset.index:
                states = dataset.states[dataset.index[name]]
                named = {MISSING_STATE, MEASURED} if name in dataset.measurements else {MISSING_STATE}
                codes = self._lookup(name, states)
                values = [str(s) for s, code in zip(states, codes, strict=True) if code == UNKNOWN and s not in named]
                if values:
                    found[name] = values
        return found

    def class_codes(self, dataset: Dataset) -> NDArray[np.uint16]:
        """The class of every row of a table that has the column, unknown where the model does not have it."""
        name = self.required_class
        states = dataset.states[dataset.index[name]]
        codes: NDArray[np.uint16] = _matched(self.classes, states)[dataset.column(name)]
        return codes

    def log_posterior(self, codes: Codes) -> NDArray[np.float64]:
        """log P(class | row), rows x classes."""
        return self.net.log_posterior(codes, self.required_class)

    def _codes(self, name: str, dataset: Dataset) -> NDArray[np.uint16]:
        """The code of every row of a table's column."""
        lookup = self._lookup(name, dataset.states[dataset.index[name]])
        codes: NDArray[np.uint16] = lookup[dataset.column(name)]
        if name in dataset.measurements and name in self.cut_points:
            is_number = ~np.isnan(dataset.measurements[name])
            codes[is_number] = bins_of(dataset.measurements[name][is_number], self.cut_points[name])
        return codes

    def _lookup(self, name: str, states: Sequence[Any]) -> NDArray[np.uint16]:
        """The code of every state of a table's column."""
        own = self.net.states[self.net.index[name]]
        if name in self.cut_points:
            lookup = bins_of(numbers_of(tuple(states)), self.cut_points[name])
            lookup[lookup > len(self.cut_points[name])] = UNKNOWN
        else:
            lookup = _matched(own, states)
        if MISSING_STATE in states:
            of_missing = own.index(MISSING_STATE) if name in self.missing_is_state else UNKNOWN
            lookup[list(states).index(MISSING_STATE)] = of_missing
        return lookup


def _matched(own: Sequence[Any], states: Sequence[Any]) -> NDArray[np.uint16]:
    """For every state of a table, the code of the model's state that it is."""
    return np.array([UNKNOWN if code is None else code for code in state_codes(own, states)], dtype=np.uint16)


def solution_facts(solution: Solution) -> dict[str, Any]:
    """The facts of the solution in a model file; a number that is not finite is null."""
    numbers = {"score": solution.score, "bound": solution.bound, "gap": solution.gap}
    return {
        "status": solution.status.value,
        **{name: value if value is not None and isfinite(value) else None for name, value in numbers.items()},
        "method": solution.method,
        "stop_reason": solution.stop_reason,
    }


def search_facts(solution: Solution, problem: Problem | None) -> dict[str, Any]:
    """The facts of the search in a model file beyond `solution_facts`, as in a network's JSON (`netjson`)."""
    network = Network.of(solution, problem)
    return {
        "tolerance": solution.tolerance,
        "cache_is_safe": solution.cache_is_safe,
        "local_scores": network.local_scores(),
        "arc_losses": network.arc_losses(),
        "trace": trace_facts(solution),
    }


def model_of(
    learned: Learned,
    dataset: Dataset,
    *,
    class_name: str | None,
    cut_points: Mapping[str, Sequence[float]],
    provenance: Mapping[str, Any],
) -> Model:
    """The model of a learned network.

    Parameters
    ----------
    learned : Learned
    dataset : Dataset
        The discretised data that the network was learned from.
    class_name : str, optional
    cut_points : mapping of names to numbers
        Those of columns that are not in the data any more are left out.
    provenance : mapping
        Where the network comes from, in the types of JSON.

    Returns
    -------
    Model
    """
    has_missing = (name for name, states in zip(dataset.names, dataset.states, strict=True) if MISSING_STATE in states)
    return Model(
        learned.net,
        class_name,
        {name: tuple(points) for name, points in cut_points.items() if name in dataset.index},
        tuple(name for name in has_missing if name != class_name),
        solution_facts(learned.solution) | search_facts(learned.solution, learned.problem),
        {"max_parents": learned.max_parents, **provenance},
    )


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model as JSON, completely or not at all.

    Parameters
    ----------
    model : Model
    path : str or path-like

    Examples
    --------
    >>> import tempfile
    >>> from exactbnc import DAG
    >>> net = BayesNet(DAG.from_arcs(["y"], []), (("a", "b"),), (np.array([0.25, 0.75]),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model(Model(net, "y"), f"{folder}/model.json")
    ...     read_model(f"{folder}/model.json").classes
    ('a', 'b')
    """
    network, _ = bayesnetjson.render(model.net, model.class_name)
    head = {
        "format": bayesnetjson.MODEL_FORMAT,
        "schema_version": SCHEMA_VERSION,
        "class": model.class_name,
        "cut_points": {name: list(map(float, points)) for name, points in model.cut_points.items()},
        "missing_is_state": list(model.missing_is_state),
        "solution": dict(model.solution),
        "provenance": dict(model.provenance),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    text = "{\n" + ",\n".join([*lines, f'  "network": {network.strip()}']) + "\n}\n"
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"a model file is UTF-8, but {error}") from error
    with atomic_write(path) as (sink,):
        sink.write(content)


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model, packed or not.

    Raises
    ------
    NetworkFileError
        The file is not a model; the message says what is wrong with it.
    """
    return parse_model(read_input(path), os.fspath(path))


def parse_model(content: bytes, label: str) -> Model:
    """Read the model of bytes; `label` names the file in errors."""
    if bayesnetjson.format_of(content, label) != bayesnetjson.MODEL_FORMAT:
        raise NetworkFileError(
            label, None, f"expected a model, a JSON object whose 'format' is {bayesnetjson.MODEL_FORMAT!r}"
        )
    version = bayesnetjson.decode(content, _Version, label).schema_version
    if version != SCHEMA_VERSION:
        raise NetworkFileError(label, None, f"expected schema_version {SCHEMA_VERSION}, got {version!r:.60}")
    stored = bayesnetjson.decode(content, _ModelFile, label)
    net = bayesnetjson.bayesnet_of(stored.network, label)
    points = {name: tuple(listed) for name, listed in stored.cut_points.items()}
    try:
        return Model(net, stored.class_name, points, tuple(stored.missing_is_state), stored.solution, stored.provenance)
    except ParameterError as error:
        raise NetworkFileError(label, None, f"expected the model to be complete, but {error}") from error


class _Version(msgspec.Struct):
    schema_version: int | float | str | None = None


class _ModelFile(msgspec.Struct, rename={"class_name": "class"}):
    class_name: str | None
    cut_points: dict[str, list[float]]
    missing_is_state: list[str]
    solution: dict[str, Any]
    provenance: dict[str, Any]
    network: bayesnetjson.NetFile
