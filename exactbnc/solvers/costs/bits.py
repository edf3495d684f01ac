"""Sets of variables as rows of 64-bit words, for kernels: bit u % 64 of word u // 64 stands for variable u."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel, popcount, trailing_zeros

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


@kernel(inline="always")
def has(words: Words, row: int, u: int) -> bool:
    """Is variable u in the set of that row?"""
    return bool((words[row, u >> 6] >> np.uint64(u & 63)) & np.uint64(1))


@kernel
def members_of(masks: Words) -> tuple[Ints, Ints]:
    """The sets in compressed rows: the members of row f are `members[start[f]:start[f + 1]]`, ascending."""
    start = np.zeros(len(masks) + 1, dtype=np.int64)
    for f in range(len(masks)):
        start[f + 1] = start[f]
        for w in range(masks.shape[1]):
            start[f + 1] += np.int64(popcount(masks[f, w]))
    members = np.empty(start[-1], dtype=np.int64)
    n = 0
    for f in range(len(masks)):
        for w in range(masks.shape[1]):
            word = masks[f, w]
            while word:
                members[n] = 64 * w + trailing_zeros(word)
                word &= word - np.uint64(1)
                n += 1
    return start, members
