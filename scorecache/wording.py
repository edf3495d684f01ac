"""How error messages put things."""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import Repr
from typing import Any

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def listing(texts: Iterable[str], most: int = 10) -> str:
    """Texts for an error message, cut where the list gets long."""
    every = list(texts)
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown}, ... ({len(every)} in all)"


def shown(value: Any, most: int = 60) -> str:
    """What came, shortened to a number of characters; unlike `repr`, no text is made of what is cut off."""
    if isinstance(value, str):
        return repr(value[:most])[:most] if len(value) > most else repr(value)
    return _SHORT.repr(value)[:most]
