"""States of the search over orders: the ones that a completion better than the best may pass, and what comes next.

A state is a set S placed first, at the least cost g(S), and a cap on the cost of every variable outside S: completions
in which a variable v costs cap(v) or more are looked for elsewhere. With c(v) the cost of v's cheapest family inside S,
v is *available* in a completion if it has that family there.

- A variable that has another family costs less than c(v): else the one inside S could take its place, and the network
  stays acyclic and costs no more. So where the family inside S is dead, v costs less than c(v) in every completion that
  counts.
- The candidates, whose family inside S lives, are tried in some order v_1, v_2, ... Some variable is available, the
  first in the completion for one. If v_i is the first available one in the order tried, moving it to the front changes
  no family, so the completion passes S + v_i, and v_1 ... v_(i-1) cost less than c(v_1) ... there: its caps.
- Then these have families that are not inside S, so the bound of S rises by the least r of such families, the sum E;
  once that closes the state, no later candidate is the first. A candidate whose other families are all dead is alone.

Caps hold for the completions that come this way. Where two ways meet in one set, both kinds of completions continue
from it: the weaker cap counts, and the weaker of the bounds on the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exactbnc.solvers.bounds.ascent._kernels import ascend, begin, cheapest_inside, look, potential
from exactbnc.solvers.bounds.ascent.layout import (
    COST,
    END,
    FULL_END,
    FULL_START,
    INFINITE,
    INSIDE_COST,
    INSIDE_ROW,
    MASK,
    N_ENTRIES,
    NEXT,
    PAID,
    PLACED,
    REDUCED,
    START,
    Sorted,
    Workspace,
    holds,
    put,
)
from exactbnc.solvers.costs.graph import Ints
from scorecache.system.compiled import kernel


class Prefixes(NamedTuple):
    """States: sets as rows of words, what they cost, and caps per variable."""

    states: Ints
    cost: Ints
    caps: Ints


class Found(NamedTuple):
    """What expanding states yields: children with caps and `facts` (cost, bound, origin, variable), and a better order.

    `best` is the cost of the best order known; where it was found here, the state that it begins with (else -1), how
    many variables follow, and those. `counts` are the raises, the families looked at, how many variables were tried at
    the last state that was left open, which `tried` lists, and what is left of the gap there.
    """

    states: Ints
    caps: Ints
    facts: Ints
    best: Ints
    counts: Ints
    tried: Ints


COST_OF_CHILD, BOUND, ORIGIN, VARIABLE = 0, 1, 2, 3
BEST_COST, BEST_STATE, N_SUFFIX, SUFFIX = 0, 1, 2, 3
RAISES, LOOKED_AT, N_TRIED, LEFT = 0, 1, 2, 3
STOPPED = -1


def make_found(n_vars: int, n_words: int, n_states: int) -> Found:
    """Room for the children of that many states."""
    room = n_vars * n_states
    return Found(
        states=np.zeros((room, n_words), dtype=np.int64),
        caps=np.zeros((room, n_vars), dtype=np.int64),
        facts=np.zeros((room, 4), dtype=np.int64),
        best=np.zeros(SUFFIX + n_vars, dtype=np.int64),
        counts=np.zeros(4, dtype=np.int64),
        tried=np.zeros(n_vars, dtype=np.int64),
    )


@kernel
def expand(t: Sorted, ws: Workspace, prefixes: Prefixes, first: int, last: int, found: Found) -> int:
    """Children of the states first..last-1 that may lead to an order cheaper than the best; returns their number.

    STOPPED is returned where the workspace's stop flag ended the work.
    """
    states, cost, caps = prefixes
    n_found = 0
    for s in range(first, last):
        left = found.best[BEST_COST] - 1 - cost[s] - potential(ws.children, t.cuts, t.rho, states, s, ws.free)
        if left < 0:
            continue
        left = begin(t, ws, states, caps, s, left)
        if left < 0:
            continue
        left, n_raises = ascend(t, ws, states, s, left)
        if ws.stop[0] != 0:
            return STOPPED
        found.counts[RAISES] += n_raises
        for i in range(ws.outside[len(ws.children)]):
            v = ws.outside[i]
            found.counts[LOOKED_AT] += ws.children[v, NEXT] - ws.children[v, START]
        if left < 0:
            continue
        left -= _try_order(t, ws, states, s, cost[s], found)
        if left >= 0:
            found.counts[N_TRIED] = _candidates(t, ws, prefixes, s, left, found.tried)
            found.counts[LEFT] = left
            n_found = _children(ws, prefixes, s, left, found, n_found)
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
def _candidates(t: Sorted, ws: Workspace, prefixes: Prefixes, s: int, left: int, tried: Ints) -> int:
    """List the candidates in the order of `trials`; one alone if its other families are dead.

    `inside[v]` becomes r of the family inside S, `without[v]` the least r of the others that live, and `caps` those of
    the state, lower where the family inside S is dead.
    """
    children, inside, without, caps = ws.children, ws.inside, ws.without, ws.caps
    for v in range(len(children)):
        caps[v] = prefixes.caps[s, v]
    n_tried, forced = 0, -1
    for v in t.trials:
        if holds(prefixes.states, s, v):
            continue
        inside[v] = _inside(t, ws, prefixes.states, s, v, left)
        if inside[v] > left:
            caps[v] = children[v, INSIDE_COST]
        elif forced < 0:
            without[v] = _without(t, ws, prefixes.states, s, v, left)
            tried[n_tried] = v
            n_tried += 1
            if without[v] == INFINITE:
                forced = v
    if forced >= 0:
        tried[0] = forced
        return 1
    return n_tried


@kernel
def _inside(t: Sorted, ws: Workspace, states: Ints, s: int, v: int, left: int) -> int:
    """r of v's cheapest family inside S; INFINITE if it is dead or not below the cap."""
    children, entries, n_words = ws.children, ws.entries, states.shape[1]
    row = children[v, INSIDE_ROW]
    if row < 0:
        return int(INFINITE)
    if row >= children[v, NEXT]:
        least = t.rows[row, REDUCED] - children[v, PAID]
        look(v, least, left, -1, t.rows, t.bits, ws.sums, states, s, children, entries, ws.raises, ws.log, ws.sets)
    for e in range(children[v, START], children[v, START] + children[v, N_ENTRIES]):
        is_inside = True
        for w in range(n_words):
            is_inside &= entries[e, MASK + w] == 0
        if is_inside:
            return int(entries[e, REDUCED] if entries[e, REDUCED] <= left else INFINITE)
    return int(INFINITE)


@kernel
def _without(t: Sorted, ws: Workspace, states: Ints, s: int, v: int, left: int) -> int:
    """The least r of v's living families that are not inside S, INFINITE if there is none; looks at few families."""
    children, entries, rows, n_words = ws.children, ws.entries, t.rows, states.shape[1]
    least, e = INFINITE, children[v, START]
    while True:
        while e < children[v, START] + children[v, N_ENTRIES]:
            if entries[e, REDUCED] < least and entries[e, REDUCED] <= left:
                is_inside = True
                for w in range(n_words):
                    is_inside &= entries[e, MASK + w] == 0
                if not is_inside:
                    least = np.int64(entries[e, REDUCED])
            e += 1
        # a family not yet looked at has r of at least its reduced cost less what was paid
        if children[v, NEXT] >= children[v, END]:
            return int(least)
        at_least = rows[children[v, NEXT], REDUCED] - children[v, PAID]
        if at_least >= least or at_least > left:
            return int(least)
        look(v, at_least, left, -1, rows, t.bits, ws.sums, states, s, children, entries, ws.raises, ws.log, ws.sets)


@kernel
def _children(ws: Workspace, prefixes: Prefixes, s: int, left: int, found: Found, n_found: int) -> int:
    """Note the child of every candidate, as the first available one in the order tried."""
    states, children, caps = prefixes.states, ws.children, ws.caps
    n_words = states.shape[1]
    bound = found.best[BEST_COST] - 1 - left
    more = np.int64(0)  # E: what the bound rises by if none of those tried is available
    for j in range(found.counts[N_TRIED]):
        v = found.tried[j]
        if ws.inside[v] + more <= left:
            # the child S + v: g(S) + c(v), and the bound of S with that family
            for w in range(n_words):
                found.states[n_found, w] = states[s, w]
            put(found.states, n_found, v)
            for u in range(len(caps)):
                found.caps[n_found, u] = caps[u]
            found.facts[n_found, COST_OF_CHILD] = prefixes.cost[s] + children[v, INSIDE_COST]
            found.facts[n_found, BOUND] = bound + ws.inside[v] + more
            found.facts[n_found, ORIGIN] = s
            found.facts[n_found, VARIABLE] = v
            n_found += 1
        if ws.without[v] > left - more:
            found.counts[N_TRIED] = j + 1
            break
        more += ws.without[v]
        caps[v] = children[v, INSIDE_COST]
    return n_found


@kernel
def list_living(t: Sorted, ws: Workspace, states: Ints, s: int, left: int) -> None:
    """After an ascent at state s: entries for all families that live with `left` left."""
    for i in range(ws.outside[len(ws.children)]):
        v = ws.outside[i]
        look(
            v, left, left, -1, t.rows, t.bits, ws.sums, states, s, ws.children, ws.entries, ws.raises, ws.log, ws.sets
        )  # fmt: skip


@kernel
def children_of(
    t: Sorted,
    ws: Workspace,
    prefixes: Prefixes,
    s: int,
    left: int,
    masks: Ints,
    child: Ints,
    reduced: Ints,
    found: Found,
) -> int:
    """Children of state s by other multipliers than the root's: r of all families that live, less the members in S."""
    inside, without, caps = ws.inside, ws.without, ws.caps
    for v in range(len(ws.children)):
        caps[v] = prefixes.caps[s, v]
        inside[v] = without[v] = INFINITE
    for f in range(len(child)):
        is_inside = True
        for w in range(masks.shape[1]):
            is_inside &= masks[f, w] == 0
        if is_inside:
            inside[child[f]] = min(inside[child[f]], reduced[f])
        else:
            without[child[f]] = min(without[child[f]], reduced[f])
    n_tried, forced = 0, -1
    for v in t.trials:
        if holds(prefixes.states, s, v):
            continue
        if inside[v] > left:
            inside[v] = INFINITE
            caps[v] = ws.children[v, INSIDE_COST]
            continue
        if without[v] > left:
            without[v] = INFINITE
            if forced < 0:
                forced = v
        found.tried[n_tried] = v
        n_tried += 1
    if forced >= 0:
        found.tried[0] = forced
        n_tried = 1
    found.counts[N_TRIED] = n_tried
    return _children(ws, prefixes, s, left, found, 0)


@kernel
def look_ahead(t: Sorted, ws: Workspace, n_children: int, upper: int, found: Found) -> None:
    """Raise the bounds of children by an ascent at each."""
    for i in range(n_children):
        left = upper - 1 - found.facts[i, COST_OF_CHILD]
        left -= potential(ws.children, t.cuts, t.rho, found.states, i, ws.free)
        if left >= 0:
            left = begin(t, ws, found.states, found.caps, i, left)
        if left >= 0:
            left, _ = ascend(t, ws, found.states, i, left)
        found.facts[i, BOUND] = max(found.facts[i, BOUND], upper - 1 - left)
