"""SIGTERM ends a command as Ctrl-C does: temporary files go, and what keeps its result on Ctrl-C keeps it here too.

Batch systems, `timeout` and containers send SIGTERM, whose own effect is to end the process on the spot. Here it is
passed to the handler of Ctrl-C at that moment: Python, which raises KeyboardInterrupt, or a solver that stops.
Where Python cannot raise an exception, in a `__del__` or in a callback of the compiler, it prints it and
continues; then the signal is sent again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from exactbnc.run.interrupt import interrupt_run

_ENDING = (signal.SIGINT, signal.SIGTERM)
_RETRY_SECONDS = 0.02


@dataclass
class Caught:
    """Whether SIGTERM came."""

    sigterm: bool = False


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[Caught]:
    """Pass SIGTERM to the handler of Ctrl-C, and lose neither.

    Outside the main thread, where Python has no signals, do nothing. At the end the handler goes, unless
    `ignore_signals` was called.
    """
    caught = Caught()
    if not _has_signals():
        yield caught
        return

    def react(signum: int, frame: FrameType | None) -> None:
        caught.sigterm = True
        if interrupt_run():
            return
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, as in a job started with &
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    def send_again(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            hook_before(unraisable)
            return
        while True:
            again = threading.Timer(_RETRY_SECONDS, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            try:
                again.start()
            except KeyboardInterrupt:  # it came before the thread was seen to run, and would be lost here too
                continue
            return

    hook_before, sys.unraisablehook = sys.unraisablehook, send_again
    before = signal.signal(signal.SIGTERM, react)
    try:
        yield caught
    finally:
        if signal.getsignal(signal.SIGTERM) is react:
            signal.signal(signal.SIGTERM, before)
        sys.unraisablehook = hook_before


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


def ignore_signals() -> None:
    """Let no Ctrl-C or SIGTERM change the exit code of a process that has nothing left to do but end."""
    if not _has_signals():
        return
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def _has_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
