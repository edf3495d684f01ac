"""Compiled moves of the search over orders: insertions of one variable, all of them priced together.

Moving v past u changes the cost of two children only, so the
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
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

TOTAL, KEPT, BEST, CHAIN_BEST, N_QUEUED, QUEUE_HEAD, CLOCK, WORK, N_IDLE, N_KICKS = range(10)
"""Places in the tally: costs of the order in hand, of the one to return to, of the best, of the best of the chain; the
queue; the last stamp given out; families and pairs looked at; kicks since the chain improved; all kicks."""


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


@kernel
def list_pairs(child_start: Ints, member_start: Ints, members: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The pairs and their holders, as Families has them: families sorted by member, then by child."""
    n_vars = len(child_start) - 1
    position = np.zeros(n_vars + 1, dtype=np.int64)
    # families counted by member, then a counting sort: within a member they come by child
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
    # a pair begins where the child changes
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


@kernel
def last_rank(start: Ints, members: Ints, rank: Ints, family: int, limit: int) -> int:
    """The place of the family's last member, -1 without members; the limit if it is not below it."""
    last = -1
    for k in range(start[family], start[family + 1]):
        if rank[members[k]] >= limit:
            return limit
        last = max(last, rank[members[k]])
    return last


@kernel
def fits(start: Ints, members: Ints, rank: Ints, family: int, limit: int, added: int) -> bool:
    """Are all members before the limit, one variable added to those (-1: none)?"""
    for k in range(start[family], start[family + 1]):  # noqa: SIM110 (compiled)
        if rank[members[k]] >= limit and members[k] != added:
            return False
    return True


@kernel
def holds(start: Ints, members: Ints, family: int, v: int) -> bool:
    """Is v a member of the family?"""
    for k in range(start[family], start[family + 1]):  # noqa: SIM110 (compiled)
        if members[k] == v:
            return True
    return False


@kernel
def family_across(
    start: Ints, members: Ints, rank: Ints, holders: Ints, first: int, end: int, family: int, u: int, v: int
) -> int:
    """The family of u if v came to its other side; u has `family` now, those with v are `holders[first:end]`.

    `start`, `members` and `holders` are of `Families`, `rank` is of the `Walk`: it is called too often for groups.
    """
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


@kernel
def price_places(t: Families, walk: Walk, v: int) -> int:
    """Write to `change[j]` what the total changes by as v moves to place j, from its own place outwards.

    Returns the first place worth a look: further left v loses more than its children gain. The caller puts `change`
    back to zero.
    """
    start, members, cost, holder_start, holders = t.member_start, t.members, t.cost, t.holder_start, t.holders
    pair_child, rank, families, change = t.pair_child, walk.rank, walk.chosen, walk.change
    stamp, flip, flip_stamp = walk.stamp, walk.flip, walk.flip_stamp
    n_vars, here, chosen = len(rank), rank[v], families[v]
    # children: at the place of child u the total changes by flip(u, v), as v comes to the other side of u
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
    # to the right of its place v gains: families cheaper than its own open up behind their last members
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
    # to the left it loses: each family closes at its last member, and the next one that fits costs more
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


@kernel
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


@kernel
def put_in_queue(walk: Walk, v: int) -> None:
    """Have the insertions of v priced again."""
    if walk.is_queued[v]:
        return
    walk.is_queued[v] = True
    walk.queue[(walk.tally[QUEUE_HEAD] + walk.tally[N_QUEUED]) % len(walk.queue)] = v
    walk.tally[N_QUEUED] += 1


@kernel
def queue_members(t: Families, walk: Walk, first: int, end: int) -> None:
    """Queue the members of some families, unless all variables are in the queue."""
    if walk.tally[N_QUEUED] == len(walk.order):
        return
    for k in range(t.member_start[first], t.member_start[end]):
        put_in_queue(walk, t.members[k])


@kernel
def choose(t: Families, walk: Walk, u: int, family: int) -> None:
    """Give u a family; its predecessors are others than before."""
    walk.tally[TOTAL] += t.cost[family] - t.cost[walk.chosen[u]]
    walk.chosen[u] = family
    walk.tally[CLOCK] += 1
    walk.stamp[u] = walk.tally[CLOCK]


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
def climb(t: Families, walk: Walk, work: int) -> bool:
    """Best insertions, variable by variable, until none improves (True) or the limit on work is reached (False)."""
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
