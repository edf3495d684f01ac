"""Dual ascent at a prefix of an order: a bound on all its completions.

State S: the variables placed first; g(S) the least cost of an order of S. With multipliers on cuts (`root.cuts`),
rho(S) what a cut still asks of the variables outside S, and a cut *free* once rho(S) = 0,

    cost of a completion >= g(S) + sum lambda rho(S) + sum over v outside S of (mu(v) + min_W r_S(v, W))
    r_S(v, W) = reduced(v, W) + sum over free cuts of lambda a(v, W)  >= 0

Only families matter that are cheaper than the cheapest one inside S, and that one; and where the state has a cap on
what v may cost (`solvers.order`), only those below the cap. Dual ascent raises the bound: order
what has a family with r = 0 inside what is placed; if C is left, every family of a member of C with r = 0 hits C, so
that C is a cluster whose families that miss it can all pay the least of their r, and the bound grows by it.

Families are looked at lazily (`look`): they come by ascending reduced cost, and r is at least the reduced cost less all
that the child has paid so far, so the rest of the list is left alone while that is more than what is at stake. `place`
orders the variables with an entry of r = 0; `grow` and `minimise` find a minimal cluster among the rest. The arrays are
in `layout`.
"""

from __future__ import annotations

import numpy as np

from exactbnc.solvers.bounds.ascent.layout import (
    BYTE_START,
    CLUSTER,
    COLUMN_END,
    COLUMN_START,
    COST,
    EMPTY,
    END,
    FULL_END,
    FULL_START,
    INFINITE,
    INSIDE_COST,
    INSIDE_ROW,
    MASK,
    MEMBERS,
    MU,
    N_BYTES,
    N_ENTRIES,
    N_LOG,
    N_ZEROS,
    NEXT,
    PAID,
    PLACED,
    RAISED,
    REDUCED,
    START,
    STUCK,
    SUMS_START,
    Bytes,
    Sorted,
    Workspace,
    holds,
    put,
)
from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel, popcount, trailing_zeros

LARGE = 64
"""A larger stuck set is grown anew from one variable before it is shrunk."""


@kernel
def potential(children: Ints, cuts: Ints, rho: Ints, states: Ints, s: int, free: Ints) -> int:
    """sum lambda rho(S) + sum of mu outside S; `free[q]` becomes the multiplier if cut q is free, else 0."""
    n_words = states.shape[1]
    total = 0
    for q in range(len(cuts)):
        multiplier, k, facet = cuts[q, 0], cuts[q, 1], cuts[q, 2]
        if facet < 0:  # a cluster: rho(S) = k less its members in S
            left = k
            for w in range(n_words):
                left -= np.int64(popcount(np.uint64(cuts[q, 7 + w] & states[s, w])))
            left = max(left, 0)
        else:  # a facet of four variables: rho(S) by table
            inside = 0
            for c in range(4):
                inside |= int(holds(states, s, cuts[q, 3 + c])) << c
            left = rho[facet, inside]
        free[q] = multiplier if left == 0 else 0
        total += multiplier * left
    for v in range(len(children)):
        if not holds(states, s, v):
            total += children[v, MU]
    return total


@kernel
def begin(t: Sorted, ws: Workspace, states: Ints, caps: Ints, s: int, left: int) -> int:
    """First entries of every variable outside S; returns what is left of the gap, negative if nothing.

    Families of v that cost `caps[s, v]` or more do not count.
    """
    rows, bits, sums, children, entries = t.rows, t.bits, ws.sums, ws.children, ws.entries
    raises, log, sets, outside, full = ws.raises, ws.log, ws.sets, ws.outside, t.full
    n_outside = 0
    for v in range(len(children)):
        if holds(states, s, v):
            continue
        outside[n_outside] = v
        n_outside += 1
        f = cheapest_inside(full, children[v, FULL_START], children[v, FULL_END], states, s)
        is_inside = f >= 0 and full[f, COST] < caps[s, v]
        children[v, INSIDE_ROW] = full[f, REDUCED] if is_inside else -1
        children[v, INSIDE_COST] = full[f, COST] if is_inside else caps[s, v]
        children[v, N_ENTRIES] = children[v, N_ZEROS] = children[v, PAID] = children[v, N_LOG] = 0
        children[v, NEXT] = children[v, START]
        make_sums(children, v, t.column_cut, ws.free, sums)
        least = look(v, left, left, EMPTY, rows, bits, sums, states, s, children, entries, raises, log, sets)
        if children[v, N_ENTRIES] == 0:
            return -1
        left -= least
        pay(v, least, left, EMPTY, children, entries, sets)
    outside[len(children)] = n_outside
    return left


@kernel
def ascend(t: Sorted, ws: Workspace, states: Ints, s: int, left: int) -> tuple[int, int]:
    """Dual ascent until entries with r = 0 give an order: what is left, negative if nothing, and how many raises."""
    rows, bits, sums, children, entries = t.rows, t.bits, ws.sums, ws.children, ws.entries
    raises, log, sets, outside = ws.raises, ws.log, ws.sets, ws.outside
    waiting, stuck, rest, order, hits = ws.waiting, ws.stuck, ws.rest, ws.order, ws.hits
    n_words = sets.shape[1]
    n_outside = outside[len(children)]
    n_raises, n_waiting = 0, n_outside
    for w in range(n_words):
        sets[PLACED, w] = 0
    for i in range(n_outside):
        waiting[i] = outside[i]
    while True:
        # a variable that could be placed before still can: entries with r = 0 stay so
        n_waiting = place(waiting, n_waiting, PLACED, children, entries, sets, order, n_outside - n_waiting)
        if n_waiting == 0 or n_raises == len(raises) or ws.stop[0] != 0:
            for i in range(n_waiting):
                order[n_outside - n_waiting + i] = waiting[i]
            return left, n_raises
        # a minimal cluster C among those that wait
        n_stuck = n_waiting
        for i in range(n_stuck):
            stuck[i] = waiting[i]
        if n_stuck > LARGE:
            n_stuck = grow(stuck, n_stuck, rest, children, entries, sets, hits)
        n_stuck = minimise(stuck, n_stuck, rest, children, entries, sets, order)
        for w in range(n_words):
            sets[CLUSTER, w] = 0
        for i in range(n_stuck):
            put(sets, CLUSTER, stuck[i])
        # the raise: the least r among the entries of C that miss it, also among families not yet looked at
        least = left + 1  # that closes the state
        for i in range(n_stuck):
            v = stuck[i]
            for e in range(children[v, START] + children[v, N_ZEROS], children[v, START] + children[v, N_ENTRIES]):
                if entries[e, REDUCED] < least:
                    misses = True
                    for w in range(n_words):
                        misses &= entries[e, MASK + w] & sets[CLUSTER, w] == 0
                    if misses:
                        least = entries[e, REDUCED]
        for i in range(n_stuck):
            v = stuck[i]
            if children[v, NEXT] < children[v, END] and rows[children[v, NEXT], REDUCED] - children[v, PAID] <= least:
                least = look(v, least, left, CLUSTER, rows, bits, sums, states, s, children, entries, raises, log, sets)
        # the bound grows by the raise, and every member pays it
        left -= least
        raises[n_raises, RAISED] = least
        for w in range(n_words):
            raises[n_raises, MEMBERS + w] = sets[CLUSTER, w]
        if left < 0:
            return left, n_raises + 1
        for i in range(n_stuck):
            v = stuck[i]
            pay(v, least, left, CLUSTER, children, entries, sets)
            log[v, children[v, N_LOG]] = n_raises
            children[v, N_LOG] += 1
        n_raises += 1


@kernel
def ascend_from(t: Sorted, ws: Workspace, states: Ints, left: int, order: Ints) -> tuple[int, int]:
    """Dual ascent at state 0, variables tried in an order; the clusters and what they raised are in the workspace."""
    no_caps = np.full((1, len(t.children)), INFINITE)
    left = begin(t, ws, states, no_caps, 0, left)
    if left < 0:
        return left, 0
    for i in range(len(order)):
        ws.outside[i] = order[i]
    return ascend(t, ws, states, 0, left)


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

    v, least, left, c say what is wanted; `rows`, `bits` are of the table (`Sorted`), `sums` to `sets` of the
    `Workspace`, and S is `states[s]`: whole groups as arguments would cost more than the work of most calls.
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
        if rows[row, REDUCED] - paid > left:  # so are all that follow
            row = last
            break
        a = row
        row += 1
        if rows[a, COST] >= inside_cost and a != inside_row:
            continue  # the cheapest family inside S can replace it
        # r: the reduced cost, less what the child paid, and the multipliers of free cuts, eight cuts at a time
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
        # a new entry; if it misses the cluster of set c, the raise cannot be more than its r
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
        if r > left:  # dead: the last entry takes its place
            end -= 1
            for column in range(MASK + n_words):
                entries[e, column] = entries[end, column]
            continue
        entries[e, REDUCED] = r
        if r == 0:  # swapped to the end of the entries with r = 0
            for column in range(MASK + n_words):
                kept = entries[e, column]
                entries[e, column] = entries[zeros_end, column]
                entries[zeros_end, column] = kept
            zeros_end += 1
        e += 1
    children[v, N_ZEROS], children[v, N_ENTRIES] = zeros_end - first, end - first
    children[v, PAID] += amount


@kernel
def place(
    waiting: Ints, n_waiting: int, placed: int, children: Ints, entries: Ints, sets: Ints, order: Ints, n_ordered: int
) -> int:
    """Place every variable with an entry of r = 0 inside set `placed`, which grows; the rest stays in `waiting`.

    Placed variables are noted in `order`, from `n_ordered` on.
    """
    n_words = sets.shape[1]
    if n_words == 1:
        return _place_in_word(waiting, n_waiting, placed, children, entries, sets, order, n_ordered)
    while True:
        # one pass: those with an entry of r = 0 inside the set are placed, the others move up in `waiting`
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
        # all are placed, or nobody was in this pass: another one would change nothing
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
    """A small stuck subset of a stuck set, grown from the variable with fewest entries of r = 0; it replaces the set.

    While an entry with r = 0 of a member misses the members, the variable joins that hits most such entries, less those
    of its own that miss the members.
    """
    n_words = sets.shape[1]
    # the first member has the fewest entries with r = 0
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
        # hits(u): entries with r = 0 of members that miss the members and hold u
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
        # the next member; none if every such entry hits the members: they are stuck
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
    """Shrink a stuck set to a minimal one: take variables out as long as some of the rest stay stuck.

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
        # without stuck[i : i + n_tried]: does something of the rest stay stuck when all others count as placed?
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
        if n_rest == 0:  # no: these are needed
            i += n_tried
            continue
        # the rest keeps the order of the stuck ones: continue behind those that were found to be needed
        n_needed, k = 0, 0
        for j in range(n_rest):
            while k < i and stuck[k] != rest[j]:
                k += 1
            if k < i:
                n_needed += 1
        for j in range(n_rest):
            stuck[j] = rest[j]
        n_stuck, i = n_rest, n_needed
