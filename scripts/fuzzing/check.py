"""What must hold for every input, whatever is in it.

- An exception is one of ours, and its message is one line that names the file.
- The reading takes at most `MOST_SECONDS` of processor time, or `LARGE_SECONDS_PER_MB`, and, measured on a sample, at
  most `MOST_RATIO` times the bytes of the (unpacked) file plus `FREE_BYTES` of memory, whether the file
  is accepted or refused.
- What is accepted can be used: written and read again, it is the same. A writer may refuse what its format cannot hold.
"""

from __future__ import annotations

import gzip
import lzma
import signal
import traceback
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from exactbnc.proof.verify import CertificateError
from fuzzing.designed import DESIGNS
from fuzzing.mutate import oversized
from fuzzing.parquet import parquet_size
from fuzzing.readers import READERS, Reader, Seed
from scorecache.errors import InputError, ParameterError
from scorecache.system.limits import FREE_BYTES, MOST_RATIO

MOST_SECONDS = 1.0
LARGE_SECONDS_PER_MB = 2.0  # half of it on a core that has nothing else to do
MEASURED_SECONDS = 30.0
OWN_ERRORS = (InputError, ParameterError, CertificateError)
LARGE_BYTES = (200_000, 500_000, 1_000_000, 2_000_000)


class Hang(BaseException):
    """The reading took too long; no `except Exception` stops it."""


@dataclass
class Tally:
    """What became of the inputs."""

    accepted: int = 0
    refused: int = 0
    unwritable: int = 0
    measured: int = 0
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.accepted + self.refused


@dataclass(frozen=True)
class Fault:
    """One input that broke a rule; `key` tells faults apart, `told` is for people."""

    key: str
    told: str


class Fuzzer:
    """Inputs of one reader in a folder; an input is told by its number."""

    def __init__(self, name: str, folder: Path) -> None:
        self.reader: Reader = READERS[name]
        self.folder = folder
        self.path = folder / f"input{self.reader.suffix}"
        self.again = folder / f"again{self.reader.suffix.removesuffix('.gz').removesuffix('.xz')}"
        self.tally = Tally()
        kind = name.removesuffix(".gz").removesuffix(".xz")
        self.designs = list(DESIGNS[kind].values())

    @cached_property
    def seeds(self) -> list[Seed]:
        return self.reader.seeds()

    def input(self, number: int, *, is_large: bool = False) -> tuple[bytes, Any, Random]:
        """The content, the companion, and the source of whatever is drawn later."""
        random = Random(f"{self.reader.name} {number}")
        content, companion = random.choice(self.seeds)
        if is_large:
            n_bytes, designs = random.choice(LARGE_BYTES), self.designs
            is_designed = designs and random.random() < 0.6
            content = random.choice(designs)(n_bytes) if is_designed else oversized(content, random, n_bytes)
            return (content if self.reader.pack is None else self.reader.pack(content)), companion, random
        return self.reader.mutate(content, random), companion, random

    def check(self, number: int, *, is_large: bool = False, is_measured: bool = False) -> Fault | None:
        """Try one input; None if every rule holds."""
        content, companion, random = self.input(number, is_large=is_large)
        self.path.write_bytes(content)
        size = _unpacked_size(content)
        if is_measured:
            peak = self.peak(companion, deepcopy(random))
            if peak > MOST_RATIO * size + FREE_BYTES:
                return Fault("memory", f"{peak:,} bytes of memory for a file of {size:,}")
        try:
            with limited_time(max(MOST_SECONDS, LARGE_SECONDS_PER_MB * size / 1e6)):
                value = self.reader.read(str(self.path), companion, random)
                if self.reader.use is not None:
                    value = self.reader.use(value, companion, random)
        except OWN_ERRORS as error:
            self.tally.refused += 1
            return self._message_fault(error)
        except Hang as error:
            return Fault(f"hang {_where(error)}", f"more than {MOST_SECONDS} s at {_where(error)}")
        except Exception as error:
            return _exception_fault(error)
        self.tally.accepted += 1
        return None if is_large else self._round_trip_fault(value)

    def peak(self, companion: Any, random: Random) -> int:
        """Read what lies there and count the bytes at the peak; the time does not count, counting takes most of it."""
        self.tally.measured += 1
        tracemalloc.start()
        try:
            with suppress(Exception, Hang), limited_time(MEASURED_SECONDS):
                self.reader.read(str(self.path), companion, random)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def _message_fault(self, error: BaseException) -> Fault | None:
        message = str(error)
        is_named = isinstance(error, ParameterError | CertificateError) or str(self.folder) in message
        if not is_named:
            return Fault(f"unnamed {message[:30]}", f"the message does not name the file: {message:.200}")
        if len(message.splitlines()) != 1:
            return Fault(f"message {_where(error)}", f"the message is not one line: {message!r:.300}")
        return None

    def _round_trip_fault(self, value: Any) -> Fault | None:
        if self.reader.write is None:
            return None
        try:
            with limited_time(MEASURED_SECONDS):
                self.reader.write(value, str(self.again))
        except ParameterError:
            self.tally.unwritable += 1
            return None
        except Exception as error:
            return _exception_fault(error, "written: ")
        try:
            with limited_time(MEASURED_SECONDS):
                if self.reader.reread is not None:
                    copy = self.reader.reread(str(self.again), value)
                else:
                    copy = self.reader.read(str(self.again), None, Random(0))
        except Exception as error:
            return _exception_fault(error, "read again: ")
        is_same = self.reader.same(value, copy)
        return None if is_same else Fault("round trip", f"written and read again it differs: {copy!r:.200}")


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """Raise `Hang` when the process has worked for so long; waiting does not count."""

    def stop(signum: int, frame: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _exception_fault(error: Exception, doing: str = "") -> Fault:
    return Fault(
        f"{doing}{type(error).__name__} {_where(error)}",
        f"{doing}{type(error).__name__}: {error!s:.200} at {_where(error)}",
    )


def _where(error: BaseException) -> str:
    """The innermost line of our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/exactbnc/" in frame.filename or "/scorecache/" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}"


def _unpacked_size(content: bytes) -> int:
    """Of a packed file what it unpacks to, as far as it does."""
    if content[:2] == b"\x1f\x8b":
        unpacker = zlib.decompressobj(31)
    elif content[:6] == b"\xfd7zXZ\x00":
        unpacker = lzma.LZMADecompressor()
    elif content[:4] == b"PAR1":
        return parquet_size(content)
    else:
        return len(content)
    try:
        return max(len(content), len(unpacker.decompress(content)))
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError):
        return len(content)
