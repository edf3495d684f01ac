"""Our docstrings as Markdown: doctests get a fence, and columns of names beside explanations become lists."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

_DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> )\S.*\n?|^ .*\n?)*)+", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) {2,}(\S.*)$")


class Readable(Extension):
    """Rewrites every docstring that is loaded."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """The same text with its doctests fenced and its columns as a list."""
    fenced = _DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
    return "\n".join(_listed(fenced.split("\n")))


def _listed(lines: list[str]) -> list[str]:
    """Lines such as `name     meaning`, with more of the meaning indented below, as list entries."""
    shown: list[str] = []
    in_entry = False
    for line in lines:
        if entry := _ENTRY.match(line):
            shown += ([""] if not in_entry else []) + [f"- `{entry[1]}`: {entry[2]}"]
            in_entry = True
        elif in_entry and line.startswith("    "):
            shown.append(f"  {line.strip()}")
        else:
            in_entry = False
            shown.append(line)
    return shown
