"""Where text goes: results to stdout, everything else to stderr, progress to a terminal only.

Colours come from rich, which leaves them out for NO_COLOR and for anything that is not a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA_VERSION = 1
STANDARD_STREAM = "-"
_UNLIMITED_WIDTH = 10_000

Listener = Callable[[int, int, int, int], None]


@dataclass(frozen=True)
class Output:
    """How a command prints; with `stdout_is_taken`, stdout carries a file and the result goes to stderr."""

    as_json: bool = False
    quiet: bool = False
    stdout_is_taken: bool = False

    def note(self, line: str) -> None:
        """Print a line beside the result, on stderr."""
        if not self.quiet:
            print(line, file=sys.stderr)

    def result(self, lines: Sequence[str], command: str, facts: Mapping[str, Any]) -> None:
        """Print the result: lines of text, or one JSON document with the same facts."""
        stream = sys.stderr if self.stdout_is_taken else sys.stdout
        if self.as_json:
            print(to_json(command, facts), file=stream)
        elif not self.quiet:
            print(*lines, sep="\n", file=stream)

    @contextmanager
    def progress(self, work: str = "scoring") -> Iterator[Listener | None]:
        """Yield a listener that draws a bar per level; None if stderr is not a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task(work, total=None)

            def listener(level: int, n_levels: int, done: int, total: int) -> None:
                description = f"level {level} of {n_levels}" if n_levels > 1 else work
                bars.update(task, description=description, completed=done, total=total)

            yield listener


def to_json(command: str, facts: Mapping[str, Any]) -> str:
    """One JSON document with its schema version and command."""
    return json.dumps({"schema_version": SCHEMA_VERSION, "command": command, **facts}, indent=2, ensure_ascii=False)


def write_text(text: str, target: str) -> None:
    """Write a text into a file, completely or not at all, or on stdout."""
    from scorecache.system.atomic import atomic_write

    if target == STANDARD_STREAM:
        sys.stdout.write(text)
        return
    with atomic_write(target) as (sink,):
        sink.write(text.encode())


def print_table(table: Table) -> None:
    """Print a table, as wide as the terminal or, in a pipe or file, as wide as it needs to be."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = _UNLIMITED_WIDTH
    console.print(table)


def check_target(path: str) -> None:
    """Raise OSError now if a file could not be written there after hours of work."""
    folder = os.path.dirname(path) or "."
    if path == STANDARD_STREAM:
        return
    if os.path.isdir(path):
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write {path}: no permission to write in the folder {folder}")


def describe_bytes(size: float) -> str:
    """A memory size for people, in powers of 1024."""
    if size < 1024:
        return f"{size:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} TiB"


def describe_seconds(seconds: float) -> str:
    """A rough time for people."""
    if seconds < 1:
        return "under a second"
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return "about a second" if seconds < 1.5 else f"about {seconds:.0f} seconds"


def describe_stop(reason: str) -> str:
    """Why a search ended before it had its proof.

    >>> describe_stop("time"), describe_stop("interrupted")
    ('stopped by time', 'interrupted')
    """
    return reason if reason == "interrupted" else f"stopped by {reason}"


def describe_score(name: str, parameters: Mapping[str, Any]) -> str:
    """A score with its parameters: `bdeu (ess = 1.0)`."""
    return name + (f" ({describe_parameters(parameters)})" if parameters else "")


def describe_parameters(parameters: Mapping[str, Any]) -> str:
    shown = {
        name: value if not isinstance(value, list | tuple) else f"{len(value)} x {len(value)} numbers"
        for name, value in parameters.items()
    }
    return ", ".join(f"{name} = {value}" for name, value in shown.items())


def describe_intervals(cut_points: Mapping[str, Sequence[float]]) -> str:
    """How many intervals each column has.

    >>> describe_intervals({"age": [30.5, 60.0], "id": []})
    'age 3, id 1 (1: no cut point)'
    """
    listed = ", ".join(f"{name} {len(points) + 1}" for name, points in cut_points.items())
    return listed + ("" if all(cut_points.values()) else " (1: no cut point)")


def describe_domain(recipe: Mapping[str, Any]) -> str:
    """A domain's recipe in a line: `anb, class dysp, at most 3 parents`."""
    parts = [recipe["family"] if recipe["family"] != "general" else "general networks"]
    if "class" in recipe:
        parts.append(f"class {recipe['class']}")
    if "k" in recipe:
        parts.append(f"k = {recipe['k']}")
    if "max_parents" in recipe:
        parts.append(f"at most {recipe['max_parents']} parents")
    for key, word in (("required_arcs", "required arcs"), ("forbidden_arcs", "forbidden arcs"), ("tiers", "tiers")):
        if key in recipe:
            parts.append(f"{word} ({len(recipe[key])})")
    return ", ".join(parts)
