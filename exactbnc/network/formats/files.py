"""Bayesian networks with their tables in files: `write_bayesnet` and `load`; the suffix selects the format.

| suffix                        | format      | types of states | names and states             |
|-------------------------------|-------------|-----------------|------------------------------|
| `.json`                       | JSON        | kept; numbers   | any                          |
| `.bif`                        | BIF         | read as texts   | escaped if not plain ASCII   |
| `.xml`, `.xmlbif`, `.bifxml`  | XMLBIF 0.3  | read as texts   | escaped if odd white space   |
| `.sem`                        | pyAgrum's equations, of numbers alone | - | escaped if not plain ASCII |
| `.r`                          | bnlearn's `custom.fit`, not read back | texts | any                    |

A further `.gz` or `.xz` packs the file. Probabilities are read back to the last bit from every format that is read. A
`.json` may also be a `LinearGaussianBayesianNetwork` that pgmpy saved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats import bayesnetjson, bif, rscript, sem, xmlbif
from scorecache.errors import ParameterError
from scorecache.system.atomic import atomic_write
from scorecache.system.files import read_input
from scorecache.system.unpack import PACKED_SUFFIXES

_FORMATS = (bayesnetjson, bif, xmlbif, sem)

BAYESNET_WRITERS: dict[str, Callable[[BayesNet], tuple[str, list[str]]]] = {
    suffix: module.render for module in (*_FORMATS, rscript) for suffix in module.SUFFIXES
}
BAYESNET_READERS: dict[str, Callable[[bytes, str], BayesNet]] = {
    suffix: module.parse for module in _FORMATS for suffix in module.SUFFIXES
}
_KEEP_NUMBERS = (*bayesnetjson.SUFFIXES, *sem.SUFFIXES, *rscript.SUFFIXES)


def write_bayesnet(net: BayesNet, path: str | os.PathLike[str]) -> list[str]:
    """Write a Bayesian network to a file, completely or not at all; the suffix selects the format.

    Parameters
    ----------
    net : BayesNet
    path : str or path-like
        A file ending in .json, .bif, .xml, .xmlbif, .bifxml, .sem or .r, with a further .gz or .xz to pack it. JSON
        keeps everything; the others keep the network alone, XMLBIF with the class last, where WEKA expects it.

    Returns
    -------
    list of str
        A sentence for every name or state that had to be escaped. `load` undoes this; other programs show the
        escaped names.

    Raises
    ------
    ParameterError
        If the suffix is unknown, two states would be written alike, or the format has no place for the numbers of the
        network: BIF and XMLBIF have states alone, .sem numbers alone.

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
    suffix = bayesnet_suffix(path, BAYESNET_WRITERS)
    if net.numbers and suffix not in _KEEP_NUMBERS:
        raise ParameterError(
            f"only {', '.join(_KEEP_NUMBERS)} keep variables of numbers, such as {net.numbers[0]!r}. "
            f"Got {os.fspath(path)!r} instead."
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


def bayesnet_suffix(path: str | os.PathLike[str], known: Collection[str] = BAYESNET_READERS) -> str:
    """The ending of a path that selects the format, among those that are read or written."""
    file = Path(path)
    suffix = (file.with_suffix("") if file.suffix.lower() in PACKED_SUFFIXES else file).suffix.lower()
    if suffix not in known:
        raise ParameterError(
            f"the file of a Bayesian network must end in one of {', '.join(known)}. Got {os.fspath(path)!r} instead."
        )
    return suffix
