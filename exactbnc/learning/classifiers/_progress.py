"""Lines of progress of a classifier's search."""

from __future__ import annotations

import time
from collections.abc import Callable

from exactbnc.graph.dag import DAG
from exactbnc.run.events import Progress


class ProgressLines:
    """Reports better networks and the gap, at most once a second."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._last = time.monotonic()

    def on_progress(self, progress: Progress) -> None:
        """Report the state of the search."""
        if progress.score is not None and time.monotonic() - self._last >= 1.0:
            self._last = time.monotonic()
            gap = progress.bound - progress.score
            self._report(f"solving, {progress.seconds:.0f} s: score {progress.score:.4f}, gap {gap:.4g}")

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Better networks are in the next line of progress."""
