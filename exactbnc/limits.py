"""When a search stops before it is done: wall time over everything, gap, nodes, memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from scorecache.errors import ParameterError


@dataclass(frozen=True)
class Limits:
    """`seconds` of wall time, `gap` absolute in score, branching `nodes`, `memory` in bytes; None: no limit."""

    seconds: float | None = None
    gap: float = 0.0
    nodes: int | None = None
    memory: int | None = None
    started: float = field(default_factory=time.monotonic, compare=False)

    def __post_init__(self) -> None:
        for name in ("seconds", "gap", "nodes", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ParameterError(f"the limit {name!r} must be at least 0. Got {value!r} instead.")

    def seconds_left(self) -> float:
        """Wall time that is left, never negative; infinite without a limit."""
        return float("inf") if self.seconds is None else max(0.0, self.started + self.seconds - time.monotonic())
