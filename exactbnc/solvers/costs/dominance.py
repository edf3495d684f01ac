"""Which families of a cost table can be replaced in any network by a cheaper one that needs less.

Families of a child come cheapest first. One is dominated if an earlier one is a subset of it, and it is enough to look
at those that are not dominated themselves. Of these, either all are compared with the family, or all subsets of the
family are looked up in a hash table of them, whichever is less work: 2^k look-ups for k members.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel, trailing_zeros

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def dominated(child_start: Ints, masks: Words) -> NDArray[np.bool_]:
    """Which families are supersets of an earlier one of the same child, which costs no more."""
    is_dominated = np.zeros(len(masks), dtype=np.bool_)
    n_words = masks.shape[1]
    members = np.empty(64 * n_words, dtype=np.int64)
    subset = np.empty(n_words, dtype=np.uint64)
    for v in range(len(child_start) - 1):
        first, last = child_start[v], child_start[v + 1]
        n_slots = 8
        while n_slots < 2 * (last - first):
            n_slots *= 2
        slots = np.full(n_slots, -1, dtype=np.int64)  # the number of a family that is not dominated, by its mask
        kept = np.empty(last - first, dtype=np.int64)
        n_kept = 0
        # look for a kept subset of f: among all subsets of f where these are fewer, else among the kept families
        for f in range(first, last):
            k = _members(masks[f], members)
            if k < 40 and np.int64(1) << k <= n_kept:
                found = _some_subset(masks, slots, members[:k], subset)
            else:
                found = _some_inside(masks, kept[:n_kept], f)
            if found:
                is_dominated[f] = True
                continue
            kept[n_kept] = f
            n_kept += 1
            slots[_slot(masks, slots, masks[f])] = f
    return is_dominated


@kernel
def _members(mask: Words, members: Ints) -> int:
    k = 0
    for w in range(len(mask)):
        word = mask[w]
        while word:
            members[k] = 64 * w + trailing_zeros(word)
            word &= word - np.uint64(1)
            k += 1
    return k


@kernel
def _some_inside(masks: Words, kept: Ints, f: int) -> bool:
    """Is one of these families a subset of family f?"""
    for earlier in kept:
        is_inside = True
        for w in range(masks.shape[1]):
            if masks[earlier, w] & ~masks[f, w]:
                is_inside = False
                break
        if is_inside:
            return True
    return False


@kernel
def _some_subset(masks: Words, slots: Ints, members: Ints, subset: Words) -> bool:
    """Is a subset of these members in the hash table? They come in Gray code: one member changes at a time."""
    subset[:] = 0
    if slots[_slot(masks, slots, subset)] >= 0:
        return True
    for step in range(1, 1 << len(members)):
        u = members[trailing_zeros(np.uint64(step))]
        subset[u >> 6] ^= np.uint64(1) << np.uint64(u & 63)
        if slots[_slot(masks, slots, subset)] >= 0:
            return True
    return False


@kernel
def _slot(masks: Words, slots: Ints, mask: Words) -> int:
    """Where a mask is in the hash table, or the free slot where it would be entered."""
    hashed = np.uint64(0)
    for w in range(len(mask)):
        hashed = (hashed ^ mask[w]) * _MIX
        hashed ^= hashed >> _SHIFT
    last = len(slots) - 1
    at = np.int64(hashed & np.uint64(last))
    while slots[at] >= 0:
        is_equal = True
        for w in range(len(mask)):
            if masks[slots[at], w] != mask[w]:
                is_equal = False
                break
        if is_equal:
            break
        at = (at + 1) & last
    return int(at)
