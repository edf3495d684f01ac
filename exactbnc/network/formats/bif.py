"""BIF, the text format of bnlearn's repository.

The writer keeps to the dialect that bnlearn, pgmpy and pyAgrum all read: one statement a line, variables first, one row
`(parent states) probabilities;` per configuration of the parents, no `default`, no `property`. Numbers are written so
that they are read back to the last bit. BIF knows no types: the state 1 is read back as '1'.

The reader takes the whole language: comments, quoted names, `property`, rows in any order, `default` for rows that are
not listed, and `table`, which with parents runs over the child slowest and the last parent fastest. A comma and a bar
are blanks, `probability ( A | B, C )` is `probability ( A B C )`.

Words, as measured on pgmpy 1.1.2 and pyAgrum 3.3.1 and read in bnlearn's source: pyAgrum takes ASCII only, no keyword,
nothing that begins like a decimal number, and a whole number as a state only; bnlearn cuts a name at a dot or a dash;
pgmpy stumbles over 'table' or 'default' before a digit or an e within a name, and over upper and lower case. All else
is escaped (`exactbnc.network.safe_names`). A variable with a single state is written and read here, but refused by
pyAgrum and dropped by bnlearn.
Reference: Cozman (1996), the interchange format for Bayesian networks.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.graph.textfile import decoded
from exactbnc.network.bayesnet import UNKNOWN as MOST_STATES
from exactbnc.network.bayesnet import BayesNet, Floats
from exactbnc.network.formats._bifwords import Cursor, Place
from exactbnc.network.formats._draft import Draft
from exactbnc.network.safe_names import Rule, SafeNames, decode, decode_state
from scorecache.system.limits import MOST_VARIABLES, too_many_variables

SUFFIXES = (".bif",)
KEYWORDS = ("network", "variable", "probability", "type", "discrete", "property", "table", "default")

NAMES = Rule.of(
    r"[A-Za-z_][A-Za-z0-9_]* | [0-9]+[A-DF-Za-df-z_][A-Za-z0-9_]*",
    r"[^A-Za-z0-9_] | t(?=able[0-9eE]) | d(?=efault[0-9eE])",
    KEYWORDS,
    ignores_case=True,
)
STATES = Rule.of(
    r"[A-Za-z_][A-Za-z0-9_.-]* | [0-9]+[A-DF-Za-df-z_][A-Za-z0-9_.-]* | -?[0-9]{1,9}", r"[^A-Za-z0-9_.-]", KEYWORDS
)


def render(net: BayesNet, class_name: str | None) -> tuple[str, list[str]]:
    """The text, and what was escaped; the order of the variables is that of the network, whatever the class."""
    safe = SafeNames.of(net, NAMES, STATES)
    return "".join(f"{line}\n" for line in _lines(net, safe)), safe.notes


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors.

    A block whose variables are declared is defined at once, so that only one is held at a time; the others are passed
    over and read in the end.
    """
    draft = Draft(label, len(content))
    cursor = Cursor(decoded(content, label), label)
    del content
    for place in _blocks(cursor, draft):
        cursor.go_to(place)
        _define(cursor, draft)
    del cursor
    return draft.finish()


def _lines(net: BayesNet, safe: SafeNames) -> Iterator[str]:
    yield "network unknown {"
    yield "}"
    for name, states in zip(safe.names, safe.states, strict=True):
        yield f"variable {name} {{"
        yield f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};"
        yield "}"
    for name, parents, table in zip(safe.names, net.dag.parents, net.tables, strict=True):
        rows = table.reshape(-1, table.shape[-1]).tolist()
        if parents:
            yield f"probability ( {name} | {', '.join(safe.names[parent] for parent in parents)} ) {{"
            for states, row in zip(product(*(safe.states[parent] for parent in parents)), rows, strict=True):
                yield f"  ({', '.join(states)}) {', '.join(map(repr, row))};"
        else:
            yield f"probability ( {name} ) {{"
            yield f"  table {', '.join(map(repr, rows[0]))};"
        yield "}"


def _blocks(cursor: Cursor, draft: Draft) -> list[Place]:
    """Declare the variables and define what can be; where the other `probability` blocks are."""
    later: list[Place] = []
    cursor.require("network")
    while not cursor.meets("{"):
        cursor.word("the name of the network or '{'")
    while not cursor.meets("}"):
        if not cursor.skip_property():
            raise cursor.fault("a property of the network or '}'")
    while cursor.token is not None:
        if cursor.token == "variable":
            _declare(cursor, draft)
        elif cursor.token == "probability":
            place = cursor.place
            if not _define(cursor, draft, if_declared=True):
                later.append(place)
                if len(later) > MOST_VARIABLES:
                    raise draft.fault(cursor.line, too_many_variables())
        else:
            raise cursor.fault("'variable' or 'probability'")
    return later


def _declare(cursor: Cursor, draft: Draft) -> None:
    """The block of a variable."""
    declared, states = cursor.line, None
    cursor.require("variable")
    name = draft.shared(decode(cursor.word("the name of a variable")))
    cursor.require("{")
    line = cursor.line
    while not cursor.meets("}"):
        line = cursor.line
        if cursor.skip_property():
            continue
        if states is None:
            cursor.meets("type")
        if states is not None or not cursor.meets("discrete"):
            raise cursor.fault(f"'type discrete' of {name!r}, once")
        line = cursor.line
        cursor.require("[")
        said = cursor.word("the number of states")
        cursor.require("]", "{")
        states = [draft.shared(decode_state(word)) for word in cursor.words_until("}", "a state", MOST_STATES)]
        cursor.require(";")
        if said != str(len(states)):
            raise NetworkFileError(cursor.label, line, f"{name!r} announces {said:.60} states but lists {len(states)}")
    if states is None:
        raise NetworkFileError(cursor.label, line, f"expected the states of {name!r}")
    draft.declare(name, states, declared)


@dataclass
class _Rows:
    """The rows of a block: the number of the configuration of the parents, the probabilities, the line."""

    places: array[int] = field(default_factory=lambda: array("q"))
    numbers: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("Q"))


def _define(cursor: Cursor, draft: Draft, *, if_declared: bool = False) -> bool:
    """Read a `probability` block; with `if_declared`, pass over one that speaks of variables not declared yet."""
    line = cursor.line
    cursor.require("probability", "(")
    names = [cursor.word("a variable"), *cursor.words_until(")", "a variable", MOST_VARIABLES)]
    child, *parents = [decode(name) for name in names]
    if if_declared and not all(name in draft.states for name in (child, *parents)):
        cursor.require("{")
        while not cursor.meets("}"):
            if cursor.token is None:
                raise cursor.fault("'}'")
            cursor.advance()
        return False
    shape = draft.family(child, parents, line)
    table: tuple[array[float], int] | None = None
    default: tuple[array[float], int] | None = None
    rows = _Rows()
    cursor.require("{")
    while not cursor.meets("}"):
        own_line = cursor.line
        if cursor.meets("("):
            _read_row(cursor, draft, child, parents, rows, own_line)
            if len(rows.places) > math.prod(shape[:-1]):
                break  # one of them is there twice
        elif table is None and cursor.meets("table"):
            table = cursor.numbers(), own_line
        elif default is None and cursor.meets("default"):
            default = cursor.numbers(), own_line
        elif not cursor.skip_property():
            raise cursor.fault(f"'table' or 'default' of {child!r}, once, or '(states) probabilities;'")
    if table is None:
        draft.fill(child, _from_rows(draft, child, parents, line, rows, default), line)
        return True
    numbers, line = table
    if rows.places or default is not None:
        raise draft.fault(line, f"the probabilities of {child!r} are given twice, by 'table' and by rows")
    if len(numbers) != math.prod(shape):
        raise draft.fault(line, f"expected {math.prod(shape)} probabilities of {child!r}, got {len(numbers)}")
    child_first = np.frombuffer(numbers).reshape(shape[-1], *shape[:-1])
    draft.fill(child, np.moveaxis(child_first, 0, -1), line)
    return True


def _read_row(cursor: Cursor, draft: Draft, child: str, parents: Sequence[str], rows: _Rows, line: int) -> None:
    words = cursor.words_until(")", "a state", MOST_VARIABLES)
    if len(words) != len(parents):
        came = ", ".join(words[:60])
        raise draft.fault(line, f"expected a state of each of the {len(parents)} parents, got ({came:.60})")
    place = 0
    for parent, word in zip(parents, words, strict=True):
        place = place * len(draft.states[parent]) + draft.code(parent, decode_state(word), line)
    row = cursor.numbers()
    draft.check_row(child, row, line)
    rows.places.append(place)
    rows.numbers.extend(row)
    rows.lines.append(line)


def _from_rows(
    draft: Draft,
    child: str,
    parents: Sequence[str],
    line: int,
    rows: _Rows,
    default: tuple[array[float], int] | None,
) -> Floats:
    shape = tuple(len(draft.states[name]) for name in (*parents, child))
    n_places = math.prod(shape[:-1])
    if default is None and len(rows.places) == n_places and rows.places == array("q", range(n_places)):
        return np.frombuffer(rows.numbers).reshape(shape)  # as every writer lists them
    places = np.array(rows.places, dtype=np.int64)
    order = np.argsort(places, kind="stable")
    again = np.flatnonzero(np.diff(places[order]) == 0)
    if len(again):
        second = order[again + 1].min()
        given = _configuration(draft, parents, shape, int(places[second]))
        raise draft.fault(rows.lines[second], f"the probabilities of {child!r} given ({given}) are given twice")
    if default is not None:
        draft.check_row(child, *default)
        draft.claim(child, (n_places - len(places)) * shape[-1], default[1])
    elif len(places) < n_places:
        is_there = places[order] == np.arange(len(places))
        given = _configuration(draft, parents, shape, int(np.argmin([*is_there, False])))
        raise draft.fault(line, f"the probabilities of {child!r} given ({given}) are missing")
    table = np.empty((n_places, shape[-1]))
    if default is not None:
        table[:] = default[0]
    table[places] = np.frombuffer(rows.numbers).reshape(-1, shape[-1]) if places.size else 0
    return table.reshape(shape)


def _configuration(draft: Draft, parents: Sequence[str], shape: Sequence[int], place: int) -> str:
    """The states of the parents, as they are written."""
    codes = np.unravel_index(place, shape[:-1]) if parents else ()
    return ", ".join(str(draft.states[parent][code]) for parent, code in zip(parents, codes, strict=True))
