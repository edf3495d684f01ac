"""bnlearn's model string, `[A][B|A][C|A:B]`, on a line of its own."""

from __future__ import annotations

import re

from exactbnc.errors import NetworkFileError
from exactbnc.formats.network import Network
from exactbnc.graph.dag import DAG
from scorecache.errors import ParameterError
from scorecache.system.limits import MOST_VARIABLES, too_many_variables

SUFFIXES = (".txt", ".bn")

_NOT_IN_A_NAME = re.compile(r"[\[\]|:\s]")
_BLOCK = re.compile(r"\[([^\[\]|:]++)(?:\|([^\[\]|:]++(?::[^\[\]|:]++)*+))?+\]")


def render(network: Network) -> str:
    """The model string; a ParameterError for a name that it cannot represent."""
    for name in network.dag.names:
        if not name or _NOT_IN_A_NAME.search(name):
            raise ParameterError(f"a model string cannot represent the name {name!r}: use a word without [ ] | :")
    return f"{network.dag.modelstring}\n"


def parse(text: str, label: str) -> DAG:
    """Read a model string; `label` names the file in errors."""
    joined = "".join(text.split())
    parents: dict[str, list[str]] = {}
    end = 0
    for block in _BLOCK.finditer(joined):
        if block.start() != end:
            break
        end = block.end()
        if block[1] in parents:
            raise NetworkFileError(label, None, f"expected every variable once, got {block[1][:60]!r} twice")
        if len(parents) >= MOST_VARIABLES:
            raise NetworkFileError(label, None, too_many_variables())
        parents[block[1]] = block[2].split(":") if block[2] else []
    if not end or end != len(joined):
        got = text.strip()[:60]
        raise NetworkFileError(label, None, f"expected a model string such as [A][B|A][C|A:B], got {got!r:.60}")
    return DAG.from_arcs(parents, ((parent, child) for child, listed in parents.items() for parent in listed))
