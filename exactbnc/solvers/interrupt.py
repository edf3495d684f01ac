"""Ctrl-C during a search: the search ends and keeps what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ctrl_c_calls(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` instead of raising KeyboardInterrupt, where Python's own reaction to Ctrl-C is in place.

    The exception could be raised between any two lines of a callback, out of reach of its `try`.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def react(signum: int, frame: Any) -> None:
        stop()

    signal.signal(signal.SIGINT, react)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
