"""What a piece of work hands over: the families that pruning left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Survivors = tuple[NDArray[np.integer[Any]], NDArray[np.float64], NDArray[np.integer[Any]]]
"""Children, scores, and a table of their free parents (all families of one size)."""


@dataclass(frozen=True)
class Pruning:
    """Whether dominated sets are dropped, and how much worse than a subset a set may be and still stay."""

    on: bool
    gap: float = 0.0
