"""How many variables a file may have; the largest networks in use have about a thousand."""

from __future__ import annotations

MOST_VARIABLES = 2**14


def too_many_variables(came: str = "more") -> str:
    """The message about a file with more variables than `MOST_VARIABLES`."""
    return f"expected at most {MOST_VARIABLES:,} variables, got {came}; leave out those that are not needed"
