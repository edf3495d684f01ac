"""Numbers in nested lists, as JSON has them, kept as text until somebody knows their shape.

As lists, `[0.5, 0.5]` takes twelve times its bytes. So the value of some keys, where it is nothing but numbers and
brackets, is taken out of a document before it is read, and put back as `NestedNumbers`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.system.jsontext import parse_json

Floats = NDArray[np.float64]

_NUMBER = r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+(?![-+.0-9eE])"
_NUMBERS = re.compile(rf"(?:[\[\],\s]++|{_NUMBER})*+", re.ASCII)
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"(?:\s*+:\s*+(\[[-+.0-9eE,\s\[\]]*+))?', re.DOTALL)
_MARK = "-Infinity"
"""Stands for such a value: `json` asks what to make of it, and no file of ours has one."""
_LEAST_LENGTH = 64
"""A shorter one takes no less as a text."""
_NO_NUMBERS = {ord(sign): None for sign in "-+.0123456789eE \t\r\n"}
_NO_BLANKS = {ord(sign): None for sign in " \t\r\n"}
_NO_BRACKETS = {ord(sign): " " for sign in "[]"}


@dataclass(frozen=True, slots=True)
class NestedNumbers:
    """Numbers in nested lists, as they are written."""

    text: str

    @classmethod
    def of(cls, value: Any) -> NestedNumbers:
        """Such numbers from what was read, lists or text."""
        return value if isinstance(value, cls) else cls(json.dumps(with_lists(value)))

    def compact(self) -> str:
        """The text without blanks."""
        return self.text.translate(_NO_BLANKS)

    def floats(self, shape: Sequence[int]) -> Floats | None:
        """The numbers as an array of that shape; None if they have another."""
        n_cells = math.prod(shape)
        if n_cells > len(self.text) or not _NUMBERS.fullmatch(self.text):
            return None
        marks = "," * (shape[-1] - 1)
        for length in (*reversed(shape[:-1]), 1):
            marks = ",".join([f"[{marks}]"] * length)
        if self.text.translate(_NO_NUMBERS) != marks:
            return None
        try:
            numbers = np.fromstring(self.text.translate(_NO_BRACKETS), dtype=np.float64, sep=",")
        except ValueError:  # nothing between two commas
            return None
        return numbers.reshape(shape) if numbers.size == n_cells else None

    def lists(self) -> Any:
        """As `json` reads it."""
        return json.loads(self.text)


def parse_with_numbers(text: str, n_bytes: int, keys: Collection[str], **hooks: Any) -> Any:
    """As `parse_json`, with the values of these keys as `NestedNumbers`, unless they are something else, or short."""
    if "Infinity" in text:
        return parse_json(text, n_bytes, **hooks)
    found: list[NestedNumbers] = []
    rest = "".join(_without_numbers(text, tuple(f'"{key}"' for key in keys), found))
    del text
    found.reverse()
    constant = hooks.pop("parse_constant", float)
    return parse_json(
        rest, n_bytes, parse_constant=lambda word: found.pop() if word == _MARK else constant(word), **hooks
    )


def with_lists(value: Any) -> Any:
    """What was read, with lists in place of all `NestedNumbers`; nothing is copied."""
    if isinstance(value, NestedNumbers):
        return value.lists()
    if isinstance(value, dict | list):
        for key, own in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(own, NestedNumbers | dict | list):
                value[key] = with_lists(own)
    return value


def _without_numbers(text: str, keys: tuple[str, ...], taken: list[NestedNumbers]) -> Iterator[str]:
    place = 0
    for found in _TEXT.finditer(text):
        if found[1] is None or not text.startswith(keys, found.start()):
            continue
        value = found[1].rstrip(" \t\r\n,")
        if len(value) >= _LEAST_LENGTH and value[-1] == "]" and value.count("[") == value.count("]"):
            yield text[place : found.start(1)]
            yield _MARK
            taken.append(NestedNumbers(value))
            place = found.start(1) + len(value)
    yield text[place:]
