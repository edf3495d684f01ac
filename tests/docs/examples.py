"""Run the examples of a page as they are printed, and compare what they print.

The `python` and `console` blocks of a page run one after the other, in one namespace and one folder. In a console block
a line that begins with `$ ` is a command, and the lines below it are lines of its output; a `text` block right after a
`python` block holds lines that it prints. Lines may be left out, and `...` stands for any text.

A block titled with the name of another program is that program's: it has a namespace of its own, and runs where the
program is installed.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from exactbnc.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

PEERS = {"pgmpy": "pgmpy", "pyAgrum": "pyagrum"}
"""The title of a block, and the module that must be there."""

_BLOCK = re.compile(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """One piece of code or one command, where it stands, and the lines it should print."""

    line: int
    language: str
    code: str
    expected: tuple[str, ...] = ()
    peer: str | None = None

    @property
    def can_run(self) -> bool:
        """Whether the program it is for is installed."""
        return self.peer is None or find_spec(PEERS[self.peer]) is not None


@dataclass
class Runner:
    """Runs examples in the current folder; `read` gives what was printed since it was last called."""

    read: Any
    namespaces: dict[str | None, dict[str, Any]] = field(default_factory=dict)

    def run(self, example: Example, where: str) -> str:
        if example.language == "python":
            code = "\n" * (example.line - 1) + example.code
            exec(compile(code, where, "exec"), self.namespaces.setdefault(example.peer, {"__name__": "example"}))
        else:
            program, *arguments = shlex.split(example.code)
            assert program == "exactbnc", f"{where}:{example.line}: only exactbnc can be run, not {program}"
            code = main(arguments)
            assert code == 0, f"{where}:{example.line}: exit code {code}: {self.read().err}"
        return str(self.read().out)


def examples_of(text: str) -> list[Example]:
    """The examples of a page, in order."""
    found: list[Example] = []
    end_of_python = -1
    for block in _BLOCK.finditer(text):
        language, title, body = block.groups()
        line = text.count("\n", 0, block.start()) + 2
        if language == "python":
            found.append(Example(line, language, body, peer=title if title in PEERS else None))
            end_of_python = block.end()
        elif language == "console":
            found += _commands(body, line)
        elif language == "text" and text[end_of_python : block.start()].isspace():
            last = found.pop()
            found.append(replace(last, expected=tuple(body.splitlines())))
    return found


def _commands(body: str, line: int) -> Iterator[Example]:
    first, *commands = re.split(r"^\$ ", body, flags=re.MULTILINE)
    assert not first.strip(), f"a console block must begin with a command, not with {first!r}"
    for command in commands:
        code, *expected = command.splitlines()
        yield Example(line, "console", code, tuple(row for row in expected if row.strip()))
        line += len(command.splitlines())


def first_line_not_printed(expected: tuple[str, ...], printed: str) -> str | None:
    """The first expected line that does not come, in this order, among the lines printed."""
    rows = iter(printed.splitlines())
    for line in expected:
        pattern = re.compile(".*".join(map(re.escape, line.strip().split("..."))))
        if not any(pattern.fullmatch(row.strip()) for row in rows):
            return line
    return None
