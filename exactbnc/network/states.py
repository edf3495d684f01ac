"""Which state of a network a value is.

The one rule for rows of a table, for evidence and for models: a value is the state of the same type that equals it,
or else the state with the same text, or else the one state that is the same number (1.0 is 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import isnan

from exactbnc.network.numbers import number_of


def state_codes(states: Sequence[Hashable], values: Sequence[Hashable]) -> list[int | None]:
    """The code of the state that each value is; None where it is not a state.

    >>> state_codes(("1", "2"), (1, 2.0, "3"))
    [0, 1, None]
    """
    code_of = {(type(state), state): code for code, state in enumerate(states)}
    code_of_text = {str(state): code for code, state in enumerate(states)}
    numbers = [number_of(state) for state in states]
    counts = Counter(numbers)
    code_of_number = {number: code for code, number in enumerate(numbers) if counts[number] == 1 and not isnan(number)}

    def code(value: Hashable) -> int | None:
        known = code_of.get((type(value), value), code_of_text.get(str(value)))
        return code_of_number.get(number_of(value)) if known is None else known

    return [code(value) for value in values]
