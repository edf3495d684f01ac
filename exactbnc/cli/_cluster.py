"""Where the tasks of a command run: `--scheduler`, or threads of this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def workers_of(scheduler: str | None, n_threads: int | None = None) -> Iterator[Any]:
    """The client of a Dask scheduler, or None; without a scheduler, tasks run on so many threads, if any are given."""
    if scheduler is not None:
        from scorecache.building.workers import connected

        with connected(scheduler) as client:
            yield client
    elif n_threads is not None:
        from joblib import parallel_config

        with parallel_config("threading", n_jobs=n_threads):
            yield None
    else:
        yield None
