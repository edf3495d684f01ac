"""How error messages put things."""

from __future__ import annotations

from collections.abc import Iterable


def listing(texts: Iterable[str], most: int = 10) -> str:
    """Texts for an error message, cut where the list gets long."""
    every = list(texts)
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown}, ... ({len(every)} in all)"
