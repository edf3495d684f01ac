"""Constraints from files: GOBNILP's `.con`, two-column lists of arcs, tiers.

A `.con` file has one constraint per line, `#` begins a comment, and `~` in front negates:

| line                 | meaning                                       | negation |
|----------------------|-----------------------------------------------|----------|
| `A-B`                | A and B are adjacent                          | yes      |
| `A<-B`, `B->A`       | B is a parent of A                            | yes      |
| `A<--B`              | B is an ancestor of A                         | yes      |
| `~A->C<-B`           | A and B, not adjacent, are not parents of C   | only     |
| `A<B`                | A comes before B in the order                 | no       |
| `sink A`, `root A`   | A has no children; A has no parents           | no       |
| `A,B_|_C|D`          | d-separated; lists of names, `|D` if need be  | no       |
| `chordal`            | no immoralities                               | no       |
| `polytree`           | one way at most between two variables         | no       |

`A->B`, `root A`, `chordal` and `polytree` are not GOBNILP's. A name holds no `~`, `<` or `>`, does not begin or end
with `-`, and holds none in `A-B`; in lists it holds no `,` and `|`.
"""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from exactbnc.problem.constraints import Constraints, arcs_from_tiers
from scorecache.domain import Arc
from scorecache.errors import InputError, ParameterError
from scorecache.system.atomic import atomic_write
from scorecache.system.files import open_input
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.wording import shown

PathLike = str | os.PathLike[str]
Entry = tuple[str, ...]

SUFFIX = ".con"
SEPARATORS = ("\t", ";", ",")
ARC_HEADER = ("from", "to")

_NAME = r"([^<>~-](?:[^<>~]*[^<>~-])?)"  # a hyphen beside an arrow would make it another one
_IMMORALITY = re.compile(f"{_NAME}->{_NAME}<-{_NAME}")
_RELATION = re.compile(f"{_NAME}(<--|<-|->|<){_NAME}")
_ENDPOINT = re.compile(r"(sink|root)\s+([^<>~]+)")
_ADJACENCY = re.compile(r"([^<>~-]+)-([^<>~-]+)")
_INDEPENDENCE = "_|_"
_WORDS = frozenset({"chordal", "polytree"})
_EXPECTED = "A-B, A<-B, A<--B, A->B, A<B, ~A->C<-B, sink A, root A, A_|_B|C, chordal or polytree"
_PIECE = re.compile(
    r"""(?P<blank>[ \t\r\n]+) | (?P<plain>[^ \t\r\n'"\\]+) | \\(?P<escaped>.) | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\]++|\\.)*+)" """,
    re.VERBOSE | re.DOTALL,
)
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")
_MOST_DIGITS = 18
_NOT_IN_A_NAME = ("~", "<", ">", "-", "#", "\ufeff", _INDEPENDENCE)


class ConstraintFileError(InputError):
    """A file of constraints is faulty at a line: `path:line: what was expected, what came`."""

    def __init__(self, path: PathLike, line: int, message: str) -> None:
        super().__init__(f"{os.fspath(path)}:{line}: {message}")
        self.path = os.fspath(path)
        self.line = line


def read_constraints(path: PathLike) -> Constraints:
    """Read a `.con` file; a blank line, where GOBNILP would stop reading, is passed over with a warning."""
    if Path(path).suffix.lower() != SUFFIX:
        raise ParameterError(f"a constraints file must end in {SUFFIX}. Got {os.fspath(path)!r} instead.")
    found: dict[str, dict[Any, None]] = {}
    names: set[str] = set()
    first_blank, is_cut_short = None, False
    for number, text in _numbered_lines(path):
        line = text.strip()
        if not line:
            first_blank = first_blank or number
            continue
        is_cut_short = first_blank is not None
        if not line.startswith("#"):
            try:
                field, entry = _parse_line(line)
            except ValueError as fault:
                raise ConstraintFileError(path, number, str(fault)) from None
            found.setdefault(field, {})[entry] = None
            names.update(name for part in entry for name in ([part] if isinstance(part, str) else part))
            if len(names) > MOST_VARIABLES:
                raise ConstraintFileError(path, number, too_many_variables())
    if is_cut_short:
        warnings.warn(
            f"{os.fspath(path)}:{first_blank}: GOBNILP would stop reading at this blank line; "
            "here the rest is read too",
            stacklevel=2,
        )
    listed: dict[str, Any] = {
        field: tuple(name for (name,) in entries) if field in ("sinks", "roots") else tuple(entries)
        for field, entries in found.items()
        if field not in _WORDS
    }
    listed |= dict.fromkeys(_WORDS.intersection(found), True)
    return Constraints(**listed)


def write_constraints(constraints: Constraints, path: PathLike) -> None:
    """Write a `.con` file that GOBNILP reads, tiers as forbidden arcs; an error names what it cannot hold."""
    _check_writable(constraints)
    text = "".join(f"{line}\n" for line in _con_lines(constraints))
    with atomic_write(path) as (sink,):
        sink.write(text.encode())


def read_arcs(path: PathLike) -> list[Arc]:
    """Read a white or black list: two columns, parent and child, with or without the header `from,to`.

    The separator is the first of tab, semicolon and comma that stands in the first line.
    """
    first = next((line for _, line in _numbered_lines(path) if line.strip()), "")
    separator = next((mark for mark in SEPARATORS if mark in first), ",")
    reader = csv.reader(
        (f"{line}\n" for _, line in _numbered_lines(path)), delimiter=separator, skipinitialspace=True, strict=True
    )
    arcs: dict[Arc, None] = {}
    names: set[str] = set()
    is_first = True
    try:
        for row in reader:
            ends = tuple(field.strip() for field in row)
            if not any(ends):
                continue
            if not (is_first and tuple(map(str.lower, ends)) == ARC_HEADER):
                arcs[_checked_arc(path, reader.line_num, ends, row)] = None
                names.update(ends)
                if len(names) > MOST_VARIABLES:
                    raise ConstraintFileError(path, reader.line_num, too_many_variables())
            is_first = False
    except csv.Error as error:
        raise ConstraintFileError(path, reader.line_num, f"expected a quoted name to end: {error}") from error
    return list(arcs)


def read_tiers(path: PathLike) -> list[list[str]]:
    """Read a tiers file, `1: a b` and `2: c "d e"` on lines of their own; the numbers say the order."""
    tiers: dict[int, list[str]] = {}
    tier_of: dict[str, int] = {}
    for line_number, line in _numbered_lines(path):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        number, colon, listed = line.partition(":")
        if not colon or not number.strip().isdecimal() or len(number) > _MOST_DIGITS:
            raise ConstraintFileError(path, line_number, f"expected a tier such as '1: a b', got {shown(line)}")
        tier = int(number.strip())
        if tier in tiers:
            message = f"tier {tier} is listed twice; put its variables on one line"
            raise ConstraintFileError(path, line_number, message)
        if len(tiers) >= MOST_VARIABLES:
            raise ConstraintFileError(path, line_number, f"expected at most {MOST_VARIABLES:,} tiers, got more")
        tiers[tier] = []
        for name in _shell_words(listed):
            if name is None:
                raise ConstraintFileError(path, line_number, f"no closing quotation in {shown(listed[:61].strip())}")
            if name in tier_of:
                raise ConstraintFileError(path, line_number, f"{shown(name)} is in tier {tier_of[name]} already")
            if len(tier_of) >= MOST_VARIABLES:
                raise ConstraintFileError(path, line_number, too_many_variables())
            tier_of[name] = tier
            tiers[tier].append(name)
    return [tiers[tier] for tier in sorted(tiers)]


def _numbered_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """The lines of a text file, from 1 on, without their ends."""
    with open_input(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.isascii() and (odd := _NOT_UTF_8.search(line)):
                byte = ord(odd[0]) & 0xFF
                raise ConstraintFileError(path, number, f"expected UTF-8 text, got byte {byte:#04x}")
            yield number, line.removesuffix("\n")


def _shell_words(text: str) -> Iterator[str | None]:
    """The words as a shell would see them; None where a quotation or an escape does not end.

    `shlex.split` takes the square of the length of a word.
    """
    pieces: list[str] = []
    place = 0
    while place < len(text):
        found = _PIECE.match(text, place)
        if found is None:
            yield None
            return
        place = found.end()
        if found["blank"] is None:
            quoted = found["double"]
            plain = found["plain"] or found["escaped"] or found["single"] or ""
            pieces.append(plain if quoted is None else re.sub(r'\\(["\\])', r"\1", quoted))
        elif pieces:
            yield "".join(pieces)
            pieces = []
    if pieces:
        yield "".join(pieces)


def _parse_line(line: str) -> tuple[str, Any]:
    """The field of `Constraints` and its new entry; a ValueError says what is wrong."""
    if line in _WORDS:
        return line, ()
    if _INDEPENDENCE in line:
        return "independences", _parse_independence(line)
    is_negated = line.startswith("~")
    field, entry = _parse_statement(line.removeprefix("~").strip(), is_negated, line)
    if len(set(entry)) < len(entry):
        raise ValueError(f"expected different variables, got {shown(line)}")
    return field, entry


def _parse_independence(line: str) -> tuple[Entry, ...]:
    sides, bar, given = line.partition(_INDEPENDENCE)[2].partition("|")
    parts = [line.partition(_INDEPENDENCE)[0], sides, *([given] if bar else [])]
    entry = tuple(tuple(name.strip() for name in part.split(",")) for part in parts)
    listed = [name for part in entry for name in part]
    if not all(listed) or any(mark in name for mark in ("~", "<", ">", "|") for name in listed):
        raise ValueError(f"expected lists of names such as A,B_|_C|D, got {shown(line)}")
    if len(set(listed)) < len(listed):
        raise ValueError(f"expected different variables, got {shown(line)}")
    return entry if bar else (*entry, ())


def _parse_statement(statement: str, is_negated: bool, line: str) -> tuple[str, Entry]:
    prefix = "forbidden" if is_negated else "required"
    if match := _IMMORALITY.fullmatch(statement):
        if not is_negated:
            raise ValueError(
                f"a required immorality is not supported, only a forbidden one (~A->C<-B), got {shown(line)}"
            )
        return f"{prefix}_immoralities", _names(match.groups(), line)
    if match := _RELATION.fullmatch(statement):
        left, right = _names((match[1], match[3]), line)
        match match[2]:
            case "<-":
                return f"{prefix}_arcs", (right, left)
            case "->":
                return f"{prefix}_arcs", (left, right)
            case "<--":
                return f"{prefix}_ancestors", (right, left)
        _refuse_negation(is_negated, "A<B", line)
        return "order", (left, right)
    if match := _ENDPOINT.fullmatch(statement):
        _refuse_negation(is_negated, f"{match[1]} A", line)
        return f"{match[1]}s", _names((match[2],), line)
    if match := _ADJACENCY.fullmatch(statement):
        return f"{prefix}_adjacencies", _names(match.groups(), line)
    raise ValueError(f"expected {_EXPECTED}, got {shown(line)}")


def _names(found: Iterable[str], line: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in found)
    if not all(names):
        raise ValueError(f"expected {_EXPECTED}, got {shown(line)}")
    return names


def _refuse_negation(is_negated: bool, form: str, line: str) -> None:
    if is_negated:
        raise ValueError(f"{form!r} cannot be negated, got {shown(line)}")


def _checked_arc(path: PathLike, line: int, names: tuple[str, ...], row: list[str]) -> Arc:
    came = ",".join(row[:60])
    if len(names) != 2 or not all(names):
        raise ConstraintFileError(path, line, f"expected two columns, from and to, got {shown(came)}")
    parent, child = names
    if parent == child:
        raise ConstraintFileError(path, line, f"expected two different variables, got {shown(came)}")
    return parent, child


def _check_writable(constraints: Constraints) -> None:
    default = Constraints()
    held = {"required_arcs", "forbidden_arcs", "required_adjacencies", "forbidden_adjacencies", "order", "tiers"}
    held |= {"sinks", "required_ancestors", "forbidden_ancestors", "forbidden_immoralities", "independences"}
    lost = [
        entry.name
        for entry in fields(constraints)
        if entry.name not in held and getattr(constraints, entry.name) != getattr(default, entry.name)
    ]
    if lost:
        raise ParameterError(f"a GOBNILP constraints file cannot hold {', '.join(lost)}")
    for where, name in constraints.mentioned():
        if name.split() != [name] or any(mark in name for mark in _NOT_IN_A_NAME):
            raise ParameterError(
                f"the variable name {name!r} ({where.replace('_', ' ')}) cannot stand in a GOBNILP constraints file, "
                "where a name is one word without ~ < > - # and _|_"
            )


def _con_lines(constraints: Constraints) -> Iterator[str]:
    forbidden = (*constraints.forbidden_arcs, *arcs_from_tiers(constraints.tiers))
    for sign, arcs in (("", constraints.required_arcs), ("~", forbidden)):
        yield from (f"{sign}{child}<-{parent}" for parent, child in arcs)
    for sign, pairs in (("", constraints.required_adjacencies), ("~", constraints.forbidden_adjacencies)):
        yield from (f"{sign}{a}-{b}" for a, b in pairs)
    for sign, pairs in (("", constraints.required_ancestors), ("~", constraints.forbidden_ancestors)):
        yield from (f"{sign}{descendant}<--{ancestor}" for ancestor, descendant in pairs)
    yield from (f"~{a}->{child}<-{b}" for a, child, b in constraints.forbidden_immoralities)
    yield from (f"{earlier}<{later}" for earlier, later in constraints.order)
    yield from (f"sink {name}" for name in constraints.sinks)
    for first, second, given in constraints.independences:
        yield f"{','.join(first)}_|_{','.join(second)}" + (f"|{','.join(given)}" if given else "")
