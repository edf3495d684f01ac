"""Messages of the library in the words of the command line: options instead of Python arguments."""

from __future__ import annotations

import re

_BOTH = re.compile(r"(--[a-z-]+(?: [\w.]+)?), [a-z_]+='?[\w.]*'?")
_BOTH_REVERSED = re.compile(r"\b[a-z_]+='?[\w.]*'?, (--[a-z-]+)")
_IGNORE = re.compile(r"\bignore=\[(?:'([^']*)'|\.\.\.)\]")
_OPTIONS = {
    "max_parents": "--max-parents",
    "time_limit": "--time-limit",
    "memory_limit": "--memory-limit",
    "class_name": "--class",
    "target": "--class",
    "n_rows": "--rows",
    "n_jobs": "--jobs",
    "keep_at_most": "--keep-at-most",
    "max_states": "--max-states",
    "discretize": "--discretize",
    "missing": "--missing",
    "given": "--given",
    "solver": "--solver",
    "states": "--states",
    "prune_gap": "--prune-gap",
    "for_posterior": "--for-posterior",
    "listed_families_only": "--listed-families-only",
}
_ARGUMENT = re.compile(rf"'?\b({'|'.join(_OPTIONS)})=(?:\{{\.\.\.\}}|'?([\w.]*)'?)|\b([a-z]+_[a-z_]+)\b")


def in_options(message: str) -> str:
    """The message with options for the arguments that it names; where it names both, with the options alone.

    >>> in_options("Give max_parents=2, or raise time_limit")
    'Give --max-parents 2, or raise --time-limit'
    >>> in_options("drop their rows (--missing drop, missing='drop')")
    'drop their rows (--missing drop)'
    >>> in_options("leave the column out (ignore=['id'])")
    'leave the column out (--ignore id)'
    >>> in_options("given={...} has probability 0")
    '--given has probability 0'
    """
    alone = _BOTH_REVERSED.sub(r"\1", _BOTH.sub(r"\1", message))
    alone = _IGNORE.sub(lambda found: f"--ignore {found[1] or 'COLUMN'}", alone)
    return _ARGUMENT.sub(_option, alone)


def _option(found: re.Match[str]) -> str:
    name, value, plain = found.groups()
    if plain is not None:
        return _OPTIONS.get(plain, plain)
    return f"{_OPTIONS[name]} {value}" if value else _OPTIONS[name]
