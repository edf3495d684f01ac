"""Where the tasks of a command run: `--scheduler`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def workers_of(scheduler: str | None) -> Iterator[Any]:
    """The client of a Dask scheduler, or None."""
    if scheduler is None:
        yield None
        return
    from scorecache.scoring.workers import connected

    with connected(scheduler) as client:
        yield client
