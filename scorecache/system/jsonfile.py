"""JSON from outside, decoded by msgspec into a declared type, with errors that say where and what was expected."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

T = TypeVar("T")
Fault = Callable[[int | None, str], Exception]
"""Makes the error of a kind of file from a line, if it is known, and a message."""

_BYTE = re.compile(r" \(byte (\d+)\)$")
_PLACE = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
_CODE = re.compile(r"`([^`]*)`")
_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def decode_json(content: bytes | msgspec.Raw, kind: type[T], fault: Fault) -> T:
    """Decode bytes, or a part of them that was left as it is; `fault` makes the error to raise.

    Examples
    --------
    >>> decode_json(b'["a", 1]', list[str], lambda line, message: ValueError(message))
    Traceback (most recent call last):
    ...
    ValueError: expected a text at [1], got a whole number
    """
    if isinstance(content, bytes):
        content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise fault(None, _in_words(str(error))) from error
    except msgspec.DecodeError as error:
        message = str(error)
        found = _BYTE.search(message)
        place = len(bytes(content)) if found is None else int(found[1])
        reason = _BYTE.sub("", message).removeprefix("JSON is malformed: ")
        raise fault(
            bytes(content).count(b"\n", 0, place) + 1, f"expected JSON, but {reason[0].lower()}{reason[1:]}"
        ) from error
    except UnicodeDecodeError as error:
        raise fault(None, f"expected UTF-8 text, got byte {error.object[error.start]:#04x}") from error
    except RecursionError as error:
        raise fault(None, "expected JSON that is not nested so deeply") from error


def _in_words(message: str) -> str:
    """A message of msgspec about a value of another type, as ours are worded."""
    found = _PLACE.search(message)
    place = f" at {found[1]:.60}" if found is not None and found[1] else ""
    expected, comma, got = _PLACE.sub("", message).partition(", got ")
    sentence = f"{_plain(expected)}{place}{comma}{_plain(got)}"
    return f"{sentence[0].lower()}{sentence[1:]}"


def _plain(text: str) -> str:
    return _CODE.sub(lambda found: " or ".join(_WORDS.get(word, word) for word in found[1].split(" | ")), text)
