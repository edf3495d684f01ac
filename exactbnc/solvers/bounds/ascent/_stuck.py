"""Who can be placed with entries of r = 0, and a minimal cluster among those who cannot."""

from __future__ import annotations

import numpy as np

from exactbnc.solvers.bounds.ascent.layout import CLUSTER, MASK, N_ZEROS, START, STUCK, put
from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel, trailing_zeros


@kernel
def place(
    waiting: Ints, n_waiting: int, placed: int, children: Ints, entries: Ints, sets: Ints, order: Ints, n_ordered: int
) -> int:
    """Place, again and again, who has an entry with r = 0 inside set `placed`; the rest stays in `waiting`.

    Who is placed is noted in `order`, from `n_ordered` on.
    """
    n_words = sets.shape[1]
    if n_words == 1:
        return _place_in_word(waiting, n_waiting, placed, children, entries, sets, order, n_ordered)
    while True:
        n_left = 0
        for i in range(n_waiting):
            v = waiting[i]
            fits = False
            for e in range(children[v, START], children[v, START] + children[v, N_ZEROS]):
                fits = True
                for w in range(n_words):
                    fits &= entries[e, MASK + w] & ~sets[placed, w] == 0
                if fits:
                    break
            if fits:
                put(sets, placed, v)
                order[n_ordered] = v
                n_ordered += 1
            else:
                waiting[n_left] = v
                n_left += 1
        if n_left == 0 or n_left == n_waiting:
            return n_left
        n_waiting = n_left


@kernel
def _place_in_word(
    waiting: Ints, n_waiting: int, placed: int, children: Ints, entries: Ints, sets: Ints, order: Ints, n_ordered: int
) -> int:
    """`place` with the set in a register: most time is spent here."""
    missing = ~sets[placed, 0]
    while True:
        n_left = 0
        for i in range(n_waiting):
            v = waiting[i]
            first = children[v, START]
            fits = False
            for e in range(first, first + children[v, N_ZEROS]):
                if entries[e, MASK] & missing == 0:
                    fits = True
                    break
            if fits:
                missing &= ~(np.int64(1) << np.int64(v))
                order[n_ordered] = v
                n_ordered += 1
            else:
                waiting[n_left] = v
                n_left += 1
        if n_left == 0 or n_left == n_waiting:
            sets[placed, 0] = ~missing
            return n_left
        n_waiting = n_left


@kernel
def grow(stuck: Ints, n_stuck: int, rest: Ints, children: Ints, entries: Ints, sets: Ints, hits: Ints) -> int:
    """A small stuck subset of a stuck set, grown from who has fewest entries with r = 0; it replaces the set.

    While an entry with r = 0 of a member misses the members, the variable joins that hits most such entries, less those
    of its own that miss the members.
    """
    n_words = sets.shape[1]
    joining = stuck[0]
    for w in range(n_words):
        sets[STUCK, w] = 0
        sets[CLUSTER, w] = 0
    for i in range(n_stuck):
        put(sets, STUCK, stuck[i])
        if children[stuck[i], N_ZEROS] < children[joining, N_ZEROS]:
            joining = stuck[i]
    n_members = 0
    while joining >= 0:
        put(sets, CLUSTER, joining)
        rest[n_members] = joining
        n_members += 1
        for i in range(n_stuck):
            hits[stuck[i]] = 0
        for i in range(n_members):
            v = rest[i]
            for e in range(children[v, START], children[v, START] + children[v, N_ZEROS]):
                if not _meets(entries, e, sets, CLUSTER):
                    for w in range(n_words):
                        word = np.uint64(entries[e, MASK + w] & sets[STUCK, w])
                        while word:
                            hits[64 * w + trailing_zeros(word)] += 1
                            word &= word - np.uint64(1)
        joining, most = -1, np.int64(0)
        for i in range(n_stuck):
            u = stuck[i]
            if hits[u] == 0:
                continue
            value = hits[u]
            for e in range(children[u, START], children[u, START] + children[u, N_ZEROS]):
                value -= np.int64(not _meets(entries, e, sets, CLUSTER))
            if joining < 0 or value > most:
                joining, most = u, value
    for i in range(n_members):
        stuck[i] = rest[i]
    return n_members


@kernel
def _meets(entries: Ints, e: int, sets: Ints, row: int) -> bool:
    """Does an entry hold a variable of the set?"""
    common = np.int64(0)
    for w in range(sets.shape[1]):
        common |= entries[e, MASK + w] & sets[row, w]
    return bool(common != 0)


@kernel
def minimise(stuck: Ints, n_stuck: int, rest: Ints, children: Ints, entries: Ints, sets: Ints, order: Ints) -> int:
    """Shrink a stuck set to a minimal one: who can be taken out while something stays stuck is taken out.

    Half of them are tried at once, then a quarter, ..., at last one by one: only minimal sets give strong bounds.
    """
    n_words = sets.shape[1]
    n_tried = max(1, n_stuck // 2)
    i = 0
    while True:
        if i >= n_stuck:
            if n_tried == 1:
                return n_stuck
            n_tried, i = max(1, min(n_tried, n_stuck) // 2), 0
        for w in range(n_words):
            sets[STUCK, w] = -1
        n_rest = 0
        for j in range(n_stuck):
            if j < i or j >= i + n_tried:
                v = stuck[j]
                sets[STUCK, v >> 6] &= ~(np.int64(1) << np.int64(v & 63))
                rest[n_rest] = v
                n_rest += 1
        n_rest = place(rest, n_rest, STUCK, children, entries, sets, order, len(children))
        if n_rest == 0:
            i += n_tried
            continue
        # the rest is in the order of the stuck ones: go on behind those that were found to be needed
        n_needed, k = 0, 0
        for j in range(n_rest):
            while k < i and stuck[k] != rest[j]:
                k += 1
            if k < i:
                n_needed += 1
        for j in range(n_rest):
            stuck[j] = rest[j]
        n_stuck, i = n_rest, n_needed
