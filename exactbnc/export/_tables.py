"""The tables in the JSON of a network: numbers in nested lists, kept as text until their shape is known.

As lists, `[0.5, 0.5]` takes twelve times its bytes. So the value of every key "table" that is nothing but numbers and
brackets is taken out of the text before it is read, and put back as a `TableText`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactbnc.bayesnet import Floats
from scorecache.jsontext import parse_json

_NUMBER = r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+(?![-+.0-9eE])"
_TABLE = re.compile(rf"(?:[\[\],\s]++|{_NUMBER})*+", re.ASCII)
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"(?:\s*+:\s*+(\[[-+.0-9eE,\s\[\]]*+))?', re.DOTALL)
_MARK = "-Infinity"
"""Stands for a table: `json` asks what to make of it, and no file of ours has one."""
_LEAST_LENGTH = 64
"""A shorter one takes no less as a text."""
_NO_NUMBERS = {ord(sign): None for sign in "-+.0123456789eE \t\r\n"}
_NO_BRACKETS = {ord(sign): " " for sign in "[]"}


@dataclass(frozen=True, slots=True)
class TableText:
    """Numbers in nested lists, as they are written."""

    text: str

    def floats(self, shape: Sequence[int]) -> Floats | None:
        """The numbers as an array of that shape; None if they have another."""
        n_cells = math.prod(shape)
        if n_cells > len(self.text) or not _TABLE.fullmatch(self.text):
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


def parse_with_tables(text: str, n_bytes: int, **hooks: Any) -> Any:
    """As `parse_json`, with the tables as `TableText`."""
    if "Infinity" in text:
        return parse_json(text, n_bytes, **hooks)
    tables: list[TableText] = []
    rest = "".join(_without_tables(text, tables))
    del text
    tables.reverse()
    refuse = hooks.pop("parse_constant")
    return parse_json(
        rest, n_bytes, parse_constant=lambda word: tables.pop() if word == _MARK else refuse(word), **hooks
    )


def without_tables(value: Any) -> Any:
    """What was read, with lists in place of every `TableText`."""
    if isinstance(value, TableText):
        return value.lists()
    if isinstance(value, dict):
        return {key: without_tables(own) for key, own in value.items()}
    return [without_tables(own) for own in value] if isinstance(value, list) else value


def _without_tables(text: str, tables: list[TableText]) -> Iterator[str]:
    place = 0
    for found in _TEXT.finditer(text):
        if found[1] is None or not text.startswith('"table"', found.start()):
            continue
        table = found[1].rstrip(" \t\r\n,")
        if len(table) >= _LEAST_LENGTH and table[-1] == "]" and table.count("[") == table.count("]"):
            yield text[place : found.start(1)]
            yield _MARK
            tables.append(TableText(table))
            place = found.start(1) + len(table)
    yield text[place:]
