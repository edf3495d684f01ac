"""What a piece of work is, and what it hands over: the families that pruning left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Survivors = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.integer[Any]]]
"""Children, scores, and a table of their free parents (all families of one size)."""

NO_SURVIVORS: Survivors = (np.empty(0, np.int64), np.empty(0, np.float64), np.empty((0, 1), np.int64))

Task = tuple[Callable[..., Survivors], tuple[Any, ...]]
"""A kernel and its arguments: one piece of work for one thread."""


@dataclass(frozen=True)
class Pruning:
    """Whether dominated sets are dropped, and how much worse than a subset a set may be and still stay."""

    on: bool
    gap: float = 0.0
