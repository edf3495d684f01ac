"""The words and marks of BIF, one at a time: a list of them would be twenty times as large as the text."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from exactbnc.errors import NetworkFileError
from scorecache.system.limits import MOST_NAME, too_long_name
from scorecache.wording import shown

_SKIPPED = r"(?: [\s,|]++ | //[^\n]*+ | /\*.*?\*/ )++"
_WORD = r"""(?: [^\s,|"{}\[\]();/]++ | /(?![/*]) )++"""
_TOKEN = re.compile(
    rf"""
    (?: {_SKIPPED} )?+
    (?: ( [-+0-9.][-+0-9.eE\s,]*+ (?=;)                                # the numbers of a row, as one token for speed
      | "[^"]*" | [{{}}\[\]();]                                      # a quoted name, a mark
      | (?![-+0-9.]) {_WORD} )
    | (?= ( [-+0-9.][-+0-9.eE\s,]*+ ) )                              # numbers that are words: no semicolon follows
    | ( . )                                                           # a quote or a comment without an end
    | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = re.compile(rf"{_SKIPPED} | ( {_WORD} )", re.VERBOSE | re.DOTALL)
_MARKS = frozenset("{}[]();")
_NUMBER = re.compile(r"[^\s,]+")
_FEW_NUMBERS = 4096  # characters that are cut at once

Place = tuple[int, int, int]
"""Where a token starts, and the number of a line with the place up to which line breaks were counted for it."""


class Cursor:
    """The words and marks of a text, one at a time; `token` is the next one, None at the end."""

    def __init__(self, text: str, label: str) -> None:
        self.label = label
        self.token: str | None = None
        self._text = text
        self._start = self._counted = 0
        self._line = 1
        self.go_to((0, 0, 1))

    @property
    def place(self) -> Place:
        return self._start, self._counted, self._line

    def go_to(self, place: Place) -> None:
        """To a place where the cursor was before."""
        self._start, self._counted, self._line = place
        self._tokens = _tokens(self._text, self._start)
        self.advance()

    @property
    def line(self) -> int:
        """The line of the next token; at the end of the file, of the last one."""
        self._line += self._text.count("\n", self._counted, self._start)
        self._counted = self._start
        return self._line

    def advance(self) -> str | None:
        """Pass the next token and return it."""
        passed = self.token  # hot: a large file has a million of them
        self._start, self.token, is_endless = next(self._tokens, (self._start, None, False))
        if is_endless:
            raise self.fault("a quoted name or a comment to end")
        return passed

    def fault(self, expected: str) -> NetworkFileError:
        got = "the end of the file" if self.token is None else shown(self.token)
        return NetworkFileError(self.label, self.line, f"expected {expected}, got {got}")

    def meets(self, word: str) -> bool:
        """Take the next token if it is this."""
        if self.token != word:
            return False
        self.advance()
        return True

    def require(self, *words: str) -> None:
        for word in words:
            if not self.meets(word):
                raise self.fault(repr(word))

    def word(self, expected: str) -> str:
        """Take a name, without its quotes."""
        token = self.token
        if token is None or token in _MARKS:
            raise self.fault(expected)
        if len(token) > MOST_NAME:
            raise NetworkFileError(self.label, self.line, too_long_name(token))
        self.advance()
        return token[1:-1] if token[0] == '"' else token

    def words_until(self, mark: str, expected: str, most: int) -> list[str]:
        found: list[str] = []
        expected = f"{expected} or {mark!r}"
        while self.token != mark:
            if len(found) > most:
                raise self.fault(f"at most {most:,} names before {mark!r}")
            found.append(self.word(expected))
        self.advance()
        return found

    def numbers(self) -> array[float]:
        """Take numbers and the semicolon after them."""
        found = array("d")
        while not self.meets(";"):
            if self.token is None:
                raise self.fault("a number or ';'")
            try:
                if len(self.token) < _FEW_NUMBERS:
                    found.extend(map(float, self.token.replace(",", " ").split()))
                else:
                    found.extend(float(number[0]) for number in _NUMBER.finditer(self.token))
            except ValueError:
                raise self.fault("numbers or ';'") from None
            self.advance()
        return found

    def skip_property(self) -> bool:
        if not self.meets("property"):
            return False
        while not self.meets(";"):
            if self.token in (None, "{", "}"):
                raise self.fault("';' after the property")
            self.advance()
        return True


def _tokens(text: str, place: int) -> Iterator[tuple[int, str, bool]]:
    """Where a token starts, the token, and whether it is a quote or a comment without an end.

    A run of numbers without a semicolon after it is cut into words at once, since to look for the semicolon from each
    of them again would take the square of its length.
    """
    while place < len(text):
        for match in _TOKEN.finditer(text, place):
            place = match.end()
            if match.lastindex == 2:
                break
            if match.lastindex is not None:
                yield match.start(match.lastindex), match[match.lastindex], match.lastindex == 3
        else:
            return
        run_end = match.end(2)
        for word in _WORDS.finditer(text, place):
            if word.start() >= run_end:
                break
            place = word.end()
            if word[1] is not None:
                yield word.start(), word[1], False
