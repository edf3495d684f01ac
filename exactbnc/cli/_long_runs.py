"""The options of `exactbnc solve` for long runs: which go together, and what they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import STANDARD_STREAM

if TYPE_CHECKING:
    from exactbnc.checkpoint.checkpoint import Checkpoint


def check_long_run_options(
    checkpoint: str | None, checkpoint_every: float | None, write_incumbents: str | None, *, ranks: bool
) -> None:
    """Refuse what makes no sense together."""
    for name, given in (("--checkpoint", checkpoint), ("--write-incumbents", write_incumbents)):
        if given is not None and ranks:
            raise UsageError(f"{name} is for one network, not for --k-best or --within")
        if given == STANDARD_STREAM:
            raise UsageError(f"{name} needs a name in the file system. Got {given!r} instead.")
    if checkpoint_every is None:
        return
    if checkpoint is None:
        raise UsageError("--checkpoint-every says how often a checkpoint is saved: add --checkpoint FILE")
    if not checkpoint_every > 0:
        raise UsageError(f"--checkpoint-every must be more than 0 seconds. Got {checkpoint_every:g} instead.")


def checkpoint_of(path: str | None, every: float | None) -> Checkpoint | None:
    """The checkpoint that was asked for, if any."""
    if path is None:
        return None
    from exactbnc.checkpoint.checkpoint import DEFAULT_EVERY, Checkpoint

    return Checkpoint(path, DEFAULT_EVERY if every is None else every)
