"""The one place where files from outside are opened: with a limit on their size, unpacked by their suffix.

A file of more than `DEFAULT_MAX_FILE_SIZE` bytes (4 GiB) is refused before anything of it is read; `max_file_size`
changes the limit, as `--max-file-size` does. A pipe has no size, so its bytes are counted as they come. What a packed
file may unpack to is limited in `scorecache.system.unpack`.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from scorecache.errors import InputError, ParameterError
from scorecache.system.unpack import UnpackError, unpacked

DEFAULT_MAX_FILE_SIZE = 4 * 2**30

_max_file_size: ContextVar[int] = ContextVar("_max_file_size", default=DEFAULT_MAX_FILE_SIZE)


class FileSizeError(InputError):
    """A file is larger than the limit."""

    def __init__(self, label: str) -> None:
        super().__init__(
            f"{label}: expected a file of at most {_max_file_size.get():,} bytes, got a larger one; "
            "raise the limit if that is right (max_file_size)"
        )


@contextmanager
def max_file_size(n_bytes: int) -> Iterator[None]:
    """Change the limit on the size of files that are read within the block.

    Parameters
    ----------
    n_bytes
        The new limit in bytes; it applies to the file as it is stored, packed or not.

    Examples
    --------
    >>> with max_file_size(8 * 2**30):
    ...     pass  # read_cache("large.jkl")
    """
    if n_bytes < 1:
        raise ParameterError(f"the largest size of a file must be at least 1 byte. Got {n_bytes} instead.")
    before = _max_file_size.set(n_bytes)
    try:
        yield
    finally:
        _max_file_size.reset(before)


@contextmanager
def open_input(path: str | os.PathLike[str], *, count_first: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, unpacked by its suffix.

    With `count_first` a packed file is unpacked once into nothing before its first byte is given, so that one that is
    too large is refused before anything of it is parsed.

    Raises
    ------
    FileSizeError
        The file is larger than the limit.
    UnpackError
        While reading: the file is packed, and damaged or unpacks to too much.
    """
    label, suffix = os.fspath(path), Path(path).suffix.lower()
    with open(path, "rb") as raw, unpacked(limited(raw, label), suffix, count_first=count_first) as file:
        yield file


def read_input(path: str | os.PathLike[str]) -> bytes:
    """The whole of a file, unpacked by its suffix; an InputError names the file if it is too large or damaged."""
    try:
        with open_input(path) as file:
            return file.read()
    except UnpackError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from error


def limited(raw: IO[bytes], label: str) -> IO[bytes]:
    """The open file, if it is not too large; one without a size, such as a pipe, is stopped at the limit."""
    try:
        status = os.fstat(raw.fileno())
    except io.UnsupportedOperation:  # bytes in memory
        status = None
    if status is None or not stat.S_ISREG(status.st_mode):
        return io.BufferedReader(_Counted(raw, label))
    if status.st_size > _max_file_size.get():
        raise FileSizeError(label)
    return raw


class _Counted(io.RawIOBase):
    """Passes bytes on up to the limit."""

    def __init__(self, file: IO[bytes], label: str) -> None:
        self._file = file
        self._label = label
        self._left = _max_file_size.get()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise FileSizeError(self._label)
        buffer[: len(data)] = data
        return len(data)
