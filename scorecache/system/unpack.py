"""Files packed with gzip or xz, unpacked as they are read, and not without limit.

A megabyte of gzip can hold a gigabyte of zeros, a megabyte of xz seven. A packed file may unpack to `MOST_RATIO` times
its size, and to `FREE_BYTES` in any case; a longer one is refused. Parsing takes far longer than unpacking, so a reader
that parses while it reads has the bytes counted first. A packed xz file states how much memory its unpacking takes;
more than `MOST_XZ_MEMORY` is refused too (`xz -9` asks for 65 MiB).
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from scorecache.errors import InputError

PACKED_SUFFIXES = (".gz", ".xz")
FREE_BYTES = 2**26
MOST_RATIO = 200
MOST_XZ_MEMORY = 2**27

_PIECE_BYTES = 2**20


class UnpackError(InputError):
    """A packed file is damaged, cut short, or too large; the message does not name the file."""


def most_unpacked(n_bytes: int) -> int:
    """How many bytes a packed file of `n_bytes` bytes may unpack to."""
    return max(FREE_BYTES, MOST_RATIO * n_bytes)


@contextmanager
def unpacked(raw: IO[bytes], suffix: str, *, count_first: bool = False) -> Iterator[IO[bytes]]:
    """The bytes of an open file, unpacked if its suffix says so; reading raises an UnpackError where that fails.

    With `count_first` the first read unpacks a packed file once into nothing, so that one that is too large is refused
    before anything of it is parsed; a pipe cannot be read twice and is only stopped at the limit.
    """
    if suffix not in PACKED_SUFFIXES:
        yield raw
        return
    pieces_of = _gzip_pieces if suffix == ".gz" else _xz_pieces
    is_seekable = raw.seekable()
    most = most_unpacked(os.fstat(raw.fileno()).st_size if is_seekable else 0)
    limited = _counted_pieces if count_first and is_seekable else _limited_pieces
    with io.BufferedReader(_Unpacked(limited(raw, pieces_of, most)), _PIECE_BYTES) as file:
        yield file


def _counted_pieces(raw: IO[bytes], pieces_of: Callable[[IO[bytes]], Iterator[bytes]], most: int) -> Iterator[bytes]:
    for _ in _limited_pieces(raw, pieces_of, most):
        pass
    raw.seek(0)
    yield from _limited_pieces(raw, pieces_of, most)


def _limited_pieces(raw: IO[bytes], pieces_of: Callable[[IO[bytes]], Iterator[bytes]], most: int) -> Iterator[bytes]:
    n_bytes = 0
    try:
        for piece in pieces_of(raw):
            n_bytes += len(piece)
            if n_bytes > most:
                raise UnpackError(
                    f"the compressed file unpacks to more than {most:,} bytes, "
                    f"{MOST_RATIO} times its own size and {FREE_BYTES:,} bytes; if that is right, unpack it beforehand"
                )
            yield piece
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise UnpackError(f"the compressed file is damaged or cut short ({error})") from error


def _gzip_pieces(raw: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=raw, mode="rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _xz_pieces(raw: IO[bytes]) -> Iterator[bytes]:
    """Stream after stream; between them there may be zeros."""
    packed = raw.read(_PIECE_BYTES)
    is_first = True
    while packed or is_first:
        is_first = False
        stream = lzma.LZMADecompressor(memlimit=MOST_XZ_MEMORY)
        while not stream.eof:
            if stream.needs_input and not packed and not (packed := raw.read(_PIECE_BYTES)):
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            yield stream.decompress(packed, _PIECE_BYTES)
            packed = b""
        packed = stream.unused_data.lstrip(b"\0")
        while not packed and (more := raw.read(_PIECE_BYTES)):
            packed = more.lstrip(b"\0")


class _Unpacked(io.RawIOBase):
    """The pieces as one file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._piece:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._piece = memoryview(piece)
        n_taken = min(len(buffer), len(self._piece))
        buffer[:n_taken] = self._piece[:n_taken]
        self._piece = self._piece[n_taken:]
        return n_taken
