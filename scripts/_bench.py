"""What every benchmark needs: clocks, the facts of the machine, and a table of rows with targets and verdicts."""

from __future__ import annotations

import gc
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any, TypeVar, cast

ROOT = Path(__file__).resolve().parent.parent

CPU_SECONDS = "s CPU"
WALL_SECONDS = "s wall"
GIGABYTES = "GB"
RATE = "M/s"

_CLOCKS: dict[str, Callable[[], float]] = {CPU_SECONDS: time.process_time, WALL_SECONDS: time.perf_counter}

Input = TypeVar("Input")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Timing:
    """The seconds of every measured run, and the wall seconds of the run before them that loaded the kernels."""

    seconds: tuple[float, ...]
    first_run: float | None = None
    unit: str = CPU_SECONDS

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)


@dataclass(frozen=True)
class Row:
    """One line of the table. The target is an upper limit for the median, or a lower one for the rate.

    Without a target the verdict is the `finding`, if there is one; `runs` holds every measurement.
    """

    case: str
    best: float
    median: float
    unit: str
    n_vars: int | None = None
    n_rows: int | None = None
    n_distinct: int | None = None
    n_scored: int | None = None
    n_kept: int | None = None
    first_run: float | None = None
    target: float | None = None
    target_rate: float | None = None
    finding: str = ""
    peers: str = ""
    note: str = ""
    runs: tuple[float, ...] = ()

    @property
    def rate(self) -> float | None:
        """Million families per CPU second, in the median run."""
        return None if self.n_scored is None or self.unit != CPU_SECONDS else self.n_scored / self.median / 1e6

    @property
    def verdict(self) -> str:
        if self.target is not None:
            return _verdict(self.median / self.target)
        if self.target_rate is not None and self.rate is not None:
            return _verdict(self.target_rate / self.rate)
        return self.finding

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "rate": self.rate, "verdict": self.verdict}


def timed_row(case: str, timing: Timing, **facts: Any) -> Row:
    """A row whose quantity is a time."""
    return Row(case, timing.best, timing.median, timing.unit, first_run=timing.first_run, runs=timing.seconds, **facts)


def measure(
    make_input: Callable[[], Input], run: Callable[[Input], Result], repeats: int, *, unit: str = CPU_SECONDS
) -> tuple[Timing, Result]:
    """Run once to load or compile the kernels, then `repeats` times on the clock; inputs are made off the clock.

    Every run gets an input of its own, so that nothing remembered in it by an earlier run makes a later one faster.
    """
    return measure_in_turn(make_input, [run], repeats, unit=unit)[0]


def measure_in_turn(
    make_input: Callable[[], Input],
    candidates: Sequence[Callable[[Input], Result]],
    repeats: int,
    *,
    unit: str = CPU_SECONDS,
) -> list[tuple[Timing, Result]]:
    """Measure several ways to do the same, one after the other in every round, so that all see the same machine.

    Only the last result of each is held, as a program would hold one: were all of them, every run would pay for
    memory that the process never touched before.
    """
    first = [_seconds(WALL_SECONDS, make_input, run)[0] for run in candidates]
    seconds: list[list[float]] = [[] for _ in candidates]
    results: list[Result | None] = [None for _ in candidates]
    for _ in range(repeats):
        for position, run in enumerate(candidates):
            results[position] = None
            elapsed, results[position] = _seconds(unit, make_input, run)
            seconds[position].append(elapsed)
    return [
        (Timing(tuple(own), first_run, unit), cast(Result, result))
        for own, first_run, result in zip(seconds, first, results, strict=True)
    ]


def output_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a command that must succeed prints, with this repository's packages first on its path."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    setting = {**os.environ, "PYTHONPATH": path, **(environment or {})}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=setting).stdout


def wall_seconds_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Wall seconds of a command that must succeed."""
    started = time.perf_counter()
    output_of(command, environment)
    return time.perf_counter() - started


def peak_bytes() -> int:
    """The most memory that this program has held so far.

    Linux lets a new program inherit the peak of the process that started it in `ru_maxrss`; VmHWM begins anew.
    """
    status = _status_kilobytes("VmHWM")
    if status is not None:
        return 1024 * status
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def forget_peak() -> None:
    """Let the peak begin anew at what is held now, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def resident_bytes() -> int:
    """The memory of this process now (its peak so far where the system does not report it)."""
    status = _status_kilobytes("VmRSS")
    return peak_bytes() if status is None else 1024 * status


def n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_facts() -> dict[str, str]:
    """What the numbers depend on beside the code."""
    return {
        "CPU": _cpu_model(),
        "cores": str(n_cores()),
        "load average": load_average(),
        "system": platform.platform(),
        "Python": platform.python_version(),
        **{package: metadata.version(package) for package in ("numpy", "numba")},
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def load_average() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def as_text(rows: Sequence[Row]) -> str:
    """Columns of equal width, then the notes."""
    table = [_HEADINGS, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(_aligned(cells, widths)).rstrip() for cells in table]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:], *_notes(rows)])


def as_markdown(rows: Sequence[Row]) -> str:
    """The same as a Markdown table and a list."""
    rule = [":--" if heading in _TEXTS else "--:" for heading in _HEADINGS]
    lines = ["| " + " | ".join(cells) + " |" for cells in (_HEADINGS, rule, *map(_cells, rows))]
    return "\n".join([*lines, "", *(f"- {note}" for note in _notes(rows))])


_HEADINGS = [
    "case", "variables", "rows", "distinct", "scored", "kept", "min", "median", "unit", "M families/s", "target",
    "verdict", "first run s", "peers",
]  # fmt: skip
_TEXTS = {"case", "unit", "target", "verdict", "peers"}


def _cells(row: Row) -> list[str]:
    target = ""
    if row.target is not None:
        target = f"≤ {row.target:g} {row.unit}"
    elif row.target_rate is not None:
        target = f"≥ {row.target_rate:g} {RATE}"
    return [
        row.case,
        *(_count(number) for number in (row.n_vars, row.n_rows, row.n_distinct, row.n_scored, row.n_kept)),
        _decimal(row.best),
        _decimal(row.median),
        row.unit,
        _decimal(row.rate),
        target,
        row.verdict,
        _decimal(row.first_run),
        row.peers,
    ]


def _notes(rows: Sequence[Row]) -> list[str]:
    return [f"{row.case}: {row.note}" for row in rows if row.note]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if heading in _TEXTS else cell.rjust(width)
        for heading, cell, width in zip(_HEADINGS, cells, widths, strict=True)
    ]


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _decimal(number: float | None) -> str:
    """Three significant digits, and all digits before the point."""
    if number is None:
        return ""
    return f"{number:.0f}" if number >= 100 else f"{number:#.3g}"


def _verdict(ratio: float) -> str:
    """The ratio is 1 at the target and above 1 beyond it."""
    return "met" if ratio <= 1 else f"missed by a factor of {ratio:.2f}"


def _seconds(unit: str, make_input: Callable[[], Input], run: Callable[[Input], Result]) -> tuple[float, Result]:
    value, clock = make_input(), _CLOCKS[unit]
    gc.collect()
    started = clock()
    result = run(value)
    return clock() - started, result


def _status_kilobytes(key: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{key}:")), None)


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _commit() -> str:
    """The commit, with a plus if the packages differ from it."""
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "scorecache", "exactbnc")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit}+changes" if changed else commit


def _git(*arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
