"""When a search stops before it is done: wall time over everything, gap, nodes, memory."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field

from scorecache.errors import ParameterError


@dataclass(frozen=True)
class Limits:
    """`seconds` of wall time, `gap` absolute in score, branching `nodes`, `memory` in bytes; None: no limit.

    The memory is that of the tables, states and branching tree of a search; with `counts_process` it is all that the
    process holds, the score file, Python and its libraries included.
    """

    seconds: float | None = None
    gap: float = 0.0
    nodes: int | None = None
    memory: int | None = None
    started: float = field(default_factory=time.monotonic, compare=False)
    counts_process: bool = False

    def __post_init__(self) -> None:
        for name in ("seconds", "gap", "nodes", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ParameterError(f"the limit {name!r} must be at least 0. Got {value!r} instead.")

    def seconds_left(self) -> float:
        """Wall time that is left, never negative; infinite without a limit."""
        return float("inf") if self.seconds is None else max(0.0, self.started + self.seconds - time.monotonic())

    def memory_left(self, held: int = 0) -> float:
        """Bytes that a search which holds so many may still take, never negative; infinite without a limit."""
        if self.memory is None:
            return math.inf
        return max(0.0, self.memory - (resident_memory() if self.counts_process else held))


def resident_memory() -> int:
    """Bytes of memory that the process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
