"""Threads for the pieces of a build, and its time limit."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from scorecache.errors import ParameterError, TimeLimitError
from scorecache.system.compiled import compile_seconds

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Result = TypeVar("Result")

Listener = Callable[[int, int, int, int], None]
"""Called as listener(step, n_steps, done, total) from the caller's thread; a step is a level."""

AHEAD = 2
"""Pieces handed to each thread in advance: enough to keep it busy, few enough that results do not pile up."""


class Deadline:
    """A wall-clock limit in seconds, counted from `started` on the monotonic clock (None: from now)."""

    def __init__(self, seconds: float | None, started: float | None = None) -> None:
        if seconds is not None and not seconds > 0:
            raise ParameterError(f"the time limit must be above 0 seconds. Got {seconds!r} instead.")
        self._seconds = seconds
        self._started = time.monotonic() if started is None else started
        self._compiled = compile_seconds()

    def check(self, share: float = 1.0) -> None:
        """Raise TimeLimitError once this share of the time is over; what is spent on compiling does not count."""
        if self._seconds is None:
            return
        compiling = compile_seconds() - self._compiled
        if time.monotonic() - self._started - compiling >= share * self._seconds:
            raise TimeLimitError(f"the time limit of {self._seconds:g} s was reached; nothing was written")


class Threads:
    """Runs kernels, which release the interpreter's lock, one after the other or on a pool of threads."""

    def __init__(self, n_threads: int) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._n_threads = n_threads

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is None:
            return
        try:
            self._pool.shutdown(wait=False, cancel_futures=True)
        finally:  # a second Ctrl-C must not leave pieces in the queue: Python would run them all before it ends
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, function: Callable[..., Result], arguments: Sequence[tuple[Any, ...]]) -> Iterator[Result]:
        """Yield the results in the order of the arguments."""
        if self._n_threads < 2 or len(arguments) < 2:
            for own in arguments:
                yield function(*own)
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._n_threads)
        waiting: deque[Future[Result]] = deque()
        for own in arguments:
            waiting.append(self._pool.submit(function, *own))
            if len(waiting) >= AHEAD * self._n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def n_threads(n_jobs: int | None) -> int:
    """The number of threads for a number of jobs: None for all processors that this process may use."""
    if n_jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs < 1:
        raise ParameterError(f"the number of jobs must be at least 1. Got {n_jobs} instead.")
    return n_jobs
