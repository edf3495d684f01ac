"""How long a command takes before it does anything: CPU seconds of the program, and the packages that it loads.

    python scripts/bench_import.py                   every command with --help, and light commands at work on asia
    python scripts/bench_import.py --runs 11 --json

Every run is a process of its own. CPU time is the median of the runs, since other work on the machine disturbs it less
than wall time, of which the best is shown. The packages are those of one more run under `-X importtime`, with their
share of the time that all imports took; what a module imports does not count for it. Python itself is the first row.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _bench import machine_facts

from exactbnc import instances

PROGRAM = ("-m", "exactbnc")
COMMANDS = (
    "score", "solve", "learn", "predict", "evaluate", "explain", "report", "scores", "convert", "info", "check",
    "verify", "compare",
)  # fmt: skip
N_PACKAGES = 4


@dataclass(frozen=True)
class Row:
    """The times of one command line, and the heaviest packages with their share of the imports."""

    command: str
    cpu_seconds: float
    best_wall_seconds: float
    packages: dict[str, float]


def main() -> None:
    """Measure every command line and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="runs of every command (default: 7)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    if given.runs < 1:
        parser.error("--runs must be at least 1")
    rows = [measure(name, arguments, given.runs) for name, arguments in command_lines()]
    if given.json:
        print(json.dumps({"machine": machine_facts(), "rows": [asdict(row) for row in rows]}, indent=2))
    else:
        print(table(rows))


def command_lines() -> list[tuple[str, list[str]]]:
    """What is measured, and the arguments of Python for it."""
    cache = str(instances.path("asia-500.bdeu.3.jkl"))
    asked = ["--version", "--help", *(f"{name} --help" for name in COMMANDS)]
    at_work = {"scores": ["scores"], "info": ["info", cache], "check": ["check", cache], "solve": ["solve", cache]}
    return [
        ("python -c pass", ["-c", "pass"]),
        *((line, [*PROGRAM, *line.split()]) for line in asked),
        *((f"{name} (at work)", [*PROGRAM, *words]) for name, words in at_work.items()),
    ]


def measure(command: str, arguments: list[str], n_runs: int) -> Row:
    """The times of so many runs, after one that fills the caches of the file system."""
    run(arguments)
    times = [run(arguments) for _ in range(n_runs)]
    return Row(command, median(cpu for cpu, _ in times), min(wall for _, wall in times), packages(arguments))


def run(arguments: list[str]) -> tuple[float, float]:
    """CPU and wall seconds of one process."""
    begun = time.perf_counter()
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)  # or the object would wait for it again
    if child.returncode:
        raise SystemExit(f"error: {' '.join(arguments)} ended with code {child.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def packages(arguments: list[str]) -> dict[str, float]:
    """The shares of the heaviest packages."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    own: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        if line.startswith("import time:") and "[us]" not in line:
            microseconds, _, module = line.removeprefix("import time:").split("|")
            package = module.strip().partition(".")[0]
            own["the standard library" if package in sys.stdlib_module_names else package] += int(microseconds)
    return {package: round(microseconds / own.total(), 3) for package, microseconds in own.most_common(N_PACKAGES)}


def table(rows: list[Row]) -> str:
    """A table in Markdown."""
    lines = ["| command | CPU s | best wall s | heaviest packages |", "|---|---|---|---|"]
    for row in rows:
        listed = ", ".join(f"{package} {share:.0%}" for package, share in row.packages.items())
        lines.append(f"| `{row.command}` | {row.cpu_seconds:.2f} | {row.best_wall_seconds:.2f} | {listed} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
