"""What a report is about: a network with everything that its file contains.

A network of `exactbnc solve` and a model of `exactbnc learn`, both JSON, record how they were found; the other formats
contain a structure, or a structure with its tables, and everything else is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from exactbnc.errors import NetworkFileError
from exactbnc.formats import READERS, holds_tables, netjson, read_network
from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats.files import load
from exactbnc.posterior.posterior import StructurePosterior
from scorecache.errors import ParameterError

TracePoint = tuple[float, float | None, float | None]


@dataclass(frozen=True, eq=False)
class Subject:
    """A network and what is known of it; `search` has status, score, bound, gap, method, tolerance and so on.

    `has_certificate` is None where the format never has one.
    """

    source: str
    dag: DAG
    net: BayesNet | None = None
    class_name: str | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    local_scores: Mapping[str, float] = field(default_factory=dict)
    arc_losses: Mapping[tuple[str, str], float] = field(default_factory=dict)
    trace: Sequence[TracePoint] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    has_certificate: bool | None = None
    posterior: StructurePosterior | None = None

    def with_posterior(self, posterior: StructurePosterior | None) -> Subject:
        """The same with the probabilities of its arcs, if they are given."""
        if posterior is None:
            return self
        other = sorted(set(posterior.names) ^ set(self.dag.names))
        if other:
            raise ParameterError(
                f"the posterior and the network must have the same variables. Got {other[0]!r} in one of them alone."
            )
        return replace(self, posterior=posterior)

    def with_class(self, class_name: str | None) -> Subject:
        """The same with this class, if one is given; a model has its own."""
        if class_name is None or class_name == self.class_name:
            return self
        if self.net is not None and self.net.class_name is not None:
            raise ParameterError(f"the network's class is {self.class_name!r}. Got {class_name!r} instead.")
        if class_name not in self.dag.names:
            raise ParameterError(f"the class must be a variable of the network. Got {class_name!r} instead.")
        return replace(self, class_name=class_name)


def subject_of(network: BayesNet | DAG | str | os.PathLike[str]) -> Subject:
    """What a report says of a network: of an object what it knows, of a file what it contains.

    Parameters
    ----------
    network : BayesNet, DAG or path

    Returns
    -------
    Subject

    Raises
    ------
    NetworkFileError
        If the content of the file is not a network; the message says what is wrong with it.
    """
    if isinstance(network, BayesNet):
        return _of_net(network, "")
    if isinstance(network, DAG):
        return Subject("", network)
    if not isinstance(network, str | os.PathLike):
        raise ParameterError(f"network must be a BayesNet, a DAG or a path. Got {type(network).__name__} instead.")
    return read_subject(network)


def read_subject(path: str | os.PathLike[str]) -> Subject:
    """The network or model of a file of any format."""
    name = Path(path).name
    suffix = Path(path).suffix.lower()
    if suffix == ".json" and not holds_tables(path):
        return _of_network(path, name)
    if suffix in READERS and suffix != ".json":
        return Subject(name, read_network(path))
    return _of_net(load(path), name)


def _of_net(net: BayesNet, name: str) -> Subject:
    """What a network with its tables says of itself."""
    found = dict(net.solution)
    return Subject(
        name,
        net.dag,
        net,
        net.class_name,
        found,
        _local_scores(found, net.dag),
        _arc_losses(found, net.dag),
        _trace(found),
        dict(net.provenance),
    )


def _of_network(path: str | os.PathLike[str], name: str) -> Subject:
    dag, stored = netjson.read_facts(path)
    stored_facts, class_name = netjson.as_dict(stored), stored.class_name
    if class_name is not None and class_name not in dag.names:
        raise NetworkFileError(path, None, f"expected 'class' to be one of the names, got {class_name!r:.60}")
    return Subject(
        name,
        dag,
        class_name=class_name,
        search=stored_facts if stored_facts.get("status") is not None else {},
        local_scores=_local_scores(stored_facts, dag),
        arc_losses=_arc_losses(stored_facts, dag),
        trace=_trace(stored_facts),
        provenance=stored.provenance or {},
        has_certificate=stored.has_certificate,
    )


def _local_scores(stored_facts: Mapping[str, Any], dag: DAG) -> dict[str, float]:
    stored = stored_facts.get("local_scores")
    if not isinstance(stored, dict):
        return {}
    return {name: float(score) for name, score in stored.items() if name in dag.names and is_number(score)}


def _arc_losses(stored_facts: Mapping[str, Any], dag: DAG) -> dict[tuple[str, str], float]:
    stored = stored_facts.get("arc_losses")
    entries = stored if isinstance(stored, list) else []
    arcs = set(dag.arcs)
    return {
        (entry[0], entry[1]): float(entry[2])
        for entry in entries
        if isinstance(entry, list | tuple)
        and len(entry) == 3
        and all(isinstance(name, str) for name in entry[:2])
        and (entry[0], entry[1]) in arcs
        and is_number(entry[2])
    }


def _trace(stored_facts: Mapping[str, Any]) -> list[TracePoint]:
    stored = stored_facts.get("trace")
    points = []
    for entry in stored if isinstance(stored, list) else []:
        if isinstance(entry, list | tuple) and len(entry) == 3 and is_number(entry[0]):
            score, bound = (float(value) if is_number(value) else None for value in entry[1:])
            points.append((float(entry[0]), score, bound))
    return sorted(points, key=lambda point: point[0])


def is_number(value: Any) -> bool:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
