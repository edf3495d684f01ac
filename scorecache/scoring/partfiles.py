"""Finished pieces of a build on disk, so that an interrupted build can be resumed.

A file is one line of JSON (the build's digest, the piece, its arrays, the SHA-256 of what follows), then the arrays. It
is written whole or not at all. A file whose bytes do not match counts as absent; a file of another build is an error,
since its folder was given by mistake.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.types import Slab
from scorecache.errors import ParameterError
from scorecache.scoring.levels import Found
from scorecache.system.atomic import atomic_write, remove_abandoned

SUFFIX = ".part"
FORMAT = "exactbnc part 2"

MOST_HEAD = 2**16
"""Bytes of the first line."""

TYPES = {"int64": "<i8", "int32": "<i4", "float64": "<f8", "bool": "|b1"}
_KEYS = {"format", "build", "piece", "arrays", "first", "counts_at", "sha256"}


@dataclass(frozen=True)
class PartFolder:
    """The finished pieces of one build in a folder of their own, which is made if it is not there."""

    path: Path
    digest: str

    def open(self) -> None:
        """Make the folder; refuse one that holds pieces of another build."""
        self.path.mkdir(parents=True, exist_ok=True)
        for file in sorted(self.path.glob(f"*{SUFFIX}")):
            with file.open("rb") as lines:
                head = _head(lines.readline(MOST_HEAD))
            if head is not None and head["build"] != self.digest:
                raise ParameterError(
                    f"{file} is part of another build: other data, score, parameters, structure, pruning or versions; "
                    "resume with the same command and versions, or give another folder, or delete this one"
                )

    @property
    def n_files(self) -> int:
        return len(list(self.path.glob(f"*{SUFFIX}")))

    def load(self, name: str) -> Found | None:
        """What a finished piece found; None if it is not there, or, with a warning, if it is damaged."""
        file = self._file(name)
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            return None
        found = _parse(name, data)
        if found is None:
            warnings.warn(f"{file} is damaged; this part is computed again", stacklevel=2)
        return found

    def save(self, name: str, found: Found) -> None:
        """Write a finished piece."""
        arrays = [array for survivors in found.survivors for array in survivors]
        arrays += [found.counts, *(found.slab[1:] if found.slab is not None else ())]
        payload = b"".join(array.astype(TYPES[array.dtype.name]).tobytes() for array in arrays)
        head = {
            "format": FORMAT,
            "build": self.digest,
            "piece": name,
            "arrays": [[array.dtype.name, *array.shape] for array in arrays],
            "first": None if found.slab is None else int(found.slab.first),
            "counts_at": int(found.counts_at),
            "sha256": hashlib.sha256(payload).hexdigest(),
        }
        with atomic_write(self._file(name)) as (file,):
            file.write(json.dumps(head).encode() + b"\n" + payload)

    def remove(self) -> None:
        """Delete the pieces, whole or abandoned, and the folder if nothing else is in it."""
        for file in self.path.glob(f"*{SUFFIX}"):
            file.unlink(missing_ok=True)
        remove_abandoned(self.path)
        with suppress(OSError):
            self.path.rmdir()

    def _file(self, name: str) -> Path:
        return self.path / f"{name}{SUFFIX}"


def _parse(name: str, data: bytes) -> Found | None:
    """What is in a file; None unless it is this piece's and just as it was written."""
    head = _head(data[:MOST_HEAD])
    payload = memoryview(data)[data.find(b"\n") + 1 :]
    if head is None or head["piece"] != name or head["sha256"] != hashlib.sha256(payload).hexdigest():
        return None
    arrays = _arrays(head["arrays"], payload)
    n_slab = 0 if head["first"] is None else len(Slab._fields) - 1
    numbers = [head["counts_at"]] if head["first"] is None else [head["counts_at"], head["first"]]
    if arrays is None or (len(arrays) - n_slab) % 3 != 1 or any(type(number) is not int for number in numbers):
        return None
    n_families = len(arrays) - n_slab - 1
    survivors: Any = tuple(tuple(arrays[i : i + 3]) for i in range(0, n_families, 3))
    slab = Slab(head["first"], *arrays[n_families + 1 :]) if n_slab else None
    return Found(survivors, slab, arrays[n_families], head["counts_at"])


def _head(data: bytes) -> dict[str, Any] | None:
    """The first line of a file; None if it is not that of a piece."""
    try:
        head = json.loads(data.partition(b"\n")[0])  # short enough for whatever is in it
    except (ValueError, RecursionError):
        return None
    return head if isinstance(head, dict) and head.keys() >= _KEYS and head["format"] == FORMAT else None


def _arrays(described: Any, payload: memoryview) -> list[NDArray[Any]] | None:
    """The arrays of these types and shapes; None unless they take as many bytes as there are."""
    if not isinstance(described, list) or not all(_is_description(each) for each in described):
        return None
    sizes = [math.prod(shape) * np.dtype(TYPES[name]).itemsize for name, *shape in described]
    if sum(sizes) != len(payload):
        return None
    arrays, place = [], 0
    for (name, *shape), size in zip(described, sizes, strict=True):
        array = np.frombuffer(payload[place : place + size], TYPES[name]).astype(name)
        arrays.append(array.reshape(shape))
        place += size
    return arrays


def _is_description(described: Any) -> bool:
    """A type and one or two lengths?"""
    if not isinstance(described, list) or len(described) not in (2, 3) or described[0] not in TYPES:
        return False
    return all(type(n) is int and 0 <= n < 2**31 for n in described[1:])
