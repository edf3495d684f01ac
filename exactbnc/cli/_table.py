"""The table that GOBNILP's users know: time, best network so far, best possible, gap, nodes; one line at a time."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactbnc.graph.dag import DAG
    from exactbnc.run.events import Progress

HEADER = f"{'time':>8} | {'best so far':>18} | {'best possible':>18} | {'gap':>10} | {'nodes':>8}"
SECONDS_ON_TERMINAL, SECONDS_ELSEWHERE = 0.5, 5.0


class SolveTable:
    """A listener that writes to stderr now and then: often on a terminal, rarely into a file."""

    def __init__(self) -> None:
        self._pause = SECONDS_ON_TERMINAL if sys.stderr.isatty() else SECONDS_ELSEWHERE
        self._last = time.monotonic()
        self._has_header = False

    def on_progress(self, progress: Progress) -> None:
        """Write a line if the last one is old enough."""
        if time.monotonic() - self._last < self._pause:
            return
        self._last = time.monotonic()
        if not self._has_header:
            print(HEADER, file=sys.stderr)
            self._has_header = True
        score = "-" if progress.score is None else f"{progress.score:.6f}"
        gap = "-" if progress.score is None else f"{max(0.0, progress.bound - progress.score):.4g}"
        print(
            f"{progress.seconds:>7.1f}s | {score:>18} | {progress.bound:>18.6f} | {gap:>10} | {progress.nodes:>8}",
            file=sys.stderr,
        )

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Better networks show in the next line."""
