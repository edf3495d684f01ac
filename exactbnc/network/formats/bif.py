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
import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.graph.textfile import decoded
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.formats._draft import Draft
from exactbnc.network.safe_names import Rule, SafeNames, decode, decode_state
from scorecache.wording import shown

SUFFIXES = (".bif",)
_TOKEN = re.compile(
    r"""
    (?: [\s,|]++ | //[^\n]*+ | /\*.*?\*/ )*+                             # skipped
    (?: ( "[^"]*" | [{}\[\]();] | (?: [^\s,|"{}\[\]();/]++ | /(?![/*]) )++ )  # a quoted name, a mark, a word
      | ( . )                                                             # a quote or a comment without an end
      | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
_ENDLESS = 2
_MARKS = frozenset("{}[]();")
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


def render(net: BayesNet) -> tuple[str, list[str]]:
    """The text, and what was escaped; the order of the variables is that of the network, whatever the class."""
    safe = SafeNames.of(net, NAMES, STATES)
    return "".join(f"{line}\n" for line in _lines(net, safe)), safe.notes


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    draft = Draft(label)
    cursor = _Cursor(decoded(content, label), label)
    for place in _declare_all(cursor, draft):
        cursor.place = place
        _define(cursor, draft)
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


class _Cursor:
    """The words and marks of a text; `place` is the number of the next one."""

    def __init__(self, text: str, label: str) -> None:
        self.label = label
        self.place = 0
        self._text = text
        self._tokens: list[str | None] = []
        self._starts: list[int] = []
        self._line, self._counted = 1, 0
        for match in _TOKEN.finditer(text):
            if match.lastindex is not None:
                self._starts.append(match.start(match.lastindex))
                self._tokens.append(match[match.lastindex])
                if match.lastindex == _ENDLESS:
                    self.place = len(self._tokens) - 1
                    raise self.fault("a quoted name or a comment to end")
        self._tokens.append(None)
        self._starts.append(self._starts[-1] if self._starts else 0)

    @property
    def token(self) -> str | None:
        """The next word or mark, None at the end."""
        return self._tokens[self.place]

    @property
    def line(self) -> int:
        """The line of the next token; at the end of the file, of the last one."""
        start = self._starts[self.place]
        if start < self._counted:
            self._line, self._counted = 1, 0
        self._line += self._text.count("\n", self._counted, start)
        self._counted = start
        return self._line

    def fault(self, expected: str) -> NetworkFileError:
        token = self._tokens[self.place]
        got = "the end of the file" if token is None else shown(token)
        return NetworkFileError(self.label, self.line, f"expected {expected}, got {got}")

    def meets(self, word: str) -> bool:
        """Take the next token if it is this."""
        if self._tokens[self.place] != word:
            return False
        self.place += 1
        return True

    def require(self, *words: str) -> None:
        for word in words:
            if not self.meets(word):
                raise self.fault(repr(word))

    def word(self, expected: str) -> str:
        """Take a name, without its quotes."""
        token = self._tokens[self.place]
        if token is None or token in _MARKS:
            raise self.fault(expected)
        self.place += 1
        return token[1:-1] if token[0] == '"' else token

    def words_until(self, mark: str, expected: str) -> list[str]:
        found: list[str] = []
        while not self.meets(mark):
            found.append(self.word(f"{expected} or {mark!r}"))
        return found

    def numbers(self) -> list[float]:
        """Take numbers and the semicolon after them."""
        try:
            end = self._tokens.index(";", self.place)
        except ValueError:
            end = len(self._tokens) - 1
        listed = self._tokens[self.place : end]
        try:
            found = [float(token) for token in listed]  # type: ignore[arg-type]
        except ValueError:
            self.place += next(k for k, token in enumerate(listed) if not _is_number(str(token)))
            raise self.fault("numbers or ';'") from None
        self.place = end
        self.require(";")
        return found

    def skip_property(self) -> bool:
        if not self.meets("property"):
            return False
        while not self.meets(";"):
            if self.token in (None, "{", "}"):
                raise self.fault("';' after the property")
            self.place += 1
        return True


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def _declare_all(cursor: _Cursor, draft: Draft) -> list[int]:
    """Declare the variables; where the `probability` blocks are, which may precede their variables."""
    blocks: list[int] = []
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
            blocks.append(cursor.place)
            while not cursor.meets("}"):
                if cursor.token is None:
                    raise cursor.fault("'}'")
                cursor.place += 1
        else:
            raise cursor.fault("'variable' or 'probability'")
    return blocks


def _declare(cursor: _Cursor, draft: Draft) -> None:
    """The block of a variable."""
    declared, states = cursor.line, None
    cursor.require("variable")
    name = decode(cursor.word("the name of a variable"))
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
        n_states = cursor.word("the number of states")
        cursor.require("]", "{")
        states = [decode_state(word) for word in cursor.words_until("}", "a state")]
        cursor.require(";")
        if n_states != str(len(states)):
            message = f"{name!r} announces {n_states:.60} states but lists {len(states)}"
            raise NetworkFileError(cursor.label, line, message)
    if states is None:
        raise NetworkFileError(cursor.label, line, f"expected the states of {name!r}")
    draft.declare(name, states, declared)


def _define(cursor: _Cursor, draft: Draft) -> None:
    """Read a `probability` block."""
    line = cursor.line
    cursor.require("probability", "(")
    names = [cursor.word("a variable"), *cursor.words_until(")", "a variable")]
    child, *parents = [decode(name) for name in names]
    shape = draft.family(child, parents, line)
    table: tuple[list[float], int] | None = None
    default: tuple[list[float], int] | None = None
    rows: dict[int, list[float]] = {}
    cursor.require("{")
    while not cursor.meets("}"):
        own_line = cursor.line
        if cursor.meets("("):
            place = _configuration_number(cursor, draft, parents, own_line)
            row = cursor.numbers()
            draft.check_row(child, row, own_line)
            if place in rows:
                given = _configuration(draft, parents, shape, place)
                raise draft.fault(own_line, f"the probabilities of {child!r} given ({given}) are given twice")
            rows[place] = row
        elif table is None and cursor.meets("table"):
            table = cursor.numbers(), own_line
        elif default is None and cursor.meets("default"):
            default = cursor.numbers(), own_line
        elif not cursor.skip_property():
            raise cursor.fault(f"'table' or 'default' of {child!r}, once, or '(states) probabilities;'")
    if table is None:
        draft.fill(child, _from_rows(draft, (child, *parents), line, rows, default), line)
        return
    numbers, line = table
    if rows or default is not None:
        raise draft.fault(line, f"the probabilities of {child!r} are given twice, by 'table' and by rows")
    if len(numbers) != math.prod(shape):
        raise draft.fault(line, f"expected {math.prod(shape)} probabilities of {child!r}, got {len(numbers)}")
    child_first = np.array(numbers).reshape(shape[-1], *shape[:-1])
    draft.fill(child, np.moveaxis(child_first, 0, -1), line)


def _configuration_number(cursor: _Cursor, draft: Draft, parents: Sequence[str], line: int) -> int:
    words = cursor.words_until(")", "a state")
    if len(words) != len(parents):
        came = ", ".join(words[:60])
        raise draft.fault(line, f"expected a state of each of the {len(parents)} parents, got ({came:.60})")
    place = 0
    for parent, word in zip(parents, words, strict=True):
        place = place * len(draft.states[parent]) + draft.code(parent, decode_state(word), line)
    return place


def _from_rows(
    draft: Draft,
    names: Sequence[str],
    line: int,
    rows: dict[int, list[float]],
    default: tuple[list[float], int] | None,
) -> Floats:
    child, *parents = names
    shape = tuple(len(draft.states[name]) for name in (*parents, child))
    n_places = math.prod(shape[:-1])
    if default is not None:
        draft.check_row(child, *default)
        draft.claim(child, (n_places - len(rows)) * shape[-1], default[1])
    elif len(rows) < n_places:
        absent = next(place for place in range(n_places) if place not in rows)
        given = _configuration(draft, parents, shape, absent)
        raise draft.fault(line, f"the probabilities of {child!r} given ({given}) are missing")
    table = np.empty((n_places, shape[-1]))
    if default is not None:
        table[:] = default[0]
    if rows:
        table[list(rows)] = list(rows.values())
    return table.reshape(shape)


def _configuration(draft: Draft, parents: Sequence[str], shape: Sequence[int], place: int) -> str:
    """The states of the parents, as they are written."""
    codes = np.unravel_index(place, shape[:-1]) if parents else ()
    return ", ".join(str(draft.states[parent][code]) for parent, code in zip(parents, codes, strict=True))
