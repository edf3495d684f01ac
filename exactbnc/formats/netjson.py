"""A network as JSON with all that is known about it; unknown facts are null.

Keys: schema_version (1), names, class, arcs ([parent, child] pairs), status, score, bound, gap, relative_gap, method,
tolerance, stop_reason, cache_is_safe, local_scores (by variable), arc_losses ([parent, child, what the score loses if
the arc is removed]), trace ([seconds, score, bound] in the order of time), provenance (constraints, the record of the
score file, the command), certificate if there is one (`exactbnc.proof.file`). A number that is not finite is null,
which JSON cannot represent otherwise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from math import fsum, isfinite
from typing import Any

import msgspec

from exactbnc.errors import NetworkFileError
from exactbnc.formats.network import Network
from exactbnc.formats.trace import trace_facts
from exactbnc.graph.dag import DAG
from scorecache.errors import ParameterError
from scorecache.system.files import read_input
from scorecache.system.jsonfile import decode_json
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.wording import shown

SUFFIXES = (".json",)
SCHEMA_VERSION = 1


class NetworkFile(msgspec.Struct, rename={"class_name": "class"}):
    """The object as it is read; other keys are ignored."""

    names: list[str]
    arcs: list[tuple[str, str]]
    class_name: str | None = None
    status: str | None = None
    score: float | None = None
    bound: float | None = None
    gap: float | None = None
    relative_gap: float | None = None
    method: str | None = None
    tolerance: float | None = None
    stop_reason: str | None = None
    cache_is_safe: bool | None = None
    local_scores: dict[str, float] | None = None
    arc_losses: list[tuple[str, str, float]] | None = None
    trace: list[tuple[float, float | None, float | None]] | None = None
    provenance: dict[str, Any] | None = None
    certificate: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def has_certificate(self) -> bool:
        return bytes(memoryview(self.certificate)[:5]) != b"null"


class _Head(msgspec.Struct):
    """What every version of the file has in common."""

    schema_version: int | float | str | None = None


def facts(network: Network) -> dict[str, Any]:
    """The object that is written."""
    solution = network.solution
    local_scores = network.local_scores()
    total = None if local_scores is None else fsum(local_scores.values())
    known = {
        "schema_version": SCHEMA_VERSION,
        "names": list(network.dag.names),
        "class": network.class_name,
        "arcs": [list(arc) for arc in network.dag.arcs],
        "status": None if solution is None else solution.status.value,
        "score": _finite(total if solution is None else solution.score),
        "bound": None if solution is None else _finite(solution.bound),
        "gap": None if solution is None else _finite(solution.gap),
        "relative_gap": None if solution is None else _finite(solution.relative_gap),
        "method": None if solution is None else solution.method,
        "tolerance": None if solution is None else solution.tolerance,
        "stop_reason": None if solution is None else solution.stop_reason,
        "cache_is_safe": None if solution is None else solution.cache_is_safe,
        "local_scores": local_scores,
        "arc_losses": network.arc_losses(),
        "trace": None if solution is None else trace_facts(solution),
        "provenance": network.provenance(),
    }
    return known if network.certificate is None else {**known, "certificate": network.certificate}


def render(network: Network) -> str:
    """The object with one key per line."""
    return "".join(pieces(network))


def pieces(network: Network) -> Iterator[str]:
    """The text of the object, piece by piece: a certificate may be long."""
    before = "{\n  "
    for key, value in facts(network).items():
        yield f"{before}{json.dumps(key)}: "
        yield from _lines(value) if key == "certificate" else [_text(value)]
        before = ",\n  "
    yield "\n}\n"


def _lines(value: Any) -> Iterator[str]:
    """A certificate: its parts, and what is stored as JSON already, on a line each."""
    if isinstance(value, msgspec.Raw):
        yield bytes(value).decode()
    elif isinstance(value, Mapping) and value:
        before = "{"
        for key, entry in value.items():
            yield f"{before}{json.dumps(key)}: "
            yield from _lines(entry)
            before = ", "
        yield "}"
    elif isinstance(value, list) and value and isinstance(value[0], msgspec.Raw | Mapping):
        before = "[\n"
        for entry in value:
            yield before
            yield from _lines(entry)
            before = ",\n"
        yield "]"
    else:
        yield _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def parse(text: str, label: str) -> DAG:
    """Read the network of such an object; `label` names the file in errors."""
    return dag_of(parse_facts(text.encode(), label), label)


def read_facts(path: str | os.PathLike[str]) -> tuple[DAG, NetworkFile]:
    """The network of a file and everything else in the file."""
    stored = parse_facts(read_input(path), os.fspath(path))
    return dag_of(stored, os.fspath(path)), stored


def as_dict(stored: NetworkFile) -> dict[str, Any]:
    """What was read by the keys of the file, without the certificate."""
    known = msgspec.structs.asdict(stored)
    del known["certificate"]
    return {**known, "class": known.pop("class_name")}


def dag_of(stored: NetworkFile, label: str) -> DAG:
    """The network of an object that was read."""
    try:
        return DAG.from_arcs(stored.names, stored.arcs)
    except ParameterError as error:
        raise NetworkFileError(label, None, str(error)) from error


def parse_facts(content: bytes, label: str) -> NetworkFile:
    """Read the whole object; `label` names the file in errors."""

    def fault(line: int | None, message: str) -> NetworkFileError:
        return NetworkFileError(label, line, message)

    version = decode_json(content, _Head, fault).schema_version
    if version != SCHEMA_VERSION:
        raise fault(None, f"expected schema_version {SCHEMA_VERSION}, got {shown(version)}")
    stored = decode_json(content, NetworkFile, fault)
    if len(stored.names) > MOST_VARIABLES:
        raise fault(None, too_many_variables(f"{len(stored.names):,}"))
    if len(set(stored.names)) < len(stored.names):
        raise fault(None, f"expected 'names' to list different texts, got {shown(stored.names)}")
    return stored


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
