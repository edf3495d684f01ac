"""`exactbnc solve --log`: what happened and when, a line at a time, appended to a text file.

Every line begins with the time in UTC and is in the file as soon as it is written, so that nothing is lost if the
process is killed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from exactbnc import __version__
from exactbnc.cli._command import origin, utc_now

if TYPE_CHECKING:
    from io import FileIO

    from exactbnc.graph.dag import DAG
    from exactbnc.problem.problem import Problem
    from exactbnc.run.events import Progress
    from exactbnc.run.limits import Limits

SECONDS_BETWEEN = 1.0
"""Between two lines of progress."""


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
        if time.monotonic() - self._last < SECONDS_BETWEEN:
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

    def search(self, method: str, seed: int, limits: Limits) -> None:
        """Write how it is to be solved."""
        asked = {"seconds": limits.seconds, "gap": limits.gap, "nodes": limits.nodes, "memory": limits.memory}
        told = ", ".join(f"{name} {value:g}" for name, value in asked.items() if value)
        self.line(f"search: method {method}, seed {seed}, limits: {told or 'none'}")

    def result(self, facts: dict[str, Any]) -> None:
        """Write the answer."""
        names = ("status", "stop_reason", "method", "score", "bound", "gap", "tolerance", "wall_seconds", "cpu_seconds")
        told = ", ".join(f"{name} {facts[name]}" for name in names if facts.get(name) is not None)
        self.line(f"result: {told}")
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
