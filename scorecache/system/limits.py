"""How much a file may hold: limits that no real file comes near, so that a small file cannot ask for much memory.

A reader may take `MOST_RATIO` times the bytes of its file, and `FREE_BYTES` in any case. A name is an object of some
hundred bytes however short it is, which is why the number of names has a limit: the largest networks in use have about
a thousand variables.
"""

from __future__ import annotations

MOST_VARIABLES = 2**14
MOST_NAME = 2**20
"""Characters of a name."""
MOST_RATIO = 10
FREE_BYTES = 12 * 2**20


def too_many_variables(came: str = "more") -> str:
    """What to say of a file with more variables than that."""
    return f"expected at most {MOST_VARIABLES:,} variables, got {came}; leave out those that are not needed"


def too_long_name(name: str) -> str:
    """What to say of a name, or its beginning, that is longer than a name may be."""
    return f"expected names of at most {MOST_NAME:,} characters, got a longer one that begins with {name[:60]!r:.60}"
