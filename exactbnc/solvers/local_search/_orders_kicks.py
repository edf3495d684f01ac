"""Compiled chains of the search over orders: greedy orders to start from, kicks, and what is kept after each."""

from __future__ import annotations

import numpy as np

from exactbnc.solvers.local_search._orders_kernels import (
    BEST,
    CHAIN_BEST,
    KEPT,
    N_IDLE,
    N_KICKS,
    TOTAL,
    WORK,
    Families,
    Ints,
    Walk,
    Words,
    climb,
    draw,
    draw_exponential,
    last_rank,
    move,
    note_best,
    put_in_queue,
)
from scorecache.system.compiled import kernel

_MAX_KICK = 4  # insertions, or families forced, in one kick
_MAX_SEGMENT = 12  # variables that a kick moves together
_SEGMENT_PART = 4  # and at most this part of all


@kernel
def greedy_order(t: Families, random: Words, noise: float) -> Ints:
    """Place the variable whose cheapest family among those placed costs least, times a draw from [1, 1 + noise].

    A variable that has no family yet, only the penalty, comes last: so every child gets one if any order gives it one.
    """
    n_vars = len(t.child_start) - 1
    one = 1 << 30
    # members of each family that are not placed yet, and per variable the cheapest family that misses none
    n_missing = t.member_start[1:] - t.member_start[:-1]
    cheapest = np.empty(n_vars, dtype=np.int64)
    for v in range(n_vars):
        cheapest[v] = t.child_start[v]
        while n_missing[cheapest[v]] > 0:
            cheapest[v] += 1
    order = np.arange(n_vars)
    for j in range(n_vars):
        # the variable with the least price comes next
        pick, least = -1, np.inf
        for k in range(j, n_vars):
            v = order[k]
            price = np.inf
            if cheapest[v] + 1 < t.child_start[v + 1]:
                price = t.cost[cheapest[v]] * (1.0 + noise * draw(random, one) / one)
            if pick < 0 or price < least:
                pick, least = k, price
        v = order[pick]
        order[pick] = order[j]
        order[j] = v
        # families that hold it miss one member less
        for pair in range(t.pair_start[v], t.pair_start[v + 1]):
            u = t.pair_child[pair]
            for k in range(t.holder_start[pair], t.holder_start[pair + 1]):
                n_missing[t.holders[k]] -= 1
                if n_missing[t.holders[k]] == 0:
                    cheapest[u] = min(cheapest[u], t.holders[k])
    return order


@kernel
def displace(t: Families, walk: Walk, v: int, place: int) -> None:
    """Move v, and have it priced again."""
    move(t, walk, v, place)
    put_in_queue(walk, v)


@kernel
def force_family(t: Families, walk: Walk) -> None:
    """Open a cheaper family to some variable: it goes behind the last member, or the members come before it."""
    n_vars = len(walk.order)
    v, n_tries = draw(walk.random, n_vars), 1
    while walk.chosen[v] == t.child_start[v] and n_tries < n_vars:
        v, n_tries = draw(walk.random, n_vars), n_tries + 1
    n_cheaper = walk.chosen[v] - t.child_start[v]
    if n_cheaper == 0:
        return
    family = t.child_start[v] + draw(walk.random, n_cheaper)
    if draw(walk.random, 2) == 0:
        displace(t, walk, v, last_rank(t.member_start, t.members, walk.rank, family, n_vars))
        return
    for k in range(t.member_start[family], t.member_start[family + 1]):
        if walk.rank[t.members[k]] > walk.rank[v]:
            displace(t, walk, t.members[k], walk.rank[v])


@kernel
def move_segment(t: Families, walk: Walk) -> None:
    """Move a few neighbours together to another place."""
    n_vars = len(walk.order)
    length = 1 + draw(walk.random, max(1, min(n_vars // _SEGMENT_PART, _MAX_SEGMENT)))
    old, new = draw(walk.random, n_vars - length + 1), draw(walk.random, n_vars - length + 1)
    for k in range(length):
        if new < old:
            displace(t, walk, walk.order[old + k], new + k)
        else:
            displace(t, walk, walk.order[old], new + length - 1)


@kernel
def kick(t: Families, walk: Walk) -> None:
    """Leave a local optimum: half the time by moving a segment, else by a few forced families or random insertions."""
    n_vars = len(walk.order)
    kind = draw(walk.random, 4)
    if kind <= 1:
        move_segment(t, walk)
        return
    for _ in range(1 + draw(walk.random, _MAX_KICK)):
        if kind == 2:
            force_family(t, walk)
        else:
            displace(t, walk, draw(walk.random, n_vars), draw(walk.random, n_vars))


@kernel
def keep(walk: Walk) -> None:
    """The order in hand becomes the one to return to."""
    for j in range(len(walk.order)):
        walk.kept_order[j] = walk.order[j]
        walk.kept_rank[j] = walk.rank[j]
        walk.kept_chosen[j] = walk.chosen[j]
        walk.kept_stamp[j] = walk.stamp[j]
    walk.tally[KEPT] = walk.tally[TOTAL]


@kernel
def go_back(walk: Walk) -> None:
    """Return to the order kept; flips of that time are valid again, because no stamp is given out twice."""
    for j in range(len(walk.order)):
        walk.order[j] = walk.kept_order[j]
        walk.rank[j] = walk.kept_rank[j]
        walk.chosen[j] = walk.kept_chosen[j]
        walk.stamp[j] = walk.kept_stamp[j]
    walk.tally[TOTAL] = walk.tally[KEPT]


@kernel
def hop(t: Families, walk: Walk, n_kicks: int, temperature: float, target: int, work: int) -> bool:
    """Climb, then kick and climb again; True when `n_kicks` in a row did not improve the chain, or at the target.

    The order after a kick is kept if its total is at most an exponential draw with the temperature as mean above the
    total of the one before: a Markov chain over local optima (Martin, Otto, Felten 1991, "Large-step Markov chains").
    """
    end = walk.tally[WORK] + work
    while climb(t, walk, end - walk.tally[WORK]):
        note_best(t, walk)
        if walk.tally[TOTAL] < walk.tally[CHAIN_BEST]:
            walk.tally[CHAIN_BEST] = walk.tally[TOTAL]
            walk.tally[N_IDLE] = 0
        if walk.tally[TOTAL] - walk.tally[KEPT] <= temperature * draw_exponential(walk.random):
            keep(walk)
        else:
            go_back(walk)
        if walk.tally[N_IDLE] >= n_kicks or walk.tally[BEST] <= target:
            return True
        walk.tally[N_IDLE] += 1
        walk.tally[N_KICKS] += 1
        kick(t, walk)
    note_best(t, walk)
    return False
