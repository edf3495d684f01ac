"""Families looked at lazily, and what they pay.

Families come by ascending reduced cost: r is at least the reduced cost less all that the child has paid so far, so the
rest of the list is left alone while that is more than what is at stake.
"""

from __future__ import annotations

import numpy as np

from exactbnc.solvers.bounds.ascent.layout import (
    BYTE_START,
    COLUMN_END,
    COLUMN_START,
    COST,
    END,
    INSIDE_COST,
    INSIDE_ROW,
    MASK,
    MEMBERS,
    N_BYTES,
    N_ENTRIES,
    N_LOG,
    N_ZEROS,
    NEXT,
    PAID,
    RAISED,
    REDUCED,
    START,
    SUMS_START,
    Bytes,
)
from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel


@kernel
def cheapest_inside(full: Ints, first: int, last: int, states: Ints, s: int) -> int:
    """The first, cheapest family inside the state, -1 if there is none."""
    n_words = states.shape[1]
    for f in range(first, last):
        fits = True
        for w in range(n_words):
            fits &= full[f, MASK + w] & ~states[s, w] == 0
        if fits:
            return f
    return -1


@kernel
def make_sums(children: Ints, v: int, column_cut: Ints, free: Ints, sums: Ints) -> None:
    """Per byte of v's bits, the sums of the free multipliers for all 256 values."""
    first, last = children[v, COLUMN_START], children[v, COLUMN_END]
    for byte in range(children[v, N_BYTES]):
        row = children[v, SUMS_START] + byte
        sums[row, 0] = 0
        for bit in range(8):
            column = first + 8 * byte + bit
            weight = free[column_cut[column]] if column < last else np.int64(0)
            for low in range(1 << bit):
                sums[row, (1 << bit) + low] = sums[row, low] + weight


@kernel
def look(
    v: int,
    least: int,
    left: int,
    c: int,
    rows: Ints,
    bits: Bytes,
    sums: Ints,
    states: Ints,
    s: int,
    children: Ints,
    entries: Ints,
    raises: Ints,
    log: Ints,
    sets: Ints,
) -> int:
    """Turn families of v into entries until no other can have r <= least; return the new `least`.

    `least` falls to the r of every new entry that misses the cluster of set c (none if c < 0). Families with r > left
    are dead: r and what is left fall together, so they stay so.
    """
    n_words = states.shape[1]
    first, last, n_bytes = children[v, START], children[v, END], children[v, N_BYTES]
    paid, n_log = children[v, PAID], children[v, N_LOG]
    inside_row, inside_cost = children[v, INSIDE_ROW], children[v, INSIDE_COST]
    at, row = first + children[v, N_ENTRIES], children[v, NEXT]
    sums_start, byte_start = children[v, SUMS_START], children[v, BYTE_START]
    while row < last and rows[row, REDUCED] - paid <= least:
        if rows[row, REDUCED] - paid > left:
            row = last
            break
        a = row
        row += 1
        if rows[a, COST] >= inside_cost and a != inside_row:
            continue
        r = rows[a, REDUCED] - paid
        byte = byte_start + (a - first) * n_bytes
        for b in range(n_bytes):
            r += sums[sums_start + b, bits[byte + b]]
        if r > left:
            continue
        for w in range(n_words):
            entries[at, MASK + w] = rows[a, MASK + w] & ~states[s, w]
        for j in range(n_log):
            for w in range(n_words):
                if entries[at, MASK + w] & raises[log[v, j], MEMBERS + w]:
                    r += raises[log[v, j], RAISED]  # it hits that cluster, so it did not pay
                    break
        if r > left:
            continue
        entries[at, REDUCED] = r
        entries[at, COST] = rows[a, COST]
        if c >= 0 and r < least:
            misses = True
            for w in range(n_words):
                misses &= entries[at, MASK + w] & sets[c, w] == 0
            if misses:
                least = r
        at += 1
    children[v, NEXT] = row
    children[v, N_ENTRIES] = at - first
    return least


@kernel
def pay(v: int, amount: int, left: int, c: int, children: Ints, entries: Ints, sets: Ints) -> None:
    """Lower by an amount the r of v's entries that miss the cluster of set c; drop what is dead with `left` left."""
    n_words = sets.shape[1]
    first = children[v, START]
    zeros_end, end = first + children[v, N_ZEROS], first + children[v, N_ENTRIES]
    e = zeros_end
    while e < end:
        misses = True
        for w in range(n_words):
            misses &= entries[e, MASK + w] & sets[c, w] == 0
        r = entries[e, REDUCED] - amount if misses else entries[e, REDUCED]
        if r > left:
            end -= 1
            for column in range(MASK + n_words):
                entries[e, column] = entries[end, column]
            continue
        entries[e, REDUCED] = r
        if r == 0:
            for column in range(MASK + n_words):
                kept = entries[e, column]
                entries[e, column] = entries[zeros_end, column]
                entries[zeros_end, column] = kept
            zeros_end += 1
        e += 1
    children[v, N_ZEROS], children[v, N_ENTRIES] = zeros_end - first, end - first
    children[v, PAID] += amount
