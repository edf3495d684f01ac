"""Run the pieces of a build on threads, within the time limit, telling a listener how far it is."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from scorecache.errors import ParameterError, TimeLimitError
from scorecache.scoring.survivors import Survivors, Task

Listener = Callable[[int, int, int, int], None]
"""Called as listener(step, n_steps, done, total) from the caller's thread; a step is a level of a group."""

AHEAD = 2
"""Pieces handed to each thread in advance: enough to keep it busy, few enough that results do not pile up."""


class Deadline:
    """A wall-clock limit in seconds, counted from `started` on the monotonic clock (None: from now)."""

    def __init__(self, seconds: float | None, started: float | None = None) -> None:
        if seconds is not None and not seconds > 0:
            raise ParameterError(f"the time limit must be above 0 seconds. Got {seconds!r} instead.")
        self._seconds = seconds
        self._started = time.monotonic() if started is None else started

    def check(self) -> None:
        """Raise TimeLimitError once the time is over."""
        if self._seconds is not None and time.monotonic() - self._started >= self._seconds:
            raise TimeLimitError(f"the time limit of {self._seconds:g} s was reached; nothing was written")


class Runner:
    """Runs kernels, which release the interpreter's lock, one after the other or on a pool of threads."""

    def __init__(self, n_threads: int, deadline: Deadline, listener: Listener | None, n_steps: int) -> None:
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_threads = n_threads
        self._deadline = deadline
        self._listener = listener
        self._n_steps = n_steps
        self._step = 0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is None:
            return
        try:
            self._pool.shutdown(wait=False, cancel_futures=True)
        finally:  # a second Ctrl-C must not leave pieces in the queue: Python would run them all before it ends
            self._pool.shutdown(wait=True, cancel_futures=True)

    def next_step(self) -> None:
        self._step += 1

    def run(self, tasks: list[Task], *, announce: bool = True) -> Iterator[Survivors]:
        """Yield the results in the order of the tasks; `announce` tells the listener of each."""
        for done, result in enumerate(self._results(tasks)):
            if self._listener is not None and announce:
                self._listener(self._step, self._n_steps, done + 1, len(tasks))
            yield result

    def _results(self, tasks: list[Task]) -> Iterator[Survivors]:
        if self._pool is None or len(tasks) == 1:
            for kernel, arguments in tasks:
                self._deadline.check()
                yield kernel(*arguments)
            return
        waiting: deque[Future[Survivors]] = deque()
        for kernel, arguments in tasks:
            self._deadline.check()
            waiting.append(self._pool.submit(kernel, *arguments))
            if len(waiting) >= AHEAD * self._n_threads:
                yield waiting.popleft().result()
        while waiting:
            self._deadline.check()
            yield waiting.popleft().result()


def n_threads(n_jobs: int | None) -> int:
    """The number of threads for a number of jobs: None for all processors that this process may use."""
    if n_jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs < 1:
        raise ParameterError(f"the number of jobs must be at least 1. Got {n_jobs} instead.")
    return n_jobs
