"""Ctrl-C during a run: the run stops and keeps what it has; a second one does not wait for that."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_exit_code: ContextVar[int | None] = ContextVar("_exit_code", default=None)
_reactions: list[Callable[[], None]] = []
"""What an interrupt does in the runs that are under way in the main thread, the innermost last."""


@contextmanager
def ctrl_c_calls(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` instead of raising KeyboardInterrupt, where Python's own reaction to Ctrl-C is in place.

    The exception could be raised between any two lines of a callback, out of reach of its `try`. A second Ctrl-C raises
    it, or ends the process (`second_ctrl_c_exits`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_stopping = False

    def react() -> None:
        nonlocal is_stopping
        if not is_stopping:
            is_stopping = True
            stop()
            return
        code = _exit_code.get()
        if code is not None:
            os._exit(code)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: react())
    _reactions.append(react)
    try:
        yield
    finally:
        _reactions.pop()
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def interrupt_run() -> bool:
    """React to another signal as to Ctrl-C; False if no run is under way."""
    if not _reactions:
        return False
    _reactions[-1]()
    return True


@contextmanager
def second_ctrl_c_exits(code: int) -> Iterator[None]:
    """Let a second Ctrl-C during a run end the process on the spot, for programs that do nothing else."""
    token = _exit_code.set(code)
    try:
        yield
    finally:
        _exit_code.reset(token)
