"""The command line as it was typed, for the provenance of the files that a command writes."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactbnc.formats.network import Origin

_typed: ContextVar[tuple[str, ...]] = ContextVar("_typed", default=())


def remember(arguments: Sequence[str]) -> None:
    """Keep the arguments of the command that is about to run."""
    _typed.set(tuple(arguments))


def origin() -> Origin:
    """The command that runs, and the time."""
    from exactbnc.formats.network import Origin

    return Origin(("exactbnc", *_typed.get()), utc_now())


def utc_now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
