"""How rows are stored: arrays of codes, variables x rows, where a code is the position of a state.

The code UNKNOWN is a value that is missing or not a state; every probability sums it out exactly. Of a variable of
numbers the code says only whether the number is known (0) or not (UNKNOWN); the numbers are beside the codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN = 2**16 - 1
"""The code of a value that is not known; no variable has that many states."""

Codes = NDArray[np.uint16]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a network that may have numbers.

    Parameters
    ----------
    codes : array of uint16
        Variables x rows.
    numbers : array of float64, optional
        Of the same shape; read where a variable of numbers has the code 0. None for a network without numbers.

    Examples
    --------
    >>> rows = Rows.of(np.array([[1], [0]], dtype=np.uint16))
    >>> rows.take([0]).codes.tolist(), rows.numbers is None
    ([[1], [0]], True)
    """

    codes: Codes
    numbers: Floats | None = None

    @classmethod
    def of(cls, rows: Codes | Rows) -> Rows:
        """Rows, of codes alone too."""
        return rows if isinstance(rows, Rows) else cls(rows)

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    def take(self, chosen: Any) -> Rows:
        """Some of the rows, by number or by truth value."""
        numbers = None if self.numbers is None else np.ascontiguousarray(self.numbers[:, chosen])
        return Rows(np.ascontiguousarray(self.codes[:, chosen]), numbers)

    def without(self, v: int) -> Rows:
        """The same rows, a variable of which is not known."""
        codes = self.codes.copy()
        codes[v] = UNKNOWN
        return Rows(codes, self.numbers)

    def column(self, v: int) -> Floats:
        """The numbers of a variable."""
        assert self.numbers is not None
        return np.asarray(self.numbers[v])
