"""Sets of variables as rows of 64-bit words, for kernels: bit u % 64 of word u // 64 stands for variable u."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from scorecache.counting import bitmap

__all__ = ["has", "members_of", "popcount", "trailing_zeros"]

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


@intrinsic
def _trailing_zeros(typing_context, word):  # type: ignore[no-untyped-def]
    """The number of the lowest set bit of a 64-bit word that is not 0."""

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(types.uint64), codegen


popcount = cast(Callable[[np.uint64], int], bitmap.popcount)
trailing_zeros = cast(Callable[[np.uint64], int], _trailing_zeros)


@njit(cache=True, inline="always")
def has(words: Words, row: int, u: int) -> bool:
    """Is variable u in the set of that row?"""
    return bool((words[row, u >> 6] >> np.uint64(u & 63)) & np.uint64(1))


@njit(cache=True, nogil=True)
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
