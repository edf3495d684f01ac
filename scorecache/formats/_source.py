"""A score file as lines of words: unpacked, numbered, without comments and blank lines.

Words are bytes. Blanks are those of ASCII, as for the programs that write such files, and only the names of variables
need to be UTF-8; what stands in a comment does not matter.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Protocol

from scorecache.errors import ScoreFileError
from scorecache.system.files import limited, open_input
from scorecache.system.limits import MOST_VARIABLES
from scorecache.system.unpack import UnpackError

STDIO = "-"

_COMMENT = ord("#")
_CHUNK_BYTES = 1 << 20
_MOST_WORDS = MOST_VARIABLES + 2
"""No line has more words; the remainder stays one word, which is no name."""


class Source:
    """An open score file; `line` is the number of the line read last."""

    def __init__(self, label: str, file: _Readable) -> None:
        self.label = label
        self.line = 1
        self._reader = _HashingReader(file)

    def rows(self) -> Iterator[list[bytes]]:
        """The words of every line that has any and is no comment."""
        lines = io.BufferedReader(self._reader, _CHUNK_BYTES)
        try:
            first = lines.readline().removeprefix(codecs.BOM_UTF8)
            for self.line, text in enumerate(chain([first], lines), 1):
                words = text.split(None, _MOST_WORDS)
                if words and words[0][0] != _COMMENT:
                    yield words
        except UnpackError as error:
            raise self.fault(str(error)) from error

    def fault(self, message: str, *, line: int | None = None) -> ScoreFileError:
        """The error to raise for the line read last, or for an earlier one."""
        return ScoreFileError(self.label, self.line if line is None else line, message)

    def sha256(self) -> str:
        """Of the unpacked bytes read so far: of the whole file once the rows are used up."""
        return self._reader.sha256.hexdigest()


@contextmanager
def open_source(path: str) -> Iterator[Source]:
    """Open a file for reading, unpacked by its suffix; `-` is standard input."""
    if path == STDIO:
        yield Source("<stdin>", limited(sys.stdin.buffer, "<stdin>"))
        return
    with open_input(path, count_first=True) as file:
        yield Source(path, file)


def to_score(word: bytes) -> float:
    """The number a word stands for; a ValueError if it is none (Python's own 1_000 is none)."""
    if b"_" in word:
        raise ValueError(word)
    return float(word)


def is_score(word: bytes) -> bool:
    """Can a word be read as a number?"""
    try:
        to_score(word)
    except ValueError:
        return False
    return True


def shown(words: bytes | list[bytes], *, most: int = 60) -> str:
    """What came, quoted for an error message and cut where it is long."""
    came = words if isinstance(words, bytes) else b" ".join(words)
    came = came if len(came) <= most else came[:most] + b"..."
    try:
        return repr(came.decode())
    except UnicodeDecodeError:
        return repr(came).removeprefix("b")


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _HashingReader(io.RawIOBase):
    """Passes bytes on and hashes them on the way, so that a file is read once."""

    def __init__(self, file: _Readable) -> None:
        self.sha256 = hashlib.sha256()
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.sha256.update(data)
        return len(data)
