"""What designed files are made of: as many objects as possible in as few bytes as possible.

Tiny names, all different or ever the same; arcs among few names; very many very short lines or fields; one character
that makes Python hold a whole text with four bytes per character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, count, islice, permutations, product
from string import ascii_letters, digits

Design = Callable[[int], bytes]

WIDE = "\U0001f984"
"""In a text with this character all others take four bytes too."""

LETTERS = ascii_letters + digits + "_"
TWO_BYTES = [chr(code) for code in range(0x100, 0x7FF) if chr(code).isalpha()]
N_NAMES = 16_000
"""Just below the most variables that a file may have."""


def words(alphabet: str = LETTERS) -> Iterator[str]:
    """Different words, the shortest first."""
    for length in count(1):
        for letters in product(alphabet, repeat=length):
            yield "".join(letters)


def filled(n_bytes: int, head: str, pieces: Iterator[str], end: str = "") -> bytes:
    """The head, as many pieces as fit, the end."""
    kept: list[bytes] = [head.encode()]
    size = len(kept[0])
    for piece in pieces:
        kept.append(piece.encode())
        size += len(kept[-1])
        if size >= n_bytes:
            break
    return b"".join([*kept, end.encode()])


def repeated(head: str, piece: str, end: str = "") -> Design:
    """One piece again and again."""
    return lambda n: head.encode() + piece.encode() * (n // len(piece.encode())) + end.encode()


def different(head: str, form: str, end: str = "", *, most: int | None = None) -> Design:
    """A piece with a word of its own each; with `most`, the first words again after so many."""

    def pieces() -> Iterator[str]:
        own = [form.format(word) for word in islice(words(), most)] if most is not None else None
        while True:
            yield from own if own is not None else (form.format(word) for word in words())

    return lambda n: filled(n, head, pieces(), end)


def paired(head: str, form: str, end: str = "", *, forwards: bool = False, alphabet: list[str] = TWO_BYTES) -> Design:
    """All pairs of few short names, forwards only where a cycle must not be."""
    pairs = combinations if forwards else permutations
    return lambda n: filled(n, head, (form.format(*pair) for pair in pairs(alphabet, 2)), end)


def wide(design: Design, comment: str) -> Design:
    """The same, and a comment that makes every character of the text wide; one that decodes to itself, if any."""
    return lambda n: design(n) + comment.format(WIDE).encode()


def names(form: str, join: str, n: int = N_NAMES) -> str:
    """The first words, each in a form."""
    return join.join(form.format(word) for word in islice(words(), n))
