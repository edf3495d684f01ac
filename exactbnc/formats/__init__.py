"""Networks in files: `write_network` and `read_network` for every format; the suffix says which.

| suffix         | format                                   | written | read |
|----------------|------------------------------------------|---------|------|
| `.json`        | JSON with all that is known              | yes     | yes  |
| `.dot`, `.gv`  | graphviz                                 | yes     | yes  |
| `.csv`         | adjacency matrix with a header of names  | yes     | yes  |
| `.txt`, `.bn`  | bnlearn's model string                   | yes     | yes  |
| `.gobnilp`     | GOBNILP's text                           | yes     | no   |

Networks with their tables are written by `write_bayesnet` and read by `read_bayesnet`
(`exactbnc.network.formats.files`); `read_network` takes them too, and models, and leaves the tables out:

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
from typing import Any

from exactbnc.errors import NetworkFileError
from exactbnc.formats import adjacency, dot, gobnilp, modelstring, netjson
from exactbnc.formats.network import Network, Origin
from exactbnc.graph.dag import DAG
from exactbnc.graph.textfile import read_text
from exactbnc.network.formats.files import BAYESNET_READERS, bayesnet_suffix, read_bayesnet
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Solution
from scorecache.errors import ParameterError
from scorecache.system.atomic import atomic_write
from scorecache.system.files import open_input

__all__ = [
    "READERS",
    "WRITERS",
    "Network",
    "Origin",
    "network_text",
    "read_network",
    "write_network",
]

WRITERS: dict[str, Callable[[Network], str]] = {
    suffix: module.render for module in (netjson, dot, adjacency, modelstring, gobnilp) for suffix in module.SUFFIXES
}
_WITH_TABLES = re.compile(rb'"format"\s*+:\s*+"exactbnc\.(?:bayesnet|model)"')

_BEGINNING = 65_536

READERS: dict[str, Callable[[str, str], DAG]] = {
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
        return parse(read_text(path), os.fspath(path))
    except ParameterError as error:
        raise NetworkFileError(path, None, str(error)) from error


def holds_tables(path: str | os.PathLike[str]) -> bool:
    """Does a file of JSON say in its beginning that it is a network with tables, or a model?"""
    if Path(path).suffix.lower() != ".json":
        return False
    with open_input(path) as file:
        return _WITH_TABLES.search(file.read(_BEGINNING)) is not None


def _of_tables(path: str | os.PathLike[str]) -> DAG:
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
