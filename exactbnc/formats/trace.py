"""How a search went, small enough for a file: [seconds, score, bound] in the order of time.

What is kept of a long trace are the first and last states and, among the others, those after which the most time passes
without a change: a plot of the steps is as good as the whole. A number that is not finite is null.
"""

from __future__ import annotations

from itertools import pairwise
from math import isfinite

from exactbnc.run.solution import Solution

MOST_POINTS = 300

Point = list[float | None]


def trace_facts(solution: Solution) -> list[Point]:
    """The states of a search at which its score or its bound changed, and the last one."""
    states = [(round(state.seconds, 4), state.score, state.bound) for state in solution.trace]
    changed = [later for earlier, later in pairwise(states) if later[1:] != earlier[1:]]
    kept = list(dict.fromkeys([*states[:1], *changed, *states[-1:]]))
    return [[seconds, _finite(score), _finite(bound)] for seconds, score, bound in _thinned(kept)]


def _thinned(states: list[tuple[float, float | None, float]]) -> list[tuple[float, float | None, float]]:
    if len(states) <= MOST_POINTS:
        return states
    lasts = [(later[0] - earlier[0], -number) for number, (earlier, later) in enumerate(pairwise(states)) if number]
    longest = sorted(-number for _, number in sorted(lasts, reverse=True)[: MOST_POINTS - 2])
    return [states[0], *(states[number] for number in longest), states[-1]]


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
