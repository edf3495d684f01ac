"""A network as JSON with all that is known about it; unknown facts are null.

Keys: schema_version (1), names, class, arcs ([parent, child] pairs), status, score, bound, gap, relative_gap, method,
tolerance, stop_reason, cache_is_safe, local_scores (by variable), arc_losses ([parent, child, what the score loses if
the arc is removed]), trace ([seconds, score, bound] in the order of time), provenance (constraints, the record of the
score file, the command), certificate if there is one (`exactbnc.proof.file`). A number that is not finite is null,
since JSON has no word for it.
"""

from __future__ import annotations

import json
import os
from math import fsum, isfinite
from typing import Any

from exactbnc.errors import NetworkFileError
from exactbnc.formats._arcs import ArcTable
from exactbnc.formats.network import Network
from exactbnc.formats.trace import trace_facts
from exactbnc.graph.dag import DAG
from exactbnc.graph.textfile import read_text
from scorecache.errors import ParameterError
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.system.nested import parse_with_numbers, with_lists
from scorecache.wording import shown

SUFFIXES = (".json",)
SCHEMA_VERSION = 1
PROOF_KEYS = ("stages", "states")
"""The long lists of a proof."""


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
    lines = [
        f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for key, value in facts(network).items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def parse(text: str, label: str) -> ArcTable:
    """Read the network of such an object; `label` names the file in errors."""
    return arcs_of(parse_facts(text, label))


def read_facts(path: str | os.PathLike[str]) -> tuple[DAG, dict[str, Any]]:
    """The network of a file and all that the file tells."""
    try:
        facts = parse_facts(read_text(path), os.fspath(path))
        return arcs_of(facts).dag(), facts
    except ParameterError as error:
        raise NetworkFileError(path, None, str(error)) from error


def arcs_of(facts: dict[str, Any]) -> ArcTable:
    """The variables and arcs of an object that was read."""
    table = ArcTable(facts["names"])
    for parent, child in facts["arcs"]:
        table.add_named(parent, child)
    return table


def parse_facts(text: str, label: str) -> dict[str, Any]:
    """Read the whole object; the version, the names and the arcs are checked, other facts are as they stand.

    The long lists of a certificate are `NestedNumbers`.
    """
    try:
        n_bytes = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        stored = parse_with_numbers(text, n_bytes, PROOF_KEYS)
        for key in stored if isinstance(stored, dict) else ():
            if key != "certificate":
                stored[key] = with_lists(stored[key])
    except json.JSONDecodeError as error:
        raise NetworkFileError(label, error.lineno, f"expected JSON, but {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond all reason
        raise NetworkFileError(label, None, f"expected the JSON of a network, but {error}") from error
    if not isinstance(stored, dict):
        raise NetworkFileError(label, None, f"expected a JSON object, got {text.lstrip()[:60]!r:.60}")
    version = stored.get("schema_version")
    if version != SCHEMA_VERSION:
        raise NetworkFileError(label, None, f"expected schema_version {SCHEMA_VERSION}, got {shown(version)}")
    names: Any = stored.get("names")
    arcs: Any = stored.get("arcs")
    if isinstance(names, list) and len(names) > MOST_VARIABLES:
        raise NetworkFileError(label, None, too_many_variables(f"{len(names):,}"))
    if not _is_list_of_texts(names) or len(set(names)) < len(names):
        raise NetworkFileError(label, None, f"expected 'names' to list different texts, got {shown(names)}")
    if any(_has_lone_surrogate(name) for name in names):
        raise NetworkFileError(label, None, f"expected 'names' that UTF-8 can hold, got {shown(names)}")
    if not isinstance(arcs, list) or not all(_is_list_of_texts(arc) and len(arc) == 2 for arc in arcs):
        raise NetworkFileError(label, None, f"expected 'arcs' to list [parent, child] pairs, got {shown(arcs)}")
    return stored


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _has_lone_surrogate(text: str) -> bool:
    """Half a character, which JSON can escape and no file can hold."""
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
