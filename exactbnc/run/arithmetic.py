"""The arithmetic that "proved" rests on: whole numbers of 1e-8, or floating point with a tolerance."""

from __future__ import annotations

WHOLE_NUMBERS = "order"
"""The method whose every decision is made in whole numbers."""


def what_it_rests_on(method: str, tolerance: float) -> str:
    """How a method proved that a network is best.

    >>> what_it_rests_on("order", 0.0)
    'in whole numbers of 1e-8'
    """
    if method != WHOLE_NUMBERS:
        return f"within {tolerance:.1g} in floating point"
    return f"within {tolerance:.1g} in whole numbers" if tolerance else "in whole numbers of 1e-8"
