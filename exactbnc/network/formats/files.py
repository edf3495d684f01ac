"""Bayesian networks with their tables in files: `write_bayesnet` and `load`; the suffix selects the format.

| suffix                        | format      | types of states | names and states             |
|-------------------------------|-------------|-----------------|------------------------------|
| `.json`                       | JSON        | kept; numbers   | any                          |
| `.bif`                        | BIF         | read as texts   | escaped if not plain ASCII   |
| `.xml`, `.xmlbif`, `.bifxml`  | XMLBIF 0.3  | read as texts   | escaped if odd white space   |

A further `.gz` or `.xz` packs the file. Probabilities are read back to the last bit from every format.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats import bayesnetjson, bif, xmlbif
from scorecache.errors import ParameterError
from scorecache.system.atomic import atomic_write
from scorecache.system.files import read_input
from scorecache.system.unpack import PACKED_SUFFIXES

_FORMATS = (bayesnetjson, bif, xmlbif)

BAYESNET_WRITERS: dict[str, Callable[[BayesNet], tuple[str, list[str]]]] = {
    suffix: module.render for module in _FORMATS for suffix in module.SUFFIXES
}
BAYESNET_READERS: dict[str, Callable[[bytes, str], BayesNet]] = {
    suffix: module.parse for module in _FORMATS for suffix in module.SUFFIXES
}


def write_bayesnet(net: BayesNet, path: str | os.PathLike[str]) -> list[str]:
    """Write a Bayesian network to a file, completely or not at all; the suffix selects the format.

    Parameters
    ----------
    net : BayesNet
    path : str or path-like
        A file ending in .json, .bif, .xml, .xmlbif or .bifxml, with a further .gz or .xz to pack it. JSON keeps
        everything; the others keep the network alone, XMLBIF with the class last, where WEKA expects it.

    Returns
    -------
    list of str
        A sentence for every name or state that had to be escaped. `load` undoes this; other programs show the
        escaped names.

    Raises
    ------
    ParameterError
        If the suffix is unknown, two states would be written alike, or a network with numbers is not written as JSON.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from exactbnc import DAG
    >>> net = BayesNet(DAG.from_arcs(["rain"], []), (("no", "yes"),), (np.array([0.75, 0.25]),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bayesnet(net, f"{folder}/net.bif")
    ...     load(f"{folder}/net.bif").tables[0].tolist()
    []
    [0.75, 0.25]
    """
    suffix = bayesnet_suffix(path)
    if net.numbers and suffix not in bayesnetjson.SUFFIXES:
        raise ParameterError(
            f"only .json keeps variables of numbers, such as {net.numbers[0]!r}. Got {os.fspath(path)!r} instead."
        )
    text, notes = BAYESNET_WRITERS[suffix](net)
    with atomic_write(path) as (sink,):
        sink.write(text.encode())
    return notes


def load(path: str | os.PathLike[str]) -> BayesNet:
    """Read a Bayesian network with its tables, and all else that the file says of it.

    Parameters
    ----------
    path : str or path-like
        A file as `write_bayesnet` or another program writes it, possibly packed (.gz, .xz).

    Returns
    -------
    BayesNet

    Raises
    ------
    NetworkFileError
        If the content is not a network; the message names the line where possible.
    ParameterError
        If the suffix is unknown.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "network n { } variable x { type discrete [2] { a, b }; } probability (x) { table 0.25, 0.75; }"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "net.bif").write_text(text)
    ...     load(f"{folder}/net.bif").states
    (('a', 'b'),)
    """
    parse = BAYESNET_READERS[bayesnet_suffix(path)]
    return parse(read_input(path), os.fspath(path))


read_bayesnet = load


def bayesnet_suffix(path: str | os.PathLike[str]) -> str:
    """The ending of a path that selects the format."""
    file = Path(path)
    suffix = (file.with_suffix("") if file.suffix.lower() in PACKED_SUFFIXES else file).suffix.lower()
    if suffix not in BAYESNET_READERS:
        known = ", ".join(BAYESNET_READERS)
        raise ParameterError(
            f"the file of a Bayesian network must end in one of {known}. Got {os.fspath(path)!r} instead."
        )
    return suffix
