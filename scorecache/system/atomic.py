"""Files that appear whole or not at all.

Each target is written to a temporary file in its own folder, flushed to the disk, and renamed when everything has been
written; whatever goes wrong before that, an interrupt included, leaves the old files as they were. Names that end in
`.gz` or `.xz` are compressed, gzip without time and file name, so that equal content gives equal bytes.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Protocol
from uuid import uuid4

_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.tmp")


class ByteSink(Protocol):
    """Anything that takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Take all of `data`."""


@contextmanager
def atomic_write(*targets: str | os.PathLike[str]) -> Iterator[tuple[ByteSink, ...]]:
    """Open a sink for every target; the targets are replaced together when the block ends without an exception.

    A symbolic link stays and the file it points to is replaced. An OSError about a temporary file, or about no file in
    particular (a full disk), names the first target.
    """
    for target in targets:
        _check_replaceable(Path(target))
    finals = [Path(os.path.realpath(target)) for target in targets]
    temporaries = [final.with_name(f".{uuid4().hex}.tmp") for final in finals]
    try:
        with ExitStack() as stack:
            yield tuple(
                stack.enter_context(_synced(temporary, Path(target).suffix.lower()))
                for temporary, target in zip(temporaries, targets, strict=True)
            )
        with _alone_in(finals[0].parent) if len(finals) > 1 else nullcontext():
            for temporary, final in zip(temporaries, finals, strict=True):
                if final.exists():
                    shutil.copymode(final, temporary)
                os.replace(temporary, final)
    except OSError as error:
        if error.errno is None or error.filename not in {None, *map(str, temporaries)}:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(targets[0])) from error
    finally:
        for temporary in temporaries:
            with suppress(OSError):
                temporary.unlink()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Of those who replace several files of a folder, one at a time; where the system has no such lock, all at once."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_abandoned(folder: Path) -> None:
    """Delete what writers that were killed have left in a folder to which nobody writes any more."""
    for file in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(file.name):
            file.unlink(missing_ok=True)


@contextmanager
def _synced(temporary: Path, suffix: str) -> Iterator[ByteSink]:
    with open(temporary, "xb") as raw:
        with _compressed(raw, suffix) as sink:
            yield sink
        raw.flush()
        os.fsync(raw.fileno())


def _compressed(raw: IO[bytes], suffix: str) -> AbstractContextManager[ByteSink]:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0)
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    return nullcontext(raw)


def _check_replaceable(target: Path) -> None:
    """A folder cannot be replaced by a file, and a device such as /dev/null must not be."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "not a regular file ('-' writes to standard output)", str(target))
