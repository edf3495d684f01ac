"""The small languages of the options: sizes, arcs, lists of names, score parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exactbnc.cli._errors import UsageError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_EXPONENT = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str, option: str) -> int:
    """Read a size in bytes.

    >>> parse_size("4G", "--memory-limit"), parse_size("500M", "--memory-limit"), parse_size("1000", "--memory-limit")
    (4294967296, 524288000, 1000)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{option} must be a size such as 500M, 4G or a number of bytes. Got {text!r} instead.")
    return int(float(match[1]) * 1024 ** _EXPONENT[match[2].upper()])


def parse_arc(text: str, option: str) -> tuple[str, str]:
    """Read an arc.

    >>> parse_arc("smoke -> lung", "--require")
    ('smoke', 'lung')
    """
    names = [name.strip() for name in text.split("->")]
    if len(names) != 2 or not all(names):
        raise UsageError(f"{option} must be an arc such as 'parent->child'. Got {text!r} instead.")
    return names[0], names[1]


def parse_order(text: str) -> tuple[str, str]:
    """Read a pair of an order.

    >>> parse_order("smoke < lung")
    ('smoke', 'lung')
    """
    names = [name.strip() for name in text.split("<")]
    if len(names) != 2 or not all(names):
        raise UsageError(f"--order must be a pair such as 'A<B'. Got {text!r} instead.")
    return names[0], names[1]


def parse_independence(text: str) -> tuple[list[str], list[str], list[str]]:
    """Read an independence.

    >>> parse_independence("a, b _|_ c | d")
    (['a', 'b'], ['c'], ['d'])
    """
    sides, bar, given = text.replace("_|_", "\0", 1).partition("|")
    first, sign, second = sides.partition("\0")
    parts = [[name.strip() for name in part.split(",")] for part in (first, second, given) if part.strip()]
    if not sign or len(parts) != 2 + bool(bar) or not all(name for part in parts for name in part):
        raise UsageError(f"--independent must be such as 'A,B _|_ C | D'. Got {text!r} instead.")
    return parts[0], parts[1], parts[2] if bar else []


def names_in(text: str, option: str) -> list[str]:
    """The names of a list with commas.

    >>> names_in("tan, anb", "--structure")
    ['tan', 'anb']
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{option} must be names with commas between them. Got {text!r} instead.")
    return list(dict.fromkeys(names))


def parse_values(assignments: Iterable[str], option: str) -> dict[str, str]:
    """Read `NAME=VALUE` assignments, none of a name twice.

    >>> parse_values(["smoke=yes", "dose = <= 3"], "--given")
    {'smoke': 'yes', 'dose': '<= 3'}
    """
    values: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = (part.strip() for part in assignment.partition("="))
        if not (name and equals and value):
            raise UsageError(f"{option} must be NAME=VALUE. Got {assignment!r} instead.")
        if name in values:
            raise UsageError(f"{name!r} is given twice")
        values[name] = value
    return values


def parse_parameters(assignments: Iterable[str]) -> dict[str, float | str]:
    """Read `NAME=VALUE` assignments of `--param`; what looks like a number is one.

    >>> parse_parameters(["prior=dirichlet", "pseudo_count=1"])
    {'prior': 'dirichlet', 'pseudo_count': 1.0}
    """
    return {name: _number_or_text(value) for name, value in parse_values(assignments, "--param").items()}


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
