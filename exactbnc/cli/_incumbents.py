"""`exactbnc solve --write-incumbents`: every better network in a file of its own, as soon as it is found."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from exactbnc.cli._command import origin

if TYPE_CHECKING:
    from exactbnc.graph.dag import DAG
    from exactbnc.problem.problem import Problem
    from exactbnc.run.events import Progress

_NUMBERED = re.compile(r"(\d{4,})-.*\.json")


class IncumbentFiles:
    """A listener that writes DIR/NNNN-SCORE.json; numbers go on after those that are there.

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
