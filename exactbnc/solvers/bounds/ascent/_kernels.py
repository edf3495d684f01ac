"""Dual ascent at a prefix of an order: a bound on all its completions.

State S: the variables placed first; g(S) the least cost of an order of S. With multipliers on cuts (`root.cuts`),
rho(S) what a cut still asks of the variables outside S, and a cut *free* once rho(S) = 0,

    cost of a completion >= g(S) + sum lambda rho(S) + sum over v outside S of (mu(v) + min_W r_S(v, W))
    r_S(v, W) = reduced(v, W) + sum over free cuts of lambda a(v, W)  >= 0

Only families matter that are cheaper than the cheapest one inside S, and that one. Dual ascent raises the bound: order
what has a family with r = 0 inside what is placed; if C is left, every family of a member of C with r = 0 hits C, so
that C is a cluster whose families that miss it can all pay the least of their r, and the bound grows by it.

Which families are looked at is in `_entries`, placing and clusters in `_stuck`, the arrays in `layout`.
"""

from __future__ import annotations

import numpy as np

from exactbnc.solvers.bounds.ascent._entries import cheapest_inside, look, make_sums, pay
from exactbnc.solvers.bounds.ascent._stuck import grow, minimise, place
from exactbnc.solvers.bounds.ascent.layout import (
    CLUSTER,
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
    N_ENTRIES,
    N_LOG,
    N_ZEROS,
    NEXT,
    PAID,
    PLACED,
    RAISED,
    REDUCED,
    START,
    Sorted,
    Workspace,
    holds,
    put,
)
from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel, popcount

LARGE = 64
"""A larger stuck set is grown anew from one variable before it is shrunk."""


@kernel
def potential(children: Ints, cuts: Ints, rho: Ints, states: Ints, s: int, free: Ints) -> int:
    """sum lambda rho(S) + sum of mu outside S; `free[q]` becomes the multiplier if cut q is free, else 0."""
    n_words = states.shape[1]
    total = 0
    for q in range(len(cuts)):
        multiplier, k, facet = cuts[q, 0], cuts[q, 1], cuts[q, 2]
        if facet < 0:
            left = k
            for w in range(n_words):
                left -= np.int64(popcount(np.uint64(cuts[q, 7 + w] & states[s, w])))
            left = max(left, 0)
        else:
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
def begin(t: Sorted, ws: Workspace, states: Ints, s: int, left: int) -> int:
    """First entries of every variable outside S; returns what is left of the gap, negative if nothing."""
    rows, bits, sums, children, entries = t.rows, t.bits, ws.sums, ws.children, ws.entries
    raises, log, sets, outside, full = ws.raises, ws.log, ws.sets, ws.outside, t.full
    n_outside = 0
    for v in range(len(children)):
        if holds(states, s, v):
            continue
        outside[n_outside] = v
        n_outside += 1
        f = cheapest_inside(full, children[v, FULL_START], children[v, FULL_END], states, s)
        children[v, INSIDE_ROW] = -1 if f < 0 else full[f, REDUCED]
        children[v, INSIDE_COST] = INFINITE if f < 0 else full[f, COST]
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
        # whoever could be placed before still can: entries with r = 0 stay so
        n_waiting = place(waiting, n_waiting, PLACED, children, entries, sets, order, n_outside - n_waiting)
        if n_waiting == 0 or n_raises == len(raises):
            for i in range(n_waiting):
                order[n_outside - n_waiting + i] = waiting[i]
            return left, n_raises
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
    left = begin(t, ws, states, 0, left)
    if left < 0:
        return left, 0
    for i in range(len(order)):
        ws.outside[i] = order[i]
    return ascend(t, ws, states, 0, left)
