"""Long kernels in threads of their own, while the caller looks at limits and hears signals.

A kernel that may take more than a second releases the GIL and ends early once the first entry of its `stop` array is
not 0; then its result counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.limits import Stopped
from exactbnc.run.solver import Run

SECONDS_BETWEEN_LOOKS = 0.2

T = TypeVar("T")
Flag = NDArray[np.int64]


class Worker:
    """Threads that share a stop flag; a call raises Stopped if the run has to stop."""

    def __init__(self, run: Run, stop: Flag, n_threads: int = 1) -> None:
        self._run = run
        self._stop = stop
        self._pool = ThreadPoolExecutor(n_threads)
        stop[0] = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop[0] = 1
        self._pool.shutdown(cancel_futures=True)

    def __call__(self, call: Callable[[], T]) -> T:
        """Run a kernel and wait for it."""
        return self.wait(self.submit(call))

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run a kernel beside others."""
        return self._pool.submit(call)

    def wait(self, future: Future[T]) -> T:
        """The result of a kernel."""
        while True:
            reason = self._run.stop_reason()
            if reason is not None:
                self._stop[0] = 1
                raise Stopped(reason)
            with suppress(TimeoutError):
                return future.result(timeout=SECONDS_BETWEEN_LOOKS)
