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
is escaped (`exactbnc.export.safe_names`). A variable with a single state is written and read here, but refused by
pyAgrum and dropped by bnlearn.
Reference: Cozman (1996), the interchange format for Bayesian networks.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from exactbnc.bayesnet import BayesNet, Floats
from exactbnc.export._draft import Draft
from exactbnc.export.network import NetworkFileError
from exactbnc.export.safe_names import Rule, SafeNames, decode, decode_state

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

_SKIPPED = r"(?: [\s,|]++ | //[^\n]* | /\*.*?\*/ )+"
_WORD = r"""(?: [^\s,|"{}\[\]();/]++ | /(?![/*]) )+"""
_TOKEN = re.compile(
    rf"""
      {_SKIPPED}
    | ( [-+0-9.][-+0-9.eE\s,]*+ (?=;)                                # the numbers of a row, as one token for speed
      | "[^"]*" | [{{}}\[\]();]                                      # a quoted name, a mark
      | (?![-+0-9.]) {_WORD} )
    | (?= ( [-+0-9.][-+0-9.eE\s,]*+ ) )                              # numbers that are words: no semicolon follows
    | ( . )                                                           # a quote or a comment without an end
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = re.compile(rf"{_SKIPPED} | ( {_WORD} )", re.VERBOSE | re.DOTALL)
_MARKS = frozenset("{}[]();")


def render(net: BayesNet, class_name: str | None) -> tuple[str, list[str]]:
    """The text, and what was escaped; the order of the variables is that of the network, whatever the class."""
    safe = SafeNames.of(net, NAMES, STATES)
    return "".join(f"{line}\n" for line in _lines(net, safe)), safe.notes


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetworkFileError(label, line, f"expected UTF-8 text, got byte {content[error.start]:#04x}") from error
    cursor = _Cursor.of(text, label)
    draft = Draft(label)
    families = list(_blocks(cursor, draft))
    for family in families:
        _define(family, draft)
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


@dataclass
class _Cursor:
    """The words and marks of a text, and a place among them."""

    label: str
    tokens: list[str]
    starts: array[int]
    breaks: array[int]
    place: int = 0

    @classmethod
    def of(cls, text: str, label: str) -> _Cursor:
        cursor = cls(label, [], array("q"), _line_breaks(text))
        for start, token, is_endless in _tokens(text):
            cursor.tokens.append(token)
            cursor.starts.append(start)
            if is_endless:
                cursor.place = len(cursor.tokens) - 1
                raise cursor.fault("a quoted name or a comment to end")
        return cursor

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.tokens)

    @property
    def line(self) -> int:
        """The line of the next token; at the end of the file, of the last one."""
        return self.line_of(self.place)

    def line_of(self, place: int) -> int:
        if not self.starts:
            return 1
        return bisect_right(self.breaks, self.starts[min(place, len(self.starts) - 1)]) + 1

    def fault(self, expected: str) -> NetworkFileError:
        got = "the end of the file" if self.at_end else f"{self.tokens[self.place]!r:.60}"
        return NetworkFileError(self.label, self.line, f"expected {expected}, got {got}")

    def meets(self, *words: str) -> bool:
        """Take the next tokens if they are these."""
        if tuple(self.tokens[self.place : self.place + len(words)]) != words:
            return False
        self.place += len(words)
        return True

    def require(self, *words: str) -> None:
        for word in words:
            if not self.meets(word):
                raise self.fault(repr(word))

    def word(self, expected: str) -> str:
        """Take a name, without its quotes."""
        token = ";" if self.at_end else self.tokens[self.place]
        if token in _MARKS:
            raise self.fault(expected)
        self.place += 1
        return token[1:-1] if token[0] == '"' else token

    def words_until(self, mark: str, expected: str) -> list[str]:
        found = []
        while not self.meets(mark):
            found.append(self.word(f"{expected} or {mark!r}"))
        return found

    def numbers(self) -> list[float]:
        """Take numbers and the semicolon after them."""
        found: list[float] = []
        while not self.meets(";"):
            if self.at_end:
                raise self.fault("a number or ';'")
            try:
                found.extend(map(float, self.tokens[self.place].replace(",", " ").split()))
            except ValueError:
                raise self.fault("numbers or ';'") from None
            self.place += 1
        return found

    def skip_property(self) -> bool:
        if not self.meets("property"):
            return False
        while not self.meets(";"):
            if self.at_end or self.tokens[self.place] in ("{", "}"):
                raise self.fault("';' after the property")
            self.place += 1
        return True


@dataclass
class _Block:
    """The entries of a `probability` block; a row has its states, its numbers and its line."""

    child: str
    parents: list[str]
    line: int
    table: tuple[list[float], int] | None = None
    default: tuple[list[float], int] | None = None
    rows: list[tuple[list[str], list[float], int]] = field(default_factory=list)


def _blocks(cursor: _Cursor, draft: Draft) -> Iterator[_Block]:
    """Declare the variables, give out the probabilities."""
    cursor.require("network")
    while not cursor.meets("{"):
        cursor.word("the name of the network or '{'")
    while not cursor.meets("}"):
        if not cursor.skip_property():
            raise cursor.fault("a property of the network or '}'")
    while not cursor.at_end:
        line = cursor.line
        if cursor.meets("variable"):
            name = decode(cursor.word("the name of a variable"))
            draft.declare(name, _states(cursor, name), line)
        elif cursor.meets("probability"):
            yield _probability(cursor, line)
        else:
            raise cursor.fault("'variable' or 'probability'")


def _states(cursor: _Cursor, name: str) -> list[str | int | float | bool]:
    """The block of a variable."""
    states = None
    cursor.require("{")
    while not cursor.meets("}"):
        if cursor.skip_property():
            continue
        if states is not None or not (cursor.meets("type", "discrete") or cursor.meets("discrete")):
            raise cursor.fault(f"'type discrete' of {name!r}, once")
        line = cursor.line
        cursor.require("[")
        said = cursor.word("the number of states")
        cursor.require("]", "{")
        states = [decode_state(word) for word in cursor.words_until("}", "a state")]
        cursor.require(";")
        if said != str(len(states)):
            raise NetworkFileError(cursor.label, line, f"{name!r} announces {said} states but lists {len(states)}")
    if states is None:
        raise NetworkFileError(cursor.label, cursor.line_of(cursor.place - 1), f"expected the states of {name!r}")
    return states


def _probability(cursor: _Cursor, line: int) -> _Block:
    cursor.require("(")
    child, *parents = [cursor.word("a variable"), *cursor.words_until(")", "a variable")]
    block = _Block(decode(child), [decode(parent) for parent in parents], line)
    cursor.require("{")
    while not cursor.meets("}"):
        line = cursor.line
        if cursor.meets("("):
            states = cursor.words_until(")", "a state")
            block.rows.append((states, cursor.numbers(), line))
        elif block.table is None and cursor.meets("table"):
            block.table = cursor.numbers(), line
        elif block.default is None and cursor.meets("default"):
            block.default = cursor.numbers(), line
        elif not cursor.skip_property():
            raise cursor.fault(f"'table' or 'default' of {block.child!r}, once, or '(states) probabilities;'")
    return block


def _define(block: _Block, draft: Draft) -> None:
    child, shape = block.child, draft.family(block.child, block.parents, block.line)
    if block.table is None:
        draft.fill(child, _from_rows(block, shape, draft), block.line)
        return
    numbers, line = block.table
    if block.rows or block.default is not None:
        raise draft.fault(line, f"the probabilities of {child!r} are given twice, by 'table' and by rows")
    if len(numbers) != math.prod(shape):
        raise draft.fault(line, f"expected {math.prod(shape)} probabilities of {child!r}, got {len(numbers)}")
    child_first = np.array(numbers).reshape(shape[-1], *shape[:-1])
    draft.fill(child, np.moveaxis(child_first, 0, -1), line)


def _from_rows(block: _Block, shape: Sequence[int], draft: Draft) -> Floats:
    found: dict[tuple[int, ...], list[float]] = {}
    for words, row, line in block.rows:
        if len(words) != len(block.parents):
            shown = ", ".join(words)
            raise draft.fault(line, f"expected a state of each of the {len(block.parents)} parents, got ({shown})")
        place = tuple(
            draft.code(parent, decode_state(word), line) for parent, word in zip(block.parents, words, strict=True)
        )
        if place in found:
            raise draft.fault(line, f"the probabilities of {block.child!r} given ({', '.join(words)}) are given twice")
        draft.check_row(block.child, row, line)
        found[place] = row
    if block.default is not None:
        draft.check_row(block.child, *block.default)
    elif len(found) < math.prod(shape[:-1]):
        missing = next(place for place in product(*map(range, shape[:-1])) if place not in found)
        shown = ", ".join(str(draft.states[parent][code]) for parent, code in zip(block.parents, missing, strict=True))
        raise draft.fault(block.line, f"the probabilities of {block.child!r} given ({shown}) are missing")
    if block.default is not None:
        draft.claim(block.child, math.prod(shape) - len(found) * shape[-1], block.default[1])
    table = np.empty(shape)
    if block.default is not None:
        table[:] = block.default[0]
    for place, row in found.items():
        table[place] = row
    return table


def _tokens(text: str) -> Iterator[tuple[int, str, bool]]:
    """Where a token starts, the token, and whether it is a quote or a comment without an end.

    A run of numbers without a semicolon after it is cut into words at once, since to look for the semicolon from each
    of them again would take the square of its length.
    """
    place = 0
    while place < len(text):
        for match in _TOKEN.finditer(text, place):
            place = match.end()
            if match.lastindex == 2:
                break
            if match.lastindex is not None:
                yield match.start(), match[0], match.lastindex == 3
        else:
            return
        run_end = match.end(2)
        for word in _WORDS.finditer(text, place):
            if word.start() >= run_end:
                break
            place = word.end()
            if word[1] is not None:
                yield word.start(), word[1], False


def _line_breaks(text: str) -> array[int]:
    return array("q", (match.start() for match in re.finditer("\n", text)))
