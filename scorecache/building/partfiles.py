"""Finished parts of a build on disk, so that an interrupted build can go on where it was.

A part file is one line of JSON (the build's digest, the part, the SHA-256 of what follows), then the arrays. It is
written whole or not at all. A file whose bytes do not match is as good as absent; a file of another build is an error,
since its folder was given by mistake.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scorecache.building.parts import Families, Part
from scorecache.errors import ParameterError
from scorecache.system.atomic import atomic_write, remove_abandoned

SUFFIX = ".part"
FORMAT = "exactbnc part 1"

MOST_HEAD = 2**16
"""Bytes of the first line; a part has an array or two for every number of parents."""

_SCORES, _PARENTS = "<f8", "<i4"


@dataclass(frozen=True)
class PartFolder:
    """The parts of one build in a folder of their own, which is made if it is not there."""

    path: Path
    digest: str

    def open(self) -> None:
        """Make the folder; refuse one that holds parts of another build."""
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

    def load(self, part: Part) -> list[Families] | None:
        """The families of a finished part; None if it is not there, or, with a warning, if it is damaged."""
        file = self._file(part)
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            return None
        families = _whole(part, data)
        if families is None:
            warnings.warn(f"{file} is damaged; this part is computed again", stacklevel=2)
        return families

    def save(self, part: Part, families: list[Families]) -> None:
        """Write a finished part."""
        payload = b"".join(
            scores.astype(_SCORES).tobytes() + parents.astype(_PARENTS).tobytes() for scores, parents in families
        )
        head = {
            "format": FORMAT,
            "build": self.digest,
            "part": part.name,
            "shapes": [list(parents.shape) for _, parents in families],
            "sha256": hashlib.sha256(payload).hexdigest(),
        }
        with atomic_write(self._file(part)) as (file,):
            file.write(json.dumps(head).encode() + b"\n" + payload)

    def remove(self) -> None:
        """Delete the parts, whole or abandoned, and the folder if nothing else is in it."""
        for file in self.path.glob(f"*{SUFFIX}"):
            file.unlink(missing_ok=True)
        remove_abandoned(self.path)
        with suppress(OSError):
            self.path.rmdir()

    def _file(self, part: Part) -> Path:
        return self.path / f"{part.name}{SUFFIX}"


def _whole(part: Part, data: bytes) -> list[Families] | None:
    """The families in a part file; None unless it is this part's and just as it was written."""
    head = _head(data[:MOST_HEAD])
    payload = memoryview(data)[data.find(b"\n") + 1 :]
    if head is None or head["part"] != part.name or head["sha256"] != hashlib.sha256(payload).hexdigest():
        return None
    return _families(head["shapes"], payload)


def _head(data: bytes) -> dict[str, Any] | None:
    """The first line of a part file; None if it is none."""
    try:
        head = json.loads(data.partition(b"\n")[0])  # short enough for whatever is in it
    except (ValueError, RecursionError):
        return None
    keys = {"format", "build", "part", "shapes", "sha256"}
    return head if isinstance(head, dict) and keys <= head.keys() and head["format"] == FORMAT else None


def _families(shapes: Any, payload: memoryview) -> list[Families] | None:
    """The arrays of (families, parents) shapes; None unless they take as many bytes as there are."""
    if not isinstance(shapes, list) or not all(_is_shape(shape) for shape in shapes):
        return None
    if sum(n * (8 + 4 * size) for n, size in shapes) != len(payload):
        return None
    families, place = list[Families](), 0
    for n, size in shapes:
        scores = np.frombuffer(payload, _SCORES, n, place).astype(np.float64)
        parents = np.frombuffer(payload, _PARENTS, n * size, place + 8 * n).astype(np.int32)
        families.append((scores, parents.reshape(n, size)))
        place += n * (8 + 4 * size)
    return families


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 <= n < 2**31 for n in shape)
