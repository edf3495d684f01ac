"""When a run stops before it is done: limits are plain values, a clock starts with each run."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

from scorecache.errors import ParameterError
from scorecache.system.compiled import work_clock


@dataclass(frozen=True)
class Limits:
    """What a run may take at most; None: no limit.

    Parameters
    ----------
    seconds
        Wall time of everything; compiling kernels does not count.
    gap
        Absolute difference between bound and score at which a run may stop.
    nodes
        Branching nodes, or states of the search over orders.
    memory
        Bytes of the tables, states and branching tree of a run.
    counts_process
        Whether `memory` counts the whole process, with the score file, Python and its libraries.

    Raises
    ------
    ParameterError
        If a limit is negative.

    Examples
    --------
    >>> Limits(seconds=60, gap=0.5).gap
    0.5
    """

    seconds: float | None = None
    gap: float = 0.0
    nodes: int | None = None
    memory: int | None = None
    counts_process: bool = False

    def __post_init__(self) -> None:
        for name in ("seconds", "gap", "nodes", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ParameterError(f"the limit {name!r} must be at least 0. Got {value!r} instead.")

    def memory_left(self, held: int = 0) -> float:
        """Bytes that a run may still take.

        Parameters
        ----------
        held : int, default 0
            Bytes that it holds already; not used where the whole process counts.

        Returns
        -------
        float
            Never negative; infinite without a limit.

        Examples
        --------
        >>> Limits(memory=1000).memory_left(400), Limits().memory_left()
        (600, inf)
        """
        if self.memory is None:
            return math.inf
        return max(0.0, self.memory - (resident_memory() if self.counts_process else held))


class Stopped(Exception):  # noqa: N818 (a limit is no error)
    """A limit was reached, or the run was interrupted; `reason` is "time", "memory" or "interrupted"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Clock:
    """The time of one run, which starts when the clock is made, and whether the run was interrupted.

    Examples
    --------
    >>> Clock(None).seconds_left(), Clock(0.0).stop_reason()
    (inf, 'time')
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._started = work_clock()
        self._seconds = math.inf if seconds is None else seconds
        self._is_interrupted = False

    def elapsed(self) -> float:
        """Seconds since the start, without those of compiling kernels."""
        return work_clock() - self._started

    def seconds_left(self) -> float:
        """Never negative; infinite without a limit."""
        return max(0.0, self._seconds - self.elapsed())

    def left_of(self, limits: Limits) -> Limits:
        """The limits with the seconds that are left."""
        return limits if limits.seconds is None else replace(limits, seconds=self.seconds_left())

    def interrupt(self) -> None:
        """Have the run stop as soon as it looks at the clock."""
        self._is_interrupted = True

    def stop_reason(self) -> str | None:
        """Why the run has to stop now; None if it has not."""
        if self._is_interrupted:
            return "interrupted"
        return "time" if self.seconds_left() <= 0 else None


def resident_memory() -> int:
    """Bytes of memory that the process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
