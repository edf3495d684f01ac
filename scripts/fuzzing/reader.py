"""A reader under test: valid files, how a file is read, and how what was read is written and compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from fuzzing.mutate import bytes_mutated, mutated

N_SEEDS = 40
Seed = tuple[bytes, Any]
"""A valid content and whatever else its reading needs (a companion)."""


@dataclass(frozen=True)
class Reader:
    """`read` takes the path, the companion of the seed and a random source for its options.

    `write` writes what was read so that `reread` gives an equal value; None where there is no writer. `seal` puts the
    right checksum into a mutated file, which else would get no further than the checksum. `change` mutates a file in
    place of the changes to texts, for a kind of file that these would only make unreadable.
    """

    name: str
    suffix: str
    make_seed: Callable[[Random], Seed]
    read: Callable[[str, Any, Random], Any]
    write: Callable[[Any, str], None] | None = None
    same: Callable[[Any, Any], bool] = lambda mine, theirs: bool(mine == theirs)
    reread: Callable[[str, Any], Any] | None = None
    is_json: bool = False
    pack: Callable[[bytes], bytes] | None = None
    seal: Callable[[bytes], bytes] | None = None
    use: Callable[[Any, Any, Random], Any] | None = None
    change: Callable[[bytes, Random], bytes] | None = None

    def seeds(self) -> list[Seed]:
        """The valid files; the same ones in every run."""
        random = Random(f"seeds of {self.name}")
        return [self.make_seed(random) for _ in range(N_SEEDS)]

    def mutate(self, content: bytes, random: Random) -> bytes:
        """A hostile file."""
        if self.change is not None:
            return self.change(content, random)
        if self.pack is not None and random.random() < 0.5:
            return bytes_mutated(self.pack(content), random)
        hostile = mutated(content, random, is_json=self.is_json)
        if self.seal is not None and random.random() < 0.7:
            hostile = self.seal(hostile)
        return hostile if self.pack is None else self.pack(hostile)


def written(write: Callable[[str], Any], name: str) -> bytes:
    """What a writer of ours writes."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / name
        write(str(path))
        return path.read_bytes()
