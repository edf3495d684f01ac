"""Escaping of names and states that a format cannot represent, and the reverse.

    a character that is not allowed      _xHHHH_    its code point, four to six hexadecimal digits
    an underscore that would look so     _x005F_
    nothing at all                       _x_
    1 beside '1' in one variable         _xint_1    likewise _xfloat_1.5 and _xbool_True: the state is no text

Underscore, x and four digits is the escape of ISO 9075-14 (SQL/XML). What a format can represent is not changed, and
`decode` needs no side-car file. A name of another program that happens to look like an escape is read as one.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from scorecache.errors import ParameterError

EMPTY = "_x_"

_LOOKS_ESCAPED = r"_(?=x(?:[0-9A-Fa-f]{4}|int_|float_|bool_)) | \A_(?=x_\Z)"
_ESCAPE = re.compile(r"_x([0-9A-F]{4,6})_")
_TYPED = re.compile(r"_x(int|float|bool)_(.+)", re.DOTALL)
_LAST_CODE = 0x10FFFF


@dataclass(frozen=True)
class Rule:
    """What a format can represent: words that fit `word` and have no character that `unsafe` finds."""

    word: re.Pattern[str]
    unsafe: re.Pattern[str]
    reserved: frozenset[str] = frozenset()
    ignores_case: bool = False

    @classmethod
    def of(cls, word: str, unsafe: str, reserved: Iterable[str] = (), *, ignores_case: bool = False) -> Rule:
        """From verbose patterns; an underscore that would look like an escape is unsafe everywhere."""
        joined = re.compile(f"{unsafe} | {_LOOKS_ESCAPED}", re.VERBOSE)
        return cls(re.compile(word, re.VERBOSE), joined, frozenset(reserved), ignores_case)

    def encode(self, text: str, also: Iterable[int] = ()) -> str:
        """The word for a text; characters at the places `also` are escaped although they need not be."""
        if not text:
            return EMPTY
        places = {found.start() for found in self.unsafe.finditer(text)}.union(also)
        encoded = _escaped(text, places)
        if self.word.fullmatch(encoded) and encoded not in self.reserved:
            return encoded
        return _escaped(text, places | {0})


@dataclass(frozen=True)
class SafeNames:
    """The words for the variables and the states of a network, and a sentence for each that had to be changed."""

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    notes: list[str]

    @classmethod
    def of(cls, net: BayesNet, for_names: Rule, for_states: Rule) -> SafeNames:
        """The names and states to write; a ParameterError if two states of a variable would become equal."""
        names = encode_names(net.names, for_names)
        states = tuple(
            encode_states(name, listed, for_states) for name, listed in zip(net.names, net.states, strict=True)
        )
        notes = [
            f"the variable {name!r} is written as {word}"
            for name, word in zip(net.names, names, strict=True)
            if name != word
        ]
        notes += [
            f"the state {state!r} of {name!r} is written as {word}"
            for name, listed, words in zip(net.names, net.states, states, strict=True)
            for state, word in zip(listed, words, strict=True)
            if str(state) != word
        ]
        return cls(names, states, notes)


def encode_names(names: Sequence[str], rule: Rule) -> tuple[str, ...]:
    """Words for the names; where the rule ignores case, letters are escaped that are all the difference."""
    words = [rule.encode(name) for name in names]
    if rule.ignores_case:
        first: dict[str, str] = {}
        for v, (name, word) in enumerate(zip(names, words, strict=True)):
            model = first.setdefault(word.lower(), name)
            if model != name:
                words[v] = rule.encode(name, (k for k, letter in enumerate(name) if letter != model[k]))
    return tuple(words)


def encode_states(name: str, states: Sequence[Hashable], rule: Rule) -> tuple[str, ...]:
    """Words for the states of a variable; the type is written where texts alone would be the same."""
    require_different(name, states)
    texts = [str(state) for state in states]
    words = tuple(
        rule.encode(text) if texts.count(text) == 1 or isinstance(state, str) else _typed(name, state, rule)
        for state, text in zip(states, texts, strict=True)
    )
    if len(set(words)) < len(words):
        raise ParameterError(f"the states of {name!r} must be different as texts. Got {list(states)!r:.200} instead.")
    return words


def require_different(name: str, states: Sequence[Hashable]) -> None:
    """States are distinguished by their value."""
    if len(set(states)) < len(states):
        raise ParameterError(f"the states of {name!r} must be different. Got {list(states)!r:.200} instead.")


def decode(word: str) -> str:
    """The text that was written as this word."""
    return "" if word == EMPTY else _ESCAPE.sub(_character, word)


def decode_state(word: str) -> str | int | float | bool:
    """The state that was written as this word: a text, unless the word contains its type."""
    if "_x" not in word:
        return word
    typed = _TYPED.fullmatch(word)
    if typed is not None:
        text = decode(typed[2])
        for value in _readings(typed[1], text):
            if str(value) == text:
                return value
    return decode(word)


def plain(state: Hashable) -> Hashable:
    """A numpy scalar as the Python value it equals."""
    value: Hashable = state.item() if isinstance(state, np.generic) else state
    return value


def _typed(name: str, state: Hashable, rule: Rule) -> str:
    value = plain(state)
    if not isinstance(value, int | float):
        raise ParameterError(f"the state {state!r} of {name!r} and another one are the same text {str(state)!r}")
    text = str(value)
    return f"_x{type(value).__name__}_" + _escaped(text, {found.start() for found in rule.unsafe.finditer(text)})


def _readings(kind: str, text: str) -> list[int | float | bool]:
    try:
        if kind == "bool":
            return [True, False]
        return [int(text) if kind == "int" else float(text)]
    except ValueError:
        return []


def _escaped(text: str, places: set[int]) -> str:
    return "".join(f"_x{ord(sign):04X}_" if place in places else sign for place, sign in enumerate(text))


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= _LAST_CODE else found[0]
