"""The record of a cache as JSON text, tied to the scores it was written with.

A record says what a cache is safe for, so it must not outlive its scores: another program may replace the score file
and leave the record behind. The text therefore holds the variables' names in order and a hash of the scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from scorecache.record import Record
from scorecache.system.jsontext import parse_json


def facts_of(record: Record, sha256: str) -> dict[str, Any]:
    """Everything that `restore_record` needs, ready for JSON."""
    return {"names": list(record.domain.names), "scores_sha256": sha256, **record.to_json()}


def restore_record(text: bytes, names: Sequence[str], sha256: str, *, where: str) -> Record | None:
    """Read a record; None, with a warning that begins with `where`, if it is not ours or speaks of other scores."""
    try:
        facts = parse_json(text.decode(), len(text))
        if facts["names"] == list(names) and facts["scores_sha256"] == sha256:
            return Record.from_json(names, facts)
        reason = "was written for other scores"
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"is no record of this version ({type(error).__name__}: {error!s:.200})"
    warnings.warn(f"{where} {reason}; the scores are read as those of another program, without a record", stacklevel=4)
    return None
