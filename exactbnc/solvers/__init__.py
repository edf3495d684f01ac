"""The solvers and the one verb: `solve(problem)`.

Each solver says of a problem yes, or no with the reason; `auto` takes the first that fits: the tree solver, then
dynamic programming within the memory limit, then the integer program.
"""

from __future__ import annotations

from typing import Protocol

from exactbnc.dag import DAG
from exactbnc.limits import Limits
from exactbnc.listener import Listener
from exactbnc.problem import Problem
from exactbnc.solution import Solution


class Solver(Protocol):
    """One way to find a best network."""

    name: str

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why this solver cannot take the problem; None if it can."""

    def solve(
        self, problem: Problem, limits: Limits, start: DAG | None, listener: Listener | None, seed: int
    ) -> Solution:
        """A best network, or the best found when a limit was reached."""
