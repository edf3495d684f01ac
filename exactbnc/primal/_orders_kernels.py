"""Compiled parts of the search over orders: families in compressed rows, the place of every variable, moves.

All insertions of one variable v are priced together. Moving v past u changes the cost of two children only, so the
change of the total as v goes from its place p to place j is

    sum over the u passed of flip(u, v)  +  own(j) - own(p),

where flip(u, v) is the change of u's cost when v comes to its other side, and own(j) is v's cheapest family among those
before place j. flip(u, v) is kept until the predecessors of u change (`stamp`), own is read off in one pass over the
families of v in order of cost: a family is open from behind its last member on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

TOTAL, KEPT, BEST, CHAIN_BEST, N_QUEUED, QUEUE_HEAD, CLOCK, WORK, N_IDLE, N_KICKS = range(10)
"""Places in the tally: costs of the order in hand, of the one to return to, of the best, of the best of the chain; the
queue; the last stamp given out; families and pairs looked at; kicks since the chain improved; all kicks."""

_WORD_BITS = 64
_MAX_KICK = 4  # insertions, or families forced, in one kick
_MAX_SEGMENT = 12  # variables that a kick moves together
_SEGMENT_PART = 4  # and not more than every so many-th of all


class Families(NamedTuple):
    """Families of child v: `child_start[v]:child_start[v + 1]`, cheapest first, the last one a penalty without members.

    A *pair* is a parent and a child that has families with it: those of parent v are `pair_start[v]:pair_start[v + 1]`,
    pair k is with `pair_child[k]`, whose families with v are `holders[holder_start[k]:holder_start[k + 1]]`.
    """

    child_start: Ints
    cost: Ints
    member_start: Ints
    members: Ints
    pair_start: Ints
    pair_child: Ints
    holder_start: Ints
    holders: Ints


class Walk(NamedTuple):
    """An order on its way: families chosen, flips, the variables whose insertions are to be priced; two orders kept."""

    order: Ints
    rank: Ints
    chosen: Ints
    stamp: Ints
    flip: Ints
    flip_stamp: Ints
    queue: Ints
    is_queued: NDArray[np.bool_]
    change: Ints
    kept_order: Ints
    kept_rank: Ints
    kept_chosen: Ints
    kept_stamp: Ints
    best_order: Ints
    tally: Ints
    random: Words


@njit(cache=True, nogil=True)
def list_members(masks: Words) -> tuple[Ints, Ints]:
    """The members of every mask, in compressed rows."""
    n_families, n_words = masks.shape
    start = np.zeros(n_families + 1, dtype=np.int64)
    for round_ in range(2):  # count, then fill
        if round_ == 1:
            members = np.empty(start[n_families], dtype=np.int64)
        n_seen = 0
        for family in range(n_families):
            for word in range(n_words):
                left = masks[family, word]
                first = word * _WORD_BITS
                while left != 0:
                    if left & np.uint64(1):
                        if round_ == 1:
                            members[n_seen] = first
                        n_seen += 1
                    left >>= np.uint64(1)
                    first += 1
            start[family + 1] = n_seen
    return start, members


@njit(cache=True, nogil=True)
def list_pairs(child_start: Ints, member_start: Ints, members: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The pairs and their holders, as Families has them: families sorted by member, then by child."""
    n_vars = len(child_start) - 1
    position = np.zeros(n_vars + 1, dtype=np.int64)
    for member in members:
        position[member + 1] += 1
    for v in range(n_vars):
        position[v + 1] += position[v]
    holders = np.empty(len(members), dtype=np.int64)
    owner = np.empty(len(members), dtype=np.int64)
    ends = position[1:].copy()
    for child in range(n_vars):
        for family in range(child_start[child], child_start[child + 1]):
            for k in range(member_start[family], member_start[family + 1]):
                holders[position[members[k]]] = family
                owner[position[members[k]]] = child
                position[members[k]] += 1
    pair_start = np.zeros(n_vars + 1, dtype=np.int64)
    pair_child = np.empty(len(members), dtype=np.int64)
    holder_start = np.zeros(len(members) + 1, dtype=np.int64)
    n_pairs, first = 0, 0
    for v in range(n_vars):
        for k in range(first, ends[v]):
            if k == first or owner[k] != owner[k - 1]:
                pair_child[n_pairs] = owner[k]
                holder_start[n_pairs] = k
                n_pairs += 1
        first = ends[v]
        pair_start[v + 1] = n_pairs
    holder_start[n_pairs] = len(members)
    return pair_start, pair_child[:n_pairs].copy(), holder_start[: n_pairs + 1].copy(), holders


@njit(cache=True, nogil=True)
def draw(random: Words, n: int) -> int:
    """A number below n < 2**31, by xorshift64* (Vigna 2016)."""
    bits = random[0]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    random[0] = bits
    high = (bits * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)
    return int(np.int64((high * np.uint64(n)) >> np.uint64(31)))


@njit(cache=True, nogil=True)
def draw_exponential(random: Words) -> float:
    """A draw from the exponential distribution of mean 1."""
    one = 1 << 30
    return -math.log((draw(random, one) + 1) / one)


@njit(cache=True, nogil=True)
def last_rank(start: Ints, members: Ints, rank: Ints, family: int, limit: int) -> int:
    """The place of the family's last member, -1 without members; the limit if it is not below it."""
    last = -1
    for k in range(start[family], start[family + 1]):
        if rank[members[k]] >= limit:
            return limit
        last = max(last, rank[members[k]])
    return last


@njit(cache=True, nogil=True)
def fits(start: Ints, members: Ints, rank: Ints, family: int, limit: int, added: int) -> bool:
    """Are all members before the limit, one variable added to those (-1: none)?"""
    for k in range(start[family], start[family + 1]):  # noqa: SIM110 (compiled)
        if rank[members[k]] >= limit and members[k] != added:
            return False
    return True


@njit(cache=True, nogil=True)
def holds(start: Ints, members: Ints, family: int, v: int) -> bool:
    """Is v a member of the family?"""
    for k in range(start[family], start[family + 1]):  # noqa: SIM110 (compiled)
        if members[k] == v:
            return True
    return False


@njit(cache=True, nogil=True)
def family_across(
    start: Ints, members: Ints, rank: Ints, holders: Ints, first: int, end: int, family: int, u: int, v: int
) -> int:
    """The family of u if v came to its other side; u has `family` now, those with v are `holders[first:end]`."""
    limit = rank[u]
    if rank[v] > limit:
        for k in range(first, end):
            if holders[k] >= family:
                break
            if fits(start, members, rank, holders[k], limit, v):
                return int(holders[k])
    elif holds(start, members, family, v):
        while holds(start, members, family, v) or not fits(start, members, rank, family, limit, -1):
            family += 1
    return family


@njit(cache=True, nogil=True)
def price_places(t: Families, walk: Walk, v: int) -> int:
    """Write to `change[j]` what the total changes by as v goes on to place j, from its own place outwards.

    Returns the first place worth a look: further left v loses more than its children gain. The caller puts `change`
    back to zero.
    """
    start, members, cost, holder_start, holders = t.member_start, t.members, t.cost, t.holder_start, t.holders
    pair_child, rank, families, change = t.pair_child, walk.rank, walk.chosen, walk.change
    stamp, flip, flip_stamp = walk.stamp, walk.flip, walk.flip_stamp
    n_vars, here, chosen = len(rank), rank[v], families[v]
    to_gain = 0
    for pair in range(t.pair_start[v], t.pair_start[v + 1]):
        u = pair_child[pair]
        if flip_stamp[pair] != stamp[u]:
            flip_stamp[pair] = stamp[u]
            first, end = holder_start[pair], holder_start[pair + 1]
            across = family_across(start, members, rank, holders, first, end, families[u], u, v)
            flip[pair] = cost[across] - cost[families[u]]
        if flip[pair] != 0:
            change[rank[u]] = flip[pair]
            if rank[u] < here:
                to_gain -= flip[pair]
    own = cost[chosen]
    open_from, cheaper = n_vars, 0
    for family in range(t.child_start[v], chosen):
        last = last_rank(start, members, rank, family, open_from)
        if last < open_from:
            if open_from < n_vars:
                change[open_from] += cheaper - cost[family]
            open_from, cheaper = last, cost[family]
    if open_from < n_vars:
        change[open_from] += cheaper - own
    walk.tally[WORK] += t.pair_start[v + 1] - t.pair_start[v] + chosen - t.child_start[v] + n_vars // 8
    if to_gain == 0:
        return int(here)
    open_from, paid, family = last_rank(start, members, rank, chosen, n_vars), own, chosen
    while open_from >= 0:
        family += 1
        if cost[family] - own > to_gain:
            break
        last = last_rank(start, members, rank, family, open_from)
        if last < open_from:
            change[open_from] += cost[family] - paid
            open_from, paid = last, cost[family]
    walk.tally[WORK] += family - chosen
    return int(open_from + 1)


@njit(cache=True, nogil=True)
def best_place(t: Families, walk: Walk, v: int) -> int:
    """The place of v with the least total; its own place if no other is better."""
    first = price_places(t, walk, v)
    here, own = walk.rank[v], t.cost[walk.chosen[v]]
    place, least, total = here, 0, 0
    for j in range(here - 1, first - 1, -1):
        total += walk.change[j]
        if total < least:
            place, least = j, total
    total = 0
    if own > 0:
        for j in range(here + 1, len(walk.order)):
            total += walk.change[j]
            if total < least:
                place, least = j, total
            if total > own:  # v cannot win back more than its own cost
                break
    walk.change[:] = 0
    return int(place)


@njit(cache=True, nogil=True)
def put_in_queue(walk: Walk, v: int) -> None:
    """Have the insertions of v priced again."""
    if walk.is_queued[v]:
        return
    walk.is_queued[v] = True
    walk.queue[(walk.tally[QUEUE_HEAD] + walk.tally[N_QUEUED]) % len(walk.queue)] = v
    walk.tally[N_QUEUED] += 1


@njit(cache=True, nogil=True)
def queue_members(t: Families, walk: Walk, first: int, end: int) -> None:
    """Queue the members of some families, unless all variables are in the queue."""
    if walk.tally[N_QUEUED] == len(walk.order):
        return
    for k in range(t.member_start[first], t.member_start[end]):
        put_in_queue(walk, t.members[k])


@njit(cache=True, nogil=True)
def choose(t: Families, walk: Walk, u: int, family: int) -> None:
    """Give u a family; its predecessors are others than before."""
    walk.tally[TOTAL] += t.cost[family] - t.cost[walk.chosen[u]]
    walk.chosen[u] = family
    walk.tally[CLOCK] += 1
    walk.stamp[u] = walk.tally[CLOCK]


@njit(cache=True, nogil=True)
def pass_child(t: Families, walk: Walk, u: int, v: int, pair: int) -> None:
    """Give u its family with v on its other side; queue the parents that may do better for u than before.

    With v added these are members of families with v, or of the family before or after. With v removed they are members
    of families cheaper than the new one, and nobody if u keeps its family.
    """
    before = walk.chosen[u]
    first, end = t.holder_start[pair], t.holder_start[pair + 1]
    after = family_across(t.member_start, t.members, walk.rank, t.holders, first, end, before, u, v)
    put_in_queue(walk, u)
    if walk.rank[v] > walk.rank[u]:
        queue_members(t, walk, before, before + 1)
        queue_members(t, walk, after, after + 1)
        for k in range(t.holder_start[pair], t.holder_start[pair + 1]):
            if t.holders[k] >= after:
                break
            queue_members(t, walk, t.holders[k], t.holders[k] + 1)
    elif after > before:
        queue_members(t, walk, t.child_start[u], after + 1)
    choose(t, walk, u, after)


@njit(cache=True, nogil=True)
def move(t: Families, walk: Walk, v: int, place: int) -> None:
    """Put v at a place, and in the queue every other variable that may have an improving insertion now.

    A child that v does not pass can gain only if v comes nearer from the right, or further left of it.
    """
    old, before = walk.rank[v], walk.chosen[v]
    first, last = min(old, place), max(old, place)
    for pair in range(t.pair_start[v], t.pair_start[v + 1]):
        u = t.pair_child[pair]
        if first <= walk.rank[u] <= last:
            pass_child(t, walk, u, v, pair)
        elif place < old and (walk.rank[u] > last or t.holders[t.holder_start[pair]] < walk.chosen[u]):
            put_in_queue(walk, u)
    step = 1 if place > old else -1
    for j in range(old, place, step):
        walk.order[j] = walk.order[j + step]
        walk.rank[walk.order[j]] = j
    walk.order[place] = v
    walk.rank[v] = place
    family = t.child_start[v] if place > old else before
    while not fits(t.member_start, t.members, walk.rank, family, place, -1):
        family += 1
    choose(t, walk, v, family)
    if place > old or family > before:
        queue_members(t, walk, t.child_start[v], family + 1)
        queue_members(t, walk, before, before + 1)


@njit(cache=True, nogil=True)
def enter(t: Families, walk: Walk) -> None:
    """Start at `order`: ranks, families, total; all variables in the queue, shuffled."""
    n_vars = len(walk.order)
    for j in range(n_vars):
        walk.rank[walk.order[j]] = j
    walk.tally[TOTAL] = 0
    for v in range(n_vars):
        family = t.child_start[v]
        while not fits(t.member_start, t.members, walk.rank, family, walk.rank[v], -1):
            family += 1
        walk.chosen[v] = family
        walk.tally[TOTAL] += t.cost[family]
        walk.tally[CLOCK] += 1
        walk.stamp[v] = walk.tally[CLOCK]
    walk.tally[QUEUE_HEAD], walk.tally[N_QUEUED] = 0, n_vars
    for j in range(n_vars):
        k = draw(walk.random, j + 1)
        walk.queue[j] = walk.queue[k]
        walk.queue[k] = j
        walk.is_queued[j] = True


@njit(cache=True, nogil=True)
def note_best(t: Families, walk: Walk) -> None:
    """Remember the order in hand if it is the best so far and every child has a family."""
    if walk.tally[TOTAL] >= walk.tally[BEST]:
        return
    for v in range(len(walk.order)):
        if walk.chosen[v] + 1 == t.child_start[v + 1]:
            return
    walk.tally[BEST] = walk.tally[TOTAL]
    for j in range(len(walk.order)):
        walk.best_order[j] = walk.order[j]


@njit(cache=True, nogil=True)
def climb(t: Families, walk: Walk, work: int) -> bool:
    """Best insertions, variable by variable, until none improves (True) or so much work is done (False)."""
    end = walk.tally[WORK] + work
    while walk.tally[N_QUEUED] > 0:
        if walk.tally[WORK] > end:
            return False
        head = walk.tally[QUEUE_HEAD]
        v = walk.queue[head]
        walk.tally[QUEUE_HEAD] = (head + 1) % len(walk.queue)
        walk.tally[N_QUEUED] -= 1
        walk.is_queued[v] = False
        place = best_place(t, walk, v)
        if place != walk.rank[v]:
            move(t, walk, v, place)
    return True


@njit(cache=True, nogil=True)
def displace(t: Families, walk: Walk, v: int, place: int) -> None:
    """Move v, and have it priced again."""
    move(t, walk, v, place)
    put_in_queue(walk, v)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def keep(walk: Walk) -> None:
    """The order in hand becomes the one to return to."""
    for j in range(len(walk.order)):
        walk.kept_order[j] = walk.order[j]
        walk.kept_rank[j] = walk.rank[j]
        walk.kept_chosen[j] = walk.chosen[j]
        walk.kept_stamp[j] = walk.stamp[j]
    walk.tally[KEPT] = walk.tally[TOTAL]


@njit(cache=True, nogil=True)
def go_back(walk: Walk) -> None:
    """Return to the order kept; flips of that time are valid again, because no stamp is given out twice."""
    for j in range(len(walk.order)):
        walk.order[j] = walk.kept_order[j]
        walk.rank[j] = walk.kept_rank[j]
        walk.chosen[j] = walk.kept_chosen[j]
        walk.stamp[j] = walk.kept_stamp[j]
    walk.tally[TOTAL] = walk.tally[KEPT]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def greedy_order(t: Families, random: Words, noise: float) -> Ints:
    """Place the variable whose cheapest family among those placed costs least, times a draw from [1, 1 + noise].

    A variable that has no family yet, only the penalty, comes last: so every child gets one if any order gives it one.
    """
    n_vars = len(t.child_start) - 1
    one = 1 << 30
    n_missing = t.member_start[1:] - t.member_start[:-1]
    cheapest = np.empty(n_vars, dtype=np.int64)
    for v in range(n_vars):
        cheapest[v] = t.child_start[v]
        while n_missing[cheapest[v]] > 0:
            cheapest[v] += 1
    order = np.arange(n_vars)
    for j in range(n_vars):
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
        for pair in range(t.pair_start[v], t.pair_start[v + 1]):
            u = t.pair_child[pair]
            for k in range(t.holder_start[pair], t.holder_start[pair + 1]):
                n_missing[t.holders[k]] -= 1
                if n_missing[t.holders[k]] == 0:
                    cheapest[u] = min(cheapest[u], t.holders[k])
    return order
