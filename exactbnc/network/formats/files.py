"""Whole Bayesian networks in files, tables and all: `write_bayesnet` and `read_bayesnet`; the suffix says which format.

| suffix                        | format      | types of states | names and states             |
|-------------------------------|-------------|-----------------|------------------------------|
| `.json`                       | JSON        | kept            | any                          |
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

BAYESNET_WRITERS: dict[str, Callable[[BayesNet, str | None], tuple[str, list[str]]]] = {
    suffix: module.render for module in _FORMATS for suffix in module.SUFFIXES
}
BAYESNET_READERS: dict[str, Callable[[bytes, str], BayesNet]] = {
    suffix: module.parse for module in _FORMATS for suffix in module.SUFFIXES
}


def write_bayesnet(net: BayesNet, path: str | os.PathLike[str], *, class_name: str | None = None) -> list[str]:
    """Write a network, whole or not at all; a sentence for every name or state that the format made us change.

    `read_bayesnet` undoes these changes; other programs show the changed names. The class is written last into XMLBIF,
    which is where WEKA looks for it, and by name into JSON.
    """
    suffix = bayesnet_suffix(path)
    if class_name is not None:
        net.position(class_name)
    text, notes = BAYESNET_WRITERS[suffix](net, class_name)
    with atomic_write(path) as (sink,):
        sink.write(text.encode())
    return notes


def read_bayesnet(path: str | os.PathLike[str]) -> BayesNet:
    """Read a network; a NetworkFileError says what is wrong with the file."""
    parse = BAYESNET_READERS[bayesnet_suffix(path)]
    return parse(read_input(path), os.fspath(path))


def bayesnet_suffix(path: str | os.PathLike[str]) -> str:
    """The ending of a path that says the format, if it is known."""
    file = Path(path)
    suffix = (file.with_suffix("") if file.suffix.lower() in PACKED_SUFFIXES else file).suffix.lower()
    if suffix not in BAYESNET_READERS:
        known = ", ".join(BAYESNET_READERS)
        raise ParameterError(
            f"the file of a Bayesian network must end in one of {known}. Got {os.fspath(path)!r} instead."
        )
    return suffix
