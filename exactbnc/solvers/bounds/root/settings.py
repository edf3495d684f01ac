"""When the work at the root ends, and what is separated there."""

from __future__ import annotations

import math
from dataclasses import dataclass

from exactbnc.solvers.bounds.root.separation import ALL_SEPARATORS, Separators


@dataclass(frozen=True)
class Tail:
    """Stop when less than `share` of the gap was closed per round over `n_rounds` rounds.

    While the gap is more than `widest` of the incumbent's cost, LONG decides instead.
    """

    share: float
    n_rounds: int
    widest: float = math.inf


LONG = Tail(0.002, 10)
"""Branch-and-cut follows."""
SHORT = Tail(0.02, 3, widest=0.05)
"""A search over orders follows: it gains little from a better bound, unless the gap is so wide that it will be long."""


@dataclass(frozen=True)
class RootSettings:
    """When to stop, what to separate, and how many families the LP starts with and takes up per child."""

    tail: Tail = LONG
    separators: Separators = ALL_SEPARATORS
    first_families: int = 30
    more_families: int = 5
    slack_rounds: int = 1
    least_gain: int = 1
    """In the table's unit: a network is better than the incumbent if it is cheaper by at least this."""


DEFAULT_SETTINGS = RootSettings()
