"""Facts as JSON on disk, whole whenever a process is killed: a file that is replaced, or one that grows by lines."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write(target: Path, facts: Mapping[str, Any]) -> None:
    """Replace the file in one step, so that it is whole whenever the process is killed."""
    unfinished = target.with_suffix(".part")
    unfinished.write_text(as_json(facts), encoding="utf-8")
    unfinished.replace(target)


def append(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line in one write, on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, (as_json(line) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def drop_unfinished_line(path: Path) -> None:
    """Cut what follows the last end of a line: a write that was broken off."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)


def as_json(value: Mapping[str, Any]) -> str:
    """One line."""
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: Any) -> Any:
    """Without what JSON does not know: infinite numbers become null, numpy's numbers Python's, the rest text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
