"""Indicator bitmaps: one bit per row for every variable and every state but its first.

The count of a joint configuration that avoids all first states is the population count of an AND; the others follow by
Moebius inversion (`scorecache.counting.moebius`), so r - 1 bitmaps serve a variable of r states. Rows are laid out in
segments padded to whole words: one per base configuration (the class, in an ANB) and per bit of the row weights, so
that a segment's population count shifted by its bit adds to that base configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorecache.data.rows import Rows

WORD = 64
BLOCK = 1 << 13
"""Rows whose codes are looked up at a time, a multiple of eight."""
SEGMENT_WORDS = 2
"""What starting a segment costs, in words counted."""


@dataclass(frozen=True, eq=False)
class Bitmaps:
    """`words[first[v] + k - 1]` marks the rows in which variable v has state k >= 1."""

    words: NDArray[np.uint64]
    first: NDArray[np.int64]
    segment_start: NDArray[np.int64]
    segment_base: NDArray[np.int64]
    segment_shift: NDArray[np.int64]


def indicator_bitmaps(
    rows: Rows, variables: Sequence[int], arities: NDArray[np.int64], base_labels: NDArray[np.int64], n_base: int
) -> Bitmaps:
    """Bitmaps of the listed variables, rows split by `base_labels` (0..n_base-1) and by the bits of their weights."""
    segments: list[NDArray[np.int64]] = []
    segment_base, segment_shift, starts = [], [], [0]
    for base in range(n_base):
        members = np.flatnonzero(base_labels == base) if n_base > 1 else np.arange(rows.n_distinct)
        for bit, chosen in _planes(members, rows.weights[members]):
            segments.append(chosen)
            segment_base.append(base)
            segment_shift.append(bit)
            starts.append(starts[-1] + _n_words(len(chosen)))
    first = np.zeros(len(variables) + 1, dtype=np.int64)
    own = np.array(variables, dtype=np.int64)
    np.cumsum(arities[own] - 1, out=first[1:])
    words = np.zeros((int(first[-1]), starts[-1]), dtype=np.uint64)
    n_states = arities[own]
    for chosen, start in zip(segments, starts, strict=False):
        marked = words[:, start : start + _n_words(len(chosen))].view(np.uint8)
        for begin in range(0, len(chosen), BLOCK):
            codes = rows.codes[own[:, None], chosen[begin : begin + BLOCK]]
            for k in range(1, int(n_states.max(initial=1))):
                has = n_states > k
                packed = np.packbits(codes[has] == k, axis=1, bitorder="little")
                marked[first[:-1][has] + k - 1, begin // 8 : begin // 8 + packed.shape[1]] = packed
    return Bitmaps(
        words,
        first,
        np.array(starts, dtype=np.int64),
        np.array(segment_base, dtype=np.int64),
        np.array(segment_shift, dtype=np.int64),
    )


def _planes(members: NDArray[np.int64], weights: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """The rows of each bit of the weights, or every row as often as it counts where that takes no more words."""
    n_bits = int(weights.max(initial=0)).bit_length()
    planes = [(bit, members[(weights >> bit) & 1 == 1]) for bit in range(n_bits)]
    planes = [(bit, chosen) for bit, chosen in planes if len(chosen)]
    if _n_words(int(weights.sum())) <= sum(_n_words(len(chosen)) + SEGMENT_WORDS for _, chosen in planes):
        return [(0, np.repeat(members, weights))]
    return planes


def _n_words(n_bits: int) -> int:
    return -(-n_bits // WORD)
