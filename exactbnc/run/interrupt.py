"""Ctrl-C during a search: the search ends and keeps what it has; a second one does not wait for that."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_exit_code: ContextVar[int | None] = ContextVar("_exit_code", default=None)


@contextmanager
def ctrl_c_calls(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` instead of raising KeyboardInterrupt, where Python's own reaction to Ctrl-C is in place.

    The exception could be raised between any two lines of a callback, out of reach of its `try`. Whoever presses Ctrl-C
    again gets it all the same.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    is_stopping = False

    def react(signum: int, frame: Any) -> None:
        nonlocal is_stopping
        if not is_stopping:
            is_stopping = True
            stop()
            return
        code = _exit_code.get()
        if code is not None:
            os._exit(code)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, react)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def second_ctrl_c_exits(code: int) -> Iterator[None]:
    """Let a second Ctrl-C during a search end the process on the spot, for programs that do nothing else."""
    token = _exit_code.set(code)
    try:
        yield
    finally:
        _exit_code.reset(token)
