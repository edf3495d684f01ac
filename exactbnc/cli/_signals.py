"""SIGTERM ends a command as Ctrl-C does: temporary files go, and what keeps its result on Ctrl-C keeps it here too.

Batch systems, `timeout` and containers send SIGTERM, whose own effect is to end the process on the spot. Here it is
handed on to whoever handles Ctrl-C at that moment: Python, which raises KeyboardInterrupt, or a solver that stops.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM)
_RETRY_SECONDS = 0.02


@dataclass
class Caught:
    """Whether SIGTERM came."""

    sigterm: bool = False


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[Caught]:
    """Hand SIGTERM on to the handler of Ctrl-C; outside the main thread, where Python has no signals, do nothing."""
    caught = Caught()
    if not _has_signals():
        yield caught
        return

    def react(signum: int, frame: FrameType | None) -> None:
        caught.sigterm = True
        if _is_in_del(frame):
            again = threading.Timer(_RETRY_SECONDS, os.kill, (os.getpid(), signum))
            again.daemon = True
            again.start()
            return
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, as in a job started with &
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, react)
    try:
        yield caught
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def deaf_to_signals() -> Iterator[None]:
    """Let no second Ctrl-C or SIGTERM break into the last words of a command."""
    if not _has_signals():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_del(frame: FrameType | None) -> bool:
    """Did the signal come during a `__del__`? Python prints an exception raised in there, and goes on."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _has_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
