"""Networks in files: `write_network` and `read_network` for every format; the suffix says which.

| suffix         | format                                   | written | read |
|----------------|------------------------------------------|---------|------|
| `.json`        | JSON with all that is known              | yes     | yes  |
| `.dot`, `.gv`  | graphviz                                 | yes     | yes  |
| `.csv`         | adjacency matrix with a header of names  | yes     | yes  |
| `.txt`, `.bn`  | bnlearn's model string                   | yes     | yes  |
| `.gobnilp`     | GOBNILP's text                           | yes     | no   |

Networks with their tables are written by `write_bayesnet` and read by `read_bayesnet` (`exactbnc.export.bayesnets`);
`read_network` takes them too, and models, and leaves the tables out:

| suffix                        | format      | written | read |
|-------------------------------|-------------|---------|------|
| `.json`                       | JSON        | yes     | yes  |
| `.bif`                        | BIF         | yes     | yes  |
| `.xml`, `.xmlbif`, `.bifxml`  | XMLBIF 0.3  | yes     | yes  |
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactbnc.dag import DAG
from exactbnc.export import adjacency, dot, gobnilp, modelstring, netjson
from exactbnc.export._arcs import ArcTable
from exactbnc.export.network import Network, NetworkFileError, Origin, read_text
from exactbnc.export.nx import to_networkx
from exactbnc.export.plot import plot
from exactbnc.problem import Problem
from exactbnc.solution import Solution
from scorecache.atomic import atomic_write
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.export.bayesnets import read_bayesnet, write_bayesnet

__all__ = [
    "READERS",
    "WRITERS",
    "Network",
    "NetworkFileError",
    "Origin",
    "network_text",
    "plot",
    "read_bayesnet",
    "read_network",
    "to_networkx",
    "write_bayesnet",
    "write_network",
]

WRITERS: dict[str, Callable[[Network], str]] = {
    suffix: module.render for module in (netjson, dot, adjacency, modelstring, gobnilp) for suffix in module.SUFFIXES
}
_WITH_TABLES = re.compile(rb'"format"\s*+:\s*+"exactbnc\.(?:bayesnet|model)"')

_BEGINNING = 65_536

READERS: dict[str, Callable[[str, str], ArcTable]] = {
    suffix: module.parse for module in (netjson, dot, adjacency, modelstring) for suffix in module.SUFFIXES
}


def write_network(
    result: Solution | DAG,
    problem: Problem | None,
    path: str | os.PathLike[str],
    *,
    certificate: Mapping[str, Any] | None = None,
    origin: Origin | None = None,
) -> None:
    """Write a solution's network, or a network by itself, whole or not at all.

    A `.json` file holds a certificate, and the origin as provenance.
    """
    network = Network.of(result, problem, certificate=certificate, origin=origin)
    text = WRITERS[known_suffix(path, WRITERS)](network)
    with atomic_write(path) as (sink,):
        sink.write(text.encode())


def network_text(result: Solution | DAG, problem: Problem | None, suffix: str) -> str:
    """What `write_network` writes into a file with that suffix."""
    return WRITERS[suffix](Network.of(result, problem))


def read_network(path: str | os.PathLike[str]) -> DAG:
    """Read a network, also that of a file with tables or of a model; a NetworkFileError says what is wrong with it."""
    parse = READERS.get(Path(path).suffix.lower())
    if parse is None or holds_tables(path):
        return _of_tables(path)
    try:
        table = parse(read_text(path), os.fspath(path))
        return table.dag()  # the text is gone by now
    except ParameterError as error:
        raise NetworkFileError(path, None, str(error)) from error


def holds_tables(path: str | os.PathLike[str]) -> bool:
    """Does a file of JSON say in its beginning that it is a network with tables, or a model?"""
    if Path(path).suffix.lower() != ".json":
        return False
    with open(path, "rb") as file:
        return _WITH_TABLES.search(file.read(_BEGINNING)) is not None


def _of_tables(path: str | os.PathLike[str]) -> DAG:
    from exactbnc.export.bayesnets import BAYESNET_READERS, bayesnet_suffix, read_bayesnet

    try:
        bayesnet_suffix(path)
    except ParameterError:
        known_suffix(path, [*READERS, *(suffix for suffix in BAYESNET_READERS if suffix not in READERS)])
        raise
    return read_bayesnet(path).dag


def known_suffix(path: str | os.PathLike[str], known: Collection[str]) -> str:
    """The ending of a path, if it is one of those known."""
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise ParameterError(f"a network file must end in one of {', '.join(known)}. Got {os.fspath(path)!r} instead.")
    return suffix


def __getattr__(name: str) -> Any:
    """Networks with tables come with their own readers and writers, imported on first use."""
    if name not in ("read_bayesnet", "write_bayesnet"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from exactbnc.export import bayesnets

    return getattr(bayesnets, name)
