"""How rows are stored: arrays of codes, variables x rows, where a code is the position of a state.

The code UNKNOWN is a value that is missing or not a state; every probability sums it out exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNKNOWN = 2**16 - 1
"""The code of a value that is not known; no variable has that many states."""

Codes = NDArray[np.uint16]
Floats = NDArray[np.float64]
