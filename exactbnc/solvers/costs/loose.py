"""The bound that needs no search: every variable with its best family, cycles or not."""

from __future__ import annotations

import math

import numpy as np

from exactbnc.problem.problem import Problem


def loose_bound(problem: Problem) -> float:
    """No network scores more; minus infinity if a variable has no family."""
    families = problem.families
    if not np.all(np.diff(families.child_start)):
        return -math.inf
    return math.fsum(families.scores[families.child_start[:-1]])
