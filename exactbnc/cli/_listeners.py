"""What `exactbnc solve` writes while it runs: a log, a file per better network, and the progress of a ranking.

Every line of the log begins with the time in UTC and is in the file as soon as it is written, so that nothing is lost
if the process is killed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactbnc import __version__
from exactbnc.cli._command import origin, utc_now

if TYPE_CHECKING:
    from io import FileIO

    from exactbnc.alternatives.ranking import Wanted
    from exactbnc.graph.dag import DAG
    from exactbnc.problem.problem import Problem
    from exactbnc.run.events import Progress
    from exactbnc.run.limits import Limits
    from exactbnc.run.solution import Solution

LOG_SECONDS = 1.0
"""Between two lines of progress in the log."""
RANKING_SECONDS = 0.5
"""Between two lines about a ranking."""
_NUMBERED = re.compile(r"(\d{4,})-.*\.json")


class SolveLog:
    """A listener that writes lines; without a file, nothing."""

    def __init__(self, file: FileIO | None) -> None:
        self._file = file
        self._last = -float("inf")

    def line(self, text: str) -> None:
        """Write a line with the time; a full disk does not end the search."""
        if self._file is not None:
            with suppress(OSError):
                self._file.write(f"{utc_now()} {text}\n".encode(errors="backslashreplace"))

    def on_progress(self, progress: Progress) -> None:
        """Write the state of the search, at most once a second."""
        if time.monotonic() - self._last < LOG_SECONDS:
            return
        self._last = time.monotonic()
        score = "-" if progress.score is None else f"{progress.score:.8f}"
        gap = "-" if progress.score is None else f"{max(0.0, progress.bound - progress.score):.6g}"
        self.line(
            f"progress: {progress.seconds:.1f} s, score {score}, bound {progress.bound:.8f}, gap {gap}, "
            f"{progress.nodes} nodes, {progress.cuts} cuts"
        )

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Write the score and the size of the network."""
        self.line(f"network: score {score:.8f}, {dag.n_arcs} arcs")

    def problem(self, problem: Problem) -> None:
        """Write what is to be solved."""
        n_families = len(problem.families.scores)
        self.line(f"problem: {problem.n_vars} variables, {n_families} families within the constraints")
        self.line(f"constraints: {json.dumps(problem.constraints.to_json(), ensure_ascii=False)}")

    def search(self, solver: str, seed: int, limits: Limits) -> None:
        """Write how it is to be solved."""
        asked = {"seconds": limits.seconds, "gap": limits.gap, "nodes": limits.nodes, "memory": limits.memory}
        given = ", ".join(f"{name} {value:g}" for name, value in asked.items() if value)
        self.line(f"search: solver {solver}, seed {seed}, limits: {given or 'none'}")

    def result(self, facts: dict[str, Any]) -> None:
        """Write the answer."""
        names = ("status", "stop_reason", "method", "score", "bound", "gap", "tolerance", "wall_seconds", "cpu_seconds")
        listed = ", ".join(f"{name} {facts[name]}" for name in names if facts.get(name) is not None)
        self.line(f"result: {listed}")
        self.line(f"statistics: {json.dumps(facts.get('statistics', {}))}")


@contextmanager
def solve_log(path: str | None) -> Iterator[SolveLog]:
    """A log at the end of a file, from the command to the result or the error; None: no log."""
    if path is None:
        yield SolveLog(None)
        return
    with open(path, "ab", buffering=0) as file:  # what finds no room on the disk is not tried again when it is closed
        log = SolveLog(file)
        log.line(f"start: exactbnc {__version__}: {' '.join(origin().command)}")
        try:
            yield log
        except BaseException as error:
            log.line(f"end: {type(error).__name__}: {error}")
            raise
        log.line("end: done")


class IncumbentFiles:
    """A listener that writes DIR/NNNN-SCORE.json; numbers continue after those that are there.

    A file that cannot be written does not end the search; `fault` says what went wrong last.
    """

    def __init__(self, folder: str, problem: Problem) -> None:
        os.makedirs(folder, exist_ok=True)
        numbers = [int(found[1]) for name in os.listdir(folder) if (found := _NUMBERED.fullmatch(name))]
        self._folder = Path(folder)
        self._problem = problem
        self._number = max(numbers, default=0)
        self.fault: str | None = None

    def on_progress(self, progress: Progress) -> None:
        """Bounds are not written."""

    def on_incumbent(self, dag: DAG, score: float) -> None:
        """Write the network."""
        from exactbnc.formats import write_network

        self._number += 1
        path = self._folder / f"{self._number:04d}-{score:.8f}.json"
        try:
            write_network(dag, self._problem, path, origin=origin())
        except OSError as error:
            self.fault = f"{path}: {error.strerror or error}"


class RankingProgress:
    """Prints to a terminal, now and then, how many networks are listed."""

    def __init__(self, wanted: Wanted) -> None:
        self._of = "" if wanted.count is None else f" of {wanted.count}"
        self._is_shown = sys.stderr.isatty()
        self._best: float | None = None
        self._last = time.monotonic()

    def __call__(self, number: int, solution: Solution) -> None:
        """Print a line if the last one is old enough."""
        self._best = solution.score if self._best is None else self._best
        if not self._is_shown or time.monotonic() - self._last < RANKING_SECONDS:
            return
        self._last = time.monotonic()
        below = (self._best or 0.0) - (solution.score or 0.0)
        print(f"{number}{self._of} networks listed, the last {below:.6f} below the best", file=sys.stderr)
