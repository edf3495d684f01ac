"""bnlearn's model string, `[A][B|A][C|A:B]`, on a line of its own."""

from __future__ import annotations

import re

from exactbnc.dag import DAG
from exactbnc.export.network import Network, NetworkFileError
from scorecache.errors import ParameterError

SUFFIXES = (".txt", ".bn")

_NOT_IN_A_NAME = re.compile(r"[\[\]|:\s]")
_BLOCK = r"\[[^\[\]|:]++(?:\|[^\[\]|:]++(?::[^\[\]|:]++)*+)?+\]"


def render(network: Network) -> str:
    """The model string; a ParameterError for a name that it cannot hold."""
    for name in network.dag.names:
        if not name or _NOT_IN_A_NAME.search(name):
            raise ParameterError(f"a model string cannot hold the name {name!r}: it is one word without [ ] | and :")
    return f"{network.dag.modelstring}\n"


def parse(text: str, label: str) -> DAG:
    """Read a model string; `label` names the file in errors."""
    joined = re.sub(r"\s", "", text)
    if not re.fullmatch(f"(?:{_BLOCK})++", joined):
        raise NetworkFileError(
            label, None, f"expected a model string such as [A][B|A][C|A:B], got {text.strip()!r:.60}"
        )
    return DAG.from_modelstring(joined)
