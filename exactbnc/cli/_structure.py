"""The structure options that `score` and `solve` share."""

from __future__ import annotations

from collections.abc import Mapping

from exactbnc.cli._errors import UsageError


def chosen_family(flags: Mapping[str, bool]) -> str | None:
    """The one structure that was asked for, if any."""
    chosen = [family for family, wanted in flags.items() if wanted]
    if len(chosen) > 1:
        listed = " and ".join("--" + family.replace("_", "-") for family in chosen)
        raise UsageError(f"choose one structure; got {listed}")
    return chosen[0] if chosen else None
