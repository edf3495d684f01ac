"""Messages of the library in the words of the command line: options instead of Python arguments."""

from __future__ import annotations

import re
from shlex import quote

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
    "allow_identifiers": "--allow-identifiers",
    "any_scores": "--ignore-hash",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "header": "--no-header",
    "int_names": "--int-names",
    "max_file_size": "--max-file-size",
    "prune": "--no-prune",
    "separator": "--separator",
}
_ARGUMENT = re.compile(rf"'?\b({'|'.join(_OPTIONS)})=(?:\{{\.\.\.\}}|'?([\w.]*)'?)|\b([a-z]+_[a-z_]+)\b")


def in_options(message: str) -> str:
    """The message with options for the arguments that it names.

    >>> in_options("Give max_parents=2, or raise time_limit")
    'Give --max-parents 2, or raise --time-limit'
    >>> in_options("drop their rows (missing='drop') or write integer names (int_names=True)")
    'drop their rows (--missing drop) or write integer names (--int-names)'
    >>> in_options("leave the column out (ignore=['id'])"), in_options("leave it out (ignore=[''])")
    ('leave the column out (--ignore id)', "leave it out (--ignore '')")
    >>> in_options("given={...} has probability 0")
    '--given has probability 0'
    """
    named = _IGNORE.sub(lambda found: f"--ignore {'COLUMN' if found[1] is None else quote(found[1])}", message)
    return _ARGUMENT.sub(_option, named)


def _option(found: re.Match[str]) -> str:
    name, value, plain = found.groups()
    if plain is not None:
        return _OPTIONS.get(plain, plain)
    return f"{_OPTIONS[name]} {value}" if value and value not in ("True", "False") else _OPTIONS[name]
