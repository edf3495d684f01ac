"""Turning a valid file into a hostile one: tokens, numbers, lines, bytes, encodings, nesting, sizes.

Every function takes the content and a `random.Random`; equal seeds give equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

_TOKEN = re.compile(rb'[A-Za-z_]\w*|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|"[^"\n]*"|[ \t]+|\r?\n|->|<-+|.', re.DOTALL)
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")

NUMBERS = (
    b"nan", b"inf", b"-inf", b"1e999", b"-1e999", b"1e-999", b"0", b"-0", b"-1", b"1", b"2", b"0.5", b"1e5", b"1_000",
    b"999999999", b"18446744073709551616", b"9" * 30, b"9" * 5000, b"0x10", b"1.5.2", b"--1", b"+3", b"1e", b"e1",
    b"NaN", b"Infinity", b"-9223372036854775809", b"65536", b"\xd9\xa3", b"\xc2\xb2", b"\xef\xbc\x91", b"1.", b".5",
    b"00", b"4294967295", b"1e308", b"-1e308", b"5e-324", b"",
)  # fmt: skip
WORDS = (
    b"", b"#", b"a", b"class", b"null", b"true", b"?", b"NA", b"missing", b"\\", b"'", b'"', b'""', b"\xff", b"\x00",
    b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1c", b"\x0b",
    b"\x1b[31m", b"\xf0\x9f\xa6\x84", b"e\xcc\x81", b"\xc3\xa9", b"__proto__", b"%s", b"{0}", b"../../x", b"a" * 300,
    b"_x0041_", b"_xint_1", b"_x_", b"_xFFFFF_", b"table", b"default", b"property", b"/*", b"*/", b"//", b"<!--",
    b"&lt;", b"&x;", b"]]>", b"<![CDATA[", b"META", b"VAR", b"~", b"<", b">", b"-", b"->", b"<-", b"<--", b"|", b":",
    b";", b",", b"\t", b"\r", b"\n", b"sink", b"root", b"_|_", b"0", b"1",
    b'<!DOCTYPE BIF [<!ENTITY x "y">]>', b'<!ENTITY x SYSTEM "file:///etc/passwd">', b'<!ENTITY % x "y">',
)  # fmt: skip
OPENERS = (
    b"[",
    b"{",
    b"(",
    b'{"a":',
    b"<a>",
    b"[[",
    b'"',
    b"/*",
    b"//",
    b"1 ",
    b"-1",
    b"a->",
    b"a ",
    b",",
    b"\n",
    b"\r",
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, 5e-324, 10**30, -(10**400), float("nan"), float("inf"), "", "a",
    "0", "\x00", "\ud800", "é", "missing", [], {}, [[]], [{}], {"a": []}, [None], [0], ["a"], [["a", "b"]], 2**53, 1.0,
    "optimal", "general", "anb", "kdb", 3, [1, 1], ["a", "a"], [True], 65536,
)  # fmt: skip


def mutated(content: bytes, random: Random, *, is_json: bool = False) -> bytes:
    """One to four changes; now and then nothing of the file is left."""
    if random.random() < 0.02:
        return random.randbytes(random.choice((0, 1, 2, 7, 60, 400)))
    if is_json and random.random() < 0.6:
        content = _json_mutated(content, random)
        if random.random() < 0.8:
            return content
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        content = random.choice(_CHANGES)(content, random)
    return content


def bytes_mutated(content: bytes, random: Random) -> bytes:
    """Changes that know nothing of any text, for packed files."""
    for _ in range(random.choice((1, 1, 2, 4))):
        content = random.choice((_flipped, _truncated, _inserted, _doubled_bytes))(content, random)
    return content


def oversized(content: bytes, random: Random, n_bytes: int) -> bytes:
    """A file of about that size in which one piece is repeated: nesting, a long line, many lines, many names."""
    kind = random.randrange(4)
    if kind == 0:
        piece = random.choice(OPENERS)
    elif kind == 1:
        piece = random.choice(content.splitlines(keepends=True) or [b"\n"])
    elif kind == 2:
        piece = random.choice(_TOKEN.findall(content) or [b"a"]) + random.choice((b"", b" ", b",", b"\n"))
    else:
        many = random.choice((b"%d ", b"%d,", b"a%d ", b"a%d,", b'"a%d",', b"[a%d]", b"a%d\n", b"a%d;", b"%d:a%d\n"))
        n_times = n_bytes // (len(many) + 4)
        repeated = b"".join(many % ((v,) * many.count(b"%")) for v in range(n_times))
        return _spliced(content, random, repeated)
    return _spliced(content, random, piece * (n_bytes // len(piece)))


def _spliced(content: bytes, random: Random, piece: bytes) -> bytes:
    tokens = _TOKEN.findall(content)
    place = random.randrange(len(tokens) + 1)
    return b"".join((*tokens[:place], piece, *tokens[place:]))


def _number_changed(content: bytes, random: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = random.choice(found)
    return content[: match.start()] + random.choice(NUMBERS) + content[match.end() :]


def _token_changed(content: bytes, random: Random) -> bytes:
    tokens = _TOKEN.findall(content)
    if not tokens:
        return random.choice(WORDS)
    place, kind = random.randrange(len(tokens)), random.randrange(6)
    if kind == 0:
        tokens[place] = random.choice(WORDS)
    elif kind == 1:
        tokens[place] = random.choice(tokens)
    elif kind == 2:
        tokens.insert(place, random.choice(WORDS))
    elif kind == 3:
        other = random.randrange(len(tokens))
        tokens[place], tokens[other] = tokens[other], tokens[place]
    elif kind == 4:
        del tokens[place : place + random.choice((1, 1, 2, 5))]
    else:
        tokens[place:place] = tokens[place : place + random.choice((1, 2, 5))]
    return b"".join(tokens)


def _lines_changed(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return b"\n"
    place, kind = random.randrange(len(lines)), random.randrange(4)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(random.randrange(len(lines)), lines[place])
    elif kind == 2:
        other = random.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines.insert(place, random.choice((b"\n", b"#\n", b" \n", b"\r\n", b"0\n", b"a b c\n")))
    return b"".join(lines)


def _truncated(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _flipped(content: bytes, random: Random) -> bytes:
    if not content:
        return content
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :]


def _inserted(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content) + 1)
    return content[:place] + random.randbytes(random.choice((1, 1, 3, 20))) + content[place:]


def _doubled_bytes(content: bytes, random: Random) -> bytes:
    start = random.randrange(len(content) + 1)
    end = min(len(content), start + random.choice((1, 4, 40, 400)))
    return content[:end] + content[start:end] + content[end:]


def _encoded(content: bytes, random: Random) -> bytes:
    kind = random.randrange(5)
    if kind == 0:
        return b"\xef\xbb\xbf" + content
    if kind == 1:
        return content.replace(b"\n", b"\r\n")
    if kind == 2:
        return content.replace(b"\n", b"\r")
    if kind == 3:
        return content.decode("latin-1").encode("utf-16")
    return content.rstrip(b"\n")


def _nested(content: bytes, random: Random) -> bytes:
    return _spliced(content, random, random.choice(OPENERS) * random.choice((2, 10, 100, 100, 3000)))


_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _number_changed, _number_changed, _number_changed, _token_changed, _token_changed, _token_changed, _token_changed,
    _lines_changed, _lines_changed, _truncated, _flipped, _inserted, _doubled_bytes, _encoded, _nested,
)  # fmt: skip


def _json_mutated(content: bytes, random: Random) -> bytes:
    """Replace, delete or double a value anywhere in a JSON document."""
    document = json.loads(content)
    for _ in range(random.choice((1, 1, 2, 3))):
        document = _changed_within(document, random)
    return json.dumps(document, ensure_ascii=random.random() < 0.5).encode(errors="surrogatepass")


def _changed_within(value: Any, random: Random) -> Any:
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return deepcopy(random.choice(VALUES))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, kind = random.choice(keys), random.random()
    if kind < 0.1:
        del value[key]
    elif kind < 0.2 and isinstance(value, list):
        value.insert(key, deepcopy(value[random.choice(keys)]))
    elif kind < 0.3:
        other = random.choice(keys)
        value[key], value[other] = value[other], value[key]
    elif kind < 0.35 and isinstance(value, dict):
        value[random.choice(("", "a", "\ud800", "names"))] = deepcopy(random.choice(VALUES))
    else:
        value[key] = _changed_within(value[key], random)
    return value
