"""bnlearn's model string, `[A][B|A][C|A:B]`, on a line of its own."""

from __future__ import annotations

import re

from exactbnc.errors import NetworkFileError
from exactbnc.formats._arcs import ArcTable
from exactbnc.formats.network import Network
from scorecache.errors import ParameterError
from scorecache.system.limits import MOST_NAME, MOST_VARIABLES, too_long_name, too_many_variables

SUFFIXES = (".txt", ".bn")

_NOT_IN_A_NAME = re.compile(r"[\[\]|:\s]")
_BLOCK = re.compile(r"\[([^\[\]|:]++)(?:\|([^\[\]|:]++(?::[^\[\]|:]++)*+))?+\]")
_PARENT = re.compile("[^:]+")
_NO_BLANKS = dict.fromkeys(
    (
        *range(0x09, 0x0E),
        *range(0x1C, 0x21),
        0x85,
        0xA0,
        0x1680,
        *range(0x2000, 0x200B),
        0x2028,
        0x2029,
        0x202F,
        0x205F,
        0x3000,
    )
)
"""For `str.translate`; a pattern would cut the text into pieces first."""


def render(network: Network) -> str:
    """The model string; a ParameterError for a name that it cannot hold."""
    for name in network.dag.names:
        if not name or _NOT_IN_A_NAME.search(name):
            raise ParameterError(f"a model string cannot hold the name {name!r}: it is one word without [ ] | and :")
    return f"{network.dag.modelstring}\n"


def parse(text: str, label: str) -> ArcTable:
    """Read a model string; `label` names the file in errors."""
    if text.count("[") > MOST_VARIABLES:
        raise NetworkFileError(label, None, too_many_variables(f"{text.count('['):,} blocks"))
    joined = text.translate(_NO_BLANKS)
    table, end = ArcTable(), 0
    for n_blocks, block in enumerate(_BLOCK.finditer(joined), 1):
        if block.start() != end:
            break
        end = block.end()
        if block.end(1) - block.start(1) > MOST_NAME:
            raise NetworkFileError(label, None, too_long_name(joined[block.start(1) : block.start(1) + 60]))
        if table.variable(block[1]) < n_blocks - 1:
            raise NetworkFileError(label, None, f"expected every variable once, got {block[1][:60]!r} twice")
    if not end or end != len(joined):
        came = re.compile(r"\s*+(.{0,60})", re.DOTALL).match(text)
        shown = "" if came is None else came[1].rstrip()
        raise NetworkFileError(label, None, f"expected a model string such as [A][B|A][C|A:B], got {shown!r:.60}")
    for block in _BLOCK.finditer(joined):
        for parent in _PARENT.finditer(block[2] or ""):
            table.add_named(parent[0], block[1])
    return table
