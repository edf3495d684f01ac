"""States of the search over orders: the ones that a completion better than the best may pass, and what comes next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exactbnc.solvers.bounds.ascent._kernels import ascend, begin, cheapest_inside, look, potential
from exactbnc.solvers.bounds.ascent.layout import (
    COST,
    FULL_END,
    FULL_START,
    INFINITE,
    INSIDE_COST,
    INSIDE_ROW,
    MASK,
    N_ENTRIES,
    PLACED,
    REDUCED,
    START,
    Sorted,
    Workspace,
    holds,
    put,
)
from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel, trailing_zeros


class Found(NamedTuple):
    """What expanding states yields: their children with `facts` (cost, bound, origin, variable), and a better order.

    `best` is the cost of the best order known; where it was found here, the state that it begins with (else -1), how
    many variables follow, and those. `counts` are the raises, the states that were left open, and the variable that the
    last of these forced (-1: none).
    """

    states: Ints
    facts: Ints
    best: Ints
    counts: Ints


COST_OF_CHILD, BOUND, ORIGIN, VARIABLE = 0, 1, 2, 3
BEST_COST, BEST_STATE, N_SUFFIX, SUFFIX = 0, 1, 2, 3
RAISES, SURVIVORS, FORCED = 0, 1, 2
TRIED, SMALLEST = 0, 1
STOPPED = -1


def make_found(n_vars: int, n_words: int, n_states: int) -> Found:
    """Room for the children of that many states."""
    room = n_vars * n_states
    return Found(
        states=np.zeros((room, n_words), dtype=np.int64),
        facts=np.zeros((room, 4), dtype=np.int64),
        best=np.zeros(SUFFIX + n_vars, dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
    )


@kernel
def expand(
    t: Sorted, ws: Workspace, states: Ints, cost: Ints, first: int, last: int, found: Found, closes: bool
) -> int:
    """Children of the states first..last-1 that may lead to an order cheaper than the best; returns their number.

    `closes`: of a state's children only those in its smallest closed set are noted. STOPPED is returned where the
    workspace's stop flag ended the work.
    """
    n_found = 0
    for s in range(first, last):
        left = found.best[BEST_COST] - 1 - cost[s] - potential(ws.children, t.cuts, t.rho, states, s, ws.free)
        if left < 0:
            continue
        left = begin(t, ws, states, s, left)
        if left < 0:
            continue
        left, n_raises = ascend(t, ws, states, s, left)
        if ws.stop[0] != 0:
            return STOPPED
        found.counts[RAISES] += n_raises
        if left < 0:
            continue
        found.counts[SURVIVORS] += 1
        left -= _try_order(t, ws, states, s, cost[s], found)
        if left >= 0:
            begun = n_found
            n_found = _children(t, ws, states, s, cost[s], left, found, n_found)
            if closes and n_found > begun + 1:
                n_found = _in_closed_set(t, ws, states, s, left, found, begun, n_found)
    return n_found


@kernel
def _try_order(t: Sorted, ws: Workspace, states: Ints, s: int, cost: int, found: Found) -> int:
    """The cost of the order that the ascent ended with; returns by how much it is better than the best."""
    sets, order, children, best = ws.sets, ws.order, ws.children, found.best
    n_outside = ws.outside[len(children)]
    for w in range(sets.shape[1]):
        sets[PLACED, w] = states[s, w]
    for i in range(n_outside):
        v = order[i]
        f = cheapest_inside(t.full, children[v, FULL_START], children[v, FULL_END], sets, PLACED)
        if f < 0:
            return 0
        cost += t.full[f, COST]
        if cost >= best[BEST_COST]:
            return 0
        put(sets, PLACED, v)
    better = int(best[BEST_COST] - cost)
    best[BEST_COST], best[BEST_STATE], best[N_SUFFIX] = cost, s, n_outside
    for i in range(n_outside):
        best[SUFFIX + i] = order[i]
    return better


@kernel
def _children(t: Sorted, ws: Workspace, states: Ints, s: int, cost: int, left: int, found: Found, n_found: int) -> int:
    """Note the variables that may come next; one alone if its cheapest family that is not dead lies inside S."""
    rows, bits, sums, children, entries = t.rows, t.bits, ws.sums, ws.children, ws.entries
    n_words = states.shape[1]
    begin = n_found
    found.counts[FORCED] = -1
    bound = found.best[BEST_COST] - 1 - left
    for i in range(ws.outside[len(children)]):
        v = ws.outside[i]
        if children[v, INSIDE_ROW] < 0:
            continue
        # the families of v that stay below the best cost, and r_S of the one inside S
        look(v, left, left, -1, rows, bits, sums, states, s, children, entries, ws.raises, ws.log, ws.sets)
        n_alive, r_inside = 0, INFINITE
        for e in range(children[v, START], children[v, START] + children[v, N_ENTRIES]):
            if entries[e, REDUCED] <= left:
                n_alive += 1
                is_inside = True
                for w in range(n_words):
                    is_inside &= entries[e, MASK + w] == 0
                if is_inside:
                    r_inside = entries[e, REDUCED]
        if r_inside == INFINITE:
            continue
        # the one inside S is all that is left: moving v forward costs nothing, so v alone comes next
        if n_alive == 1:
            n_found = begin
            found.counts[FORCED] = v
        # the child S + v: g(S) + cost(v, W), and the bound of S with that family
        for w in range(n_words):
            found.states[n_found, w] = states[s, w]
        put(found.states, n_found, v)
        found.facts[n_found, COST_OF_CHILD] = cost + children[v, INSIDE_COST]
        found.facts[n_found, BOUND] = bound + r_inside
        found.facts[n_found, ORIGIN] = s
        found.facts[n_found, VARIABLE] = v
        n_found += 1
        if n_alive == 1:
            break
    return n_found


@kernel
def _in_closed_set(
    t: Sorted, ws: Workspace, states: Ints, s: int, left: int, found: Found, begin: int, n_found: int
) -> int:
    """Of the children begin..n_found-1, keep those in the smallest set closed under the parents of living families.

    Such a set B can come before the rest in any completion that is better than the best: no living family of a member
    holds a variable outside S and B, so moving B forward changes no member's choice and only enlarges the others'. The
    first of B is one of the children, so the closures of these are looked at.
    """
    rows, bits, sums, children, entries = t.rows, t.bits, ws.sums, ws.children, ws.entries
    needs, closed, waiting, is_known = ws.needs, ws.closed, ws.stuck, ws.hits
    n_words, n_outside = states.shape[1], ws.outside[len(children)]
    smallest = n_outside
    for i in range(n_outside):
        is_known[ws.outside[i]] = 0
    for j in range(begin, n_found):
        # B: the closure of one child, given up once it is as large as the smallest so far
        for w in range(n_words):
            closed[TRIED, w] = 0
        put(closed, TRIED, found.facts[j, VARIABLE])
        waiting[0], n_waiting, size = found.facts[j, VARIABLE], 1, 1
        while n_waiting > 0 and size < smallest:
            n_waiting -= 1
            v = waiting[n_waiting]
            # needs(v): the variables outside S in living families of v
            if not is_known[v]:
                is_known[v] = 1
                look(v, left, left, -1, rows, bits, sums, states, s, children, entries, ws.raises, ws.log, ws.sets)
                for w in range(n_words):
                    needs[v, w] = 0
                for e in range(children[v, START], children[v, START] + children[v, N_ENTRIES]):
                    if entries[e, REDUCED] <= left:
                        for w in range(n_words):
                            needs[v, w] |= entries[e, MASK + w]
            # those that B does not hold yet join it
            for w in range(n_words):
                new = np.uint64(needs[v, w] & ~closed[TRIED, w])
                closed[TRIED, w] |= needs[v, w]
                while new != np.uint64(0):
                    waiting[n_waiting] = 64 * w + trailing_zeros(new)
                    n_waiting += 1
                    size += 1
                    new &= new - np.uint64(1)
        if size < smallest:
            smallest = size
            for w in range(n_words):
                closed[SMALLEST, w] = closed[TRIED, w]
    if smallest == n_outside:
        return n_found
    # the children inside the smallest B move up
    kept = begin
    for j in range(begin, n_found):
        if holds(closed, SMALLEST, found.facts[j, VARIABLE]):
            for w in range(n_words):
                found.states[kept, w] = found.states[j, w]
            for i in range(found.facts.shape[1]):
                found.facts[kept, i] = found.facts[j, i]
            kept += 1
    return kept
