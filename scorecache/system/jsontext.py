"""JSON from anybody: a document whose objects would take far more memory than its text is refused before it is read.

In `[[],[],[]]` every three bytes become an object of 56 and a place of 8 in a list. What the objects of a document will
take is told from how often its marks occur. The estimate errs on the high side; only where it is above the limit are
the numbers counted one by one, since those of one or two digits mostly are no new objects, and the different keys,
since equal ones are one object.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from scorecache.system.limits import FREE_BYTES, MOST_RATIO

# Bytes of CPython's objects, by how the standard library's reader makes them.
_LIST, _FIRST_PLACES, _PLACE = 56, 32, 9
_DICT, _FIRST_KEYS, _KEY, _NEW_KEY = 64, 120, 45, 85
_TEXT, _WIDE_TEXT, _NUMBER = 57, 84, 32

_LONG_NUMBER = re.compile(r"[0-9][0-9.eE+-]{2,}")
_ANY_KEY = re.compile(r'"((?:[^"\\]++|\\.)*+)"\s*+:')
_MOST_KEYS = 2**12
_FOR_THE_READER = 4 * 2**20
"""Of the free bytes, what is left for whoever takes the document."""


class HeavyJSONError(ValueError):
    """The objects of a document would take too much memory; the message does not name the file."""


def parse_json(text: str, n_bytes: int, **hooks: Any) -> Any:
    """As `json.loads`, or a HeavyJSONError; `n_bytes` is the size of the file."""
    most = (MOST_RATIO - 1) * n_bytes + FREE_BYTES - _FOR_THE_READER
    per_number = _TEXT if "parse_int" in hooks else _NUMBER
    if _estimate(text, per_number) > most and _estimate(text, per_number, in_full=True) > most:
        raise HeavyJSONError(
            f"its {n_bytes:,} bytes are so many small values that they would take more than {MOST_RATIO} times as much "
            "memory; such a file is none of ours"
        )
    return json.loads(text, **hooks)


def _estimate(text: str, per_number: int, *, in_full: bool = False) -> int:
    """The bytes of the text, twice, and of its objects."""
    n_lists, n_empty_lists = text.count("["), text.count("[]")
    n_dicts, n_empty_dicts = text.count("{"), text.count("{}")
    n_commas, n_keys, n_texts = text.count(","), text.count(":"), text.count('"') // 2
    n_values = n_commas + n_lists - n_empty_lists + n_dicts - n_empty_dicts + 1
    n_numbers = max(0, n_values - n_lists - n_dicts - max(0, n_texts - n_keys))
    n_different = n_keys
    if in_full:
        n_numbers = sum(1 for _ in _LONG_NUMBER.finditer(text))
        n_different = min(n_keys, _n_different_keys(text))
    return (
        2 * sys.getsizeof(text)
        + _LIST * n_lists
        + _FIRST_PLACES * (n_lists - n_empty_lists)
        + _PLACE * n_commas
        + _DICT * n_dicts
        + _FIRST_KEYS * (n_dicts - n_empty_dicts)
        + _KEY * n_keys
        + _NEW_KEY * n_different
        + (_TEXT if text.isascii() else _WIDE_TEXT) * max(0, n_texts - n_keys + n_different)
        + per_number * n_numbers
    )


def _n_different_keys(text: str) -> int:
    """At least so many as there are; beyond some, as many as there are keys."""
    different: set[str] = set()
    n_keys = 0
    for found in _ANY_KEY.finditer(text):
        n_keys += 1
        if len(different) < _MOST_KEYS:
            different.add(found[1])
    return len(different) if len(different) < _MOST_KEYS else n_keys
