"""A command run to its end, or killed, and what it took."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _bench import ROOT

_THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Ending:
    """How a process ended, and what it took in all."""

    code: int
    is_timed_out: bool
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int

    @property
    def cause(self) -> str:
        if self.is_timed_out or self.code == -signal.SIGALRM:
            return f"killed after {self.wall_seconds:.0f} s, far beyond the time limit"
        return f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"exit code {self.code}"


def run_process(command: Sequence[str], errors: Path, threads: int, seconds: float | None) -> Ending:
    """Run a command to its end, or kill it and what it started after that many seconds (None: never)."""
    setting = {**os.environ, **{name: str(threads) for name in _THREAD_SETTINGS}}
    setting["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    is_timed_out = threading.Event()

    def kill() -> None:
        is_timed_out.set()
        os.killpg(process.pid, signal.SIGKILL)

    began = time.perf_counter()
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream, env=setting,
            start_new_session=True,
        )  # fmt: skip
    timer = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, kill)
    timer.start()
    try:
        # The process is not reaped before the timer is gone, so its number cannot belong to another when that kills.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
        timer.join()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ending(
        process.returncode,
        is_timed_out.is_set() and process.returncode == -signal.SIGKILL,
        time.perf_counter() - began,
        usage.ru_utime + usage.ru_stime,
        _bytes_of(usage),
    )


def _bytes_of(usage: resource.struct_rusage) -> int:
    """The peak of an ended process; it inherits that of this one at its start, which is far smaller than its own."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
