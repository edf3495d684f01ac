"""The text of a network's file."""

from __future__ import annotations

import os

from exactbnc.errors import NetworkFileError
from scorecache.system.files import read_input


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file, with the line of a byte that is not UTF-8."""
    return decoded(read_input(path), os.fspath(path))


def decoded(content: bytes, label: str) -> str:
    """The text of bytes; `label` names the file in errors."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetworkFileError(label, line, f"expected UTF-8 text, got byte {content[error.start]:#04x}") from error
