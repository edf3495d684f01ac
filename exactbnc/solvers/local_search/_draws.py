"""Random numbers inside kernels: the state is one word, which the caller seeds and keeps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Words = NDArray[np.uint64]


@kernel
def draw(random: Words, n: int) -> int:
    """A number below n < 2**31, by xorshift64* (Vigna 2016)."""
    bits = random[0]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    random[0] = bits
    high = (bits * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)
    return int(np.int64((high * np.uint64(n)) >> np.uint64(31)))


@kernel
def draw_exponential(random: Words) -> float:
    """A draw from the exponential distribution of mean 1."""
    one = 1 << 30
    return -math.log((draw(random, one) + 1) / one)
