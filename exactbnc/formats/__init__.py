"""Networks in files: `write_network` and `read_network` for every format; the suffix selects it.

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
import sys
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
    """Write a network to a file, completely or not at all; the suffix selects the format.

    Parameters
    ----------
    result : Solution or DAG
        What is written: the network of a solution, or a network by itself.
    problem : Problem or None
        The problem it solves; `.json` and `.gobnilp` contain the scores of the families, which come from it.
    path : str or path-like
        A file ending in .json, .dot, .gv, .csv, .txt, .bn or .gobnilp.
    certificate : mapping, optional
        Written into a `.json` file.
    origin : Origin, optional
        The command and the time, as provenance in a `.json` file.

    Raises
    ------
    ParameterError
        If the suffix is unknown, there is no network, or the format cannot represent it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(DAG.from_modelstring("[A][B|A]"), None, f"{folder}/net.dot")
    ...     read_network(f"{folder}/net.dot").modelstring
    '[A][B|A]'
    """
    network = Network.of(result, problem, certificate=certificate, origin=origin)
    suffix = known_suffix(path, WRITERS)
    pieces = netjson.pieces(network) if suffix in netjson.SUFFIXES else [WRITERS[suffix](network)]
    with atomic_write(path) as (sink,):
        for piece in pieces:
            sink.write(piece.encode())


def network_text(result: Solution | DAG, problem: Problem | None, suffix: str) -> str:
    """The text that `write_network` writes into a file with that suffix.

    Examples
    --------
    >>> network_text(DAG.from_modelstring("[A][B|A]"), None, ".csv").split()
    ['A,B', '0,1', '0,0']
    """
    return WRITERS[suffix](Network.of(result, problem))


def read_network(path: str | os.PathLike[str]) -> DAG:
    """Read the structure of a network, also from a file with tables or from a model.

    Parameters
    ----------
    path : str or path-like
        A file in one of the formats of `write_network` (except .gobnilp) or of `write_bayesnet`.

    Returns
    -------
    DAG

    Raises
    ------
    NetworkFileError
        If the content is not a network; the message names the line where possible.
    ParameterError
        If the suffix is unknown.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "net.txt").write_text("[A][B|A]")
    ...     read_network(f"{folder}/net.txt").arcs
    (('A', 'B'),)
    """
    parse = READERS.get(Path(path).suffix.lower())
    if parse is None or holds_tables(path):
        return _of_tables(path)
    try:
        return parse(read_text(path), os.fspath(path))
    except ParameterError as error:
        raise NetworkFileError(path, None, str(error)) from error


def holds_tables(path: str | os.PathLike[str]) -> bool:
    """Whether a JSON file is a network with tables or a model, by its first 64 KiB."""
    if Path(path).suffix.lower() != ".json":
        return False
    with open_input(path) as file:
        return _WITH_TABLES.search(file.read(_BEGINNING)) is not None


def recorded_edge_penalty(path: str | os.PathLike[str]) -> float:
    """The penalty per arc under which the network of a JSON file was found; 0 if the file records none."""
    if Path(path).suffix.lower() != ".json" or holds_tables(path):
        return 0.0
    provenance = netjson.read_facts(path)[1].provenance
    constraints = None if provenance is None else provenance.get("constraints")
    penalty = constraints.get("edge_penalty") if isinstance(constraints, dict) else None
    if penalty is None:
        return 0.0
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= sys.float_info.max:
        raise NetworkFileError(
            path, None, f"expected the edge penalty to be a finite number of at least 0, got {penalty!r:.40}"
        )
    return float(penalty)


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
