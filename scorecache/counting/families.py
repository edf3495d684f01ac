"""The families of counted joint sets: scores by difference, dominance, bounds.

A row is all joint sets S = P + {x}, x below P. Its families have the child x with parents P, or a child p in P with
parents P - p + x. The families with one parent less belong to the joint sets P and P - p_i + x of the level below,
which lie in runs over x, so each step is a loop over x. Variables of S are numbered by size: x is 0, p_i is i + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.subsets import advance, rank_without, ranks_below, unrank
from scorecache.counting.types import Floats, Ints, Lattice, Rules, Slab, Values
from scorecache.system.compiled import kernel

DEAD = np.inf
"""The best score of a family that is out of the domain or closed by a bound: nothing above it is looked at."""

ROOM = 1 << 15
"""Survivors that the kernel returns at a time at the most, beside those of one row."""

BOUND_TOL = 1e-9
"""Relative safety of a bound: floating violations of up to 5e-13 were seen in tests of the proofs."""


Survivors = tuple[NDArray[np.int32], Floats, NDArray[np.int32]]
"""Children, scores, and a table of their parents, one to a column."""


class Room(NamedTuple):
    """What the kernel works with: P, the ranks below P + {x}, and per x score, best score below, shape of the parents.

    `kept` has each x that survives, `names` the parents that do not depend on x. The last three take the survivors;
    the parents are one to a column.
    """

    row: Ints
    at_below: Ints
    score: Floats
    best: Floats
    shape: Ints
    kept: Ints
    names: Ints
    out_child: NDArray[np.int32]
    out_score: Floats
    out_parents: NDArray[np.int32]


def families_of_rows(
    row_from: int,
    row_to: int,
    lattice: Lattice,
    values: Values,
    unit: float,
    rules: Rules,
    below: Slab,
) -> tuple[list[Survivors], Floats, Floats]:
    """Score the families of these rows; the survivors in parts, and `best` and `entropy` of the slab.

    The rows are `row_from` to `row_to` of the level described by `lattice`. `values` is what counting them gave, in
    units of `unit`, `below` what the level below left, and `rules` says what is pruned.
    """
    m, n_vars = lattice.size, lattice.n_vars
    n_values = 0 if lattice.is_top else len(values.joint)
    best = np.full((m, n_values), DEAD)
    entropy = np.full((m if rules.pair_price > 0.0 else 0, n_values), np.inf)
    work = (
        unrank(row_from, m - 1, lattice.binom), np.empty(m, np.int64), np.empty(n_vars), np.empty(n_vars),
        np.zeros(n_vars, np.int64), np.empty(n_vars, np.int64), np.empty(m, np.int64),
    )  # fmt: skip
    bounded = rules.prune and bool(len(values.bound) > 0 or rules.bound_top.min() < np.inf)
    found: list[Survivors] = []
    while row_from < row_to or not found:
        n_room = min(ROOM, (row_to - row_from) * m * n_vars) + m * n_vars
        room = Room(*work, np.empty(n_room, np.int32), np.empty(n_room), np.empty((n_room, m - 1), np.int32))
        row_from, n_out = score_families(
            row_from, row_to, lattice, values, unit, rules, below, bounded, best, entropy, room
        )  # fmt: skip
        part = (room.out_child[:n_out], room.out_score[:n_out], room.out_parents[:n_out])
        if 2 * n_out < n_room:  # few do not hold on to the room
            part = (part[0].copy(), part[1].copy(), part[2].copy())
        found.append(part)
    return found, best, entropy


@kernel
def score_families(
    row_from: int,
    row_to: int,
    lattice: Lattice,
    values: Values,
    unit: float,
    rules: Rules,
    below: Slab,
    bounded: bool,
    new_best: Floats,
    new_entropy: Floats,
    room: Room,
) -> tuple[int, int]:
    """Score these rows until the room for survivors is used up; the row to continue with, and their number.

    `bounded`: may a bound on the scores of supersets close a family?
    """
    m, n_vars, x_from, is_top = lattice.size, lattice.n_vars, lattice.x_from, lattice.is_top
    n_row = m - 1
    binom, step, kinds, order = lattice.binom, lattice.step, lattice.kinds, lattice.order
    limits, is_allowed = rules.limits, rules.is_allowed
    parent_value, floors = below.parent_value, below.best
    prune, gap = rules.prune, rules.gap
    pairs_on = rules.pair_price > 0.0
    two_part = parent_value.shape[0] > 1
    row, at_below, score, best, shape_w = room.row, room.at_below, room.score, room.best, room.shape
    out_child, out_score, out_parents = room.out_child, room.out_score, room.out_parents
    kept, names = room.kept, room.names
    n_out = 0
    for rank in range(row_from, row_to):
        if rank > row_from:
            advance(row, n_row)
        x_to = row[0] if n_row > 0 else n_vars
        if x_to <= x_from:
            continue
        run = (x_from, x_to)
        if n_out + m * x_to > len(out_child):
            return rank, n_out
        # where P + {x} stands in this level, and the sets with one variable less in the level below, both for x = 0
        first = ranks_below(row, n_row, binom, at_below) - values.first
        # the child is x with the parents W = P (role -1), or p = row[role] with W = P - p + x
        for role in range(-1, n_row):
            # score(child, W): the sum over the cells of W + child and the parents' part of W
            if role < 0:
                for x in range(x_from, x_to):
                    part = kinds[x] if two_part else 0
                    score[x] = (values.joint[first + x] + parent_value[part, at_below[n_row]]) * unit
            else:
                part = kinds[row[role]] if two_part else 0
                _add_parts(values.joint, first, parent_value, part, at_below[role], unit, run, score)
            # best[x]: the best score among the families of the child with one parent less, without x first
            floor = -np.inf if role < 0 else floors[role, at_below[n_row]]
            _best_below(floors, role, n_row, at_below, floor, run, best)
            # the penalty; families outside the domain, and those that a bound closes
            if rules.has_charge or rules.restricted or pairs_on or (bounded and not is_top):
                shape = 0
                for i in range(n_row):
                    if i != role:
                        shape = step[shape, kinds[row[i]]]
                for x in range(x_from, x_to):
                    child = x if role < 0 else row[role]
                    shape_w[x] = shape if role < 0 else step[shape, kinds[x]]
                    score[x] -= rules.penalty[kinds[child], shape_w[x]] + rules.constant[child]
                    is_open = True
                    if rules.restricted:
                        is_open = n_row <= limits[child] and (role < 0 or is_allowed[x, child])
                        for i in range(n_row):
                            is_open = is_open and (i == role or is_allowed[row[i], child])
                    if is_open and pairs_on and best[x] < DEAD:
                        is_open = not pair_closed(lattice, row, x, role, rules, below, at_below)
                    if not is_open:
                        best[x] = DEAD
            # survivors; most rows have none. Their x come first: whether one survives is no branch to foresee
            if not prune or _any_kept(score, gap, best, run):
                n_kept = 0
                for x in range(x_from, x_to):
                    kept[n_kept] = x
                    n_kept += score[x] + gap > best[x] or (not prune and best[x] < DEAD)
                # the parents as they stand in the joint set: x is the first of them unless it is the child
                n_names = 1 if role >= 0 else 0
                for i in range(n_row):
                    if i != role:
                        names[n_names] = order[row[i]]
                        n_names += 1
                for k in range(n_kept):
                    x = kept[k]
                    out_child[n_out] = order[x if role < 0 else row[role]]
                    out_score[n_out] = score[x]
                    for i in range(n_row):
                        out_parents[n_out, i] = names[i]
                    if role >= 0:
                        out_parents[n_out, 0] = order[x]
                    n_out += 1
            if is_top:
                continue
            # what the next level reads: the best score up to W unless a bound closes it, and N H(child | W)
            line, at = np.uint64(role + 1), np.uint64(first)
            for x in range(np.uint64(x_from), np.uint64(x_to)):
                new_best[line, at + x] = max(best[x], score[x])
            if not (bounded or pairs_on):
                continue
            for x in range(x_from, x_to):
                child = x if role < 0 else row[role]
                if pairs_on and values.counted[first + x]:
                    new_entropy[role + 1, first + x] = -(score[x] + rules.penalty[kinds[child], shape_w[x]])
                if bounded:
                    bound = rules.bound_top[child] - rules.bound_penalty[kinds[child], shape_w[x]]
                    if values.bound.shape[0] > 0:
                        bound = min(bound, values.bound[kinds[child], first + x] * unit)
                    if new_best[role + 1, first + x] >= bound + gap + BOUND_TOL * max(1.0, abs(bound)):
                        new_best[role + 1, first + x] = DEAD
    return row_to, n_out


@kernel
def _any_kept(score: Floats, gap: float, best: Floats, run: tuple[int, int]) -> bool:
    """Does some score[x] exceed best[x] by more than -gap? Unsigned indices as below."""
    x_from, x_to = run
    n_kept = 0
    for x in range(np.uint64(x_from), np.uint64(x_to)):
        n_kept += score[x] + gap > best[x]
    return n_kept > 0


@kernel(inline="always")
def _best_below(
    floors: Floats, role: int, n_row: int, at_below: Ints, floor: float, run: tuple[int, int], best: Floats
) -> None:
    """best[x] = the largest of `floor` and floors[., at_below[i] + x] over i != role, for x in the run.

    Runs are short: two lines a step, and inlined, since a call takes longer than a step. Unsigned indices spare numba's
    test for negative ones.
    """
    x_from, x_to = np.uint64(run[0]), np.uint64(run[1])
    n_lines = n_row - 1 if role >= 0 else n_row
    if n_lines == 0:
        for x in range(x_from, x_to):
            best[x] = floor
    for j in range(0, n_lines, 2):
        one = j + 1 if 0 <= role <= j else j
        two = min(j + 1, n_lines - 1)
        two = two + 1 if 0 <= role <= two else two
        line_one, at_one = np.uint64(role + 1 if role < one else role), np.uint64(at_below[one])
        line_two, at_two = np.uint64(role + 1 if role < two else role), np.uint64(at_below[two])
        if j == 0:
            for x in range(x_from, x_to):
                best[x] = max(floor, max(floors[line_one, at_one + x], floors[line_two, at_two + x]))
        else:
            for x in range(x_from, x_to):
                best[x] = max(best[x], max(floors[line_one, at_one + x], floors[line_two, at_two + x]))


@kernel
def _add_parts(
    joint: Ints, first: int, parts: Ints, line: int, start: int, unit: float, run: tuple[int, int], score: Floats
) -> None:
    """score[x] = (joint[first + x] + parts[line, start + x]) * unit for x in the run; unsigned indices as above."""
    x_from, x_to = run
    at_joint, i, at = np.uint64(first), np.uint64(line), np.uint64(start)
    for x in range(np.uint64(x_from), np.uint64(x_to)):
        score[x] = (joint[at_joint + x] + parts[i, at + x]) * unit


@kernel
def pair_closed(lattice: Lattice, row: Ints, x: int, role: int, rules: Rules, below: Slab, at_below: Ints) -> bool:
    """Does the pair rule (`scorecache.scoring.pruning`) close this family and all above it?

    The child is variable `role` + 1 of the joint set, each of its parents in turn is the one to be added last.
    """
    n_row, child = lattice.size - 1, role + 1
    for added in range(lattice.size):
        if added == child:
            continue
        shape = 0  # of the other parents
        for i in range(-1, n_row):
            if i + 1 != added and i != role:
                shape = lattice.step[shape, lattice.kinds[x if i < 0 else row[i]]]
        arity_added = lattice.arities[x if added == 0 else row[added - 1]]
        arity_child = lattice.arities[x if role < 0 else row[role]]
        price = rules.pair_price * rules.q[shape] * ((arity_added - 1) * (arity_child - 1))
        without_added = at_below[n_row] if added == 0 else at_below[added - 1] + x
        without_child = at_below[n_row] if role < 0 else at_below[role] + x
        gain = min(
            below.entropy[child if child < added else child - 1, without_added],
            below.entropy[added if added < child else added - 1, without_child],
        )
        if price >= gain + rules.gap + BOUND_TOL * max(1.0, gain):
            return True
    return False


@kernel
def family_needed(lattice: Lattice, row: Ints, x: int, rules: Rules, below: Slab, at_below: Ints) -> bool:
    """Is any family of the joint set row + {x} still open?"""
    n_row = lattice.size - 1
    if n_row == 0:
        return True
    for role in range(-1, n_row):
        child = x if role < 0 else row[role]
        alive = n_row <= rules.limits[child]
        if role >= 0:
            alive = alive and rules.is_allowed[x, child] and below.best[role, at_below[n_row]] < DEAD
        for i in range(n_row):
            if not alive:
                break
            if i != role:
                place = role + 1 if role < i else role
                alive = rules.is_allowed[row[i], child] and below.best[place, at_below[i] + x] < DEAD
        if alive and not (rules.pair_price > 0.0 and pair_closed(lattice, row, x, role, rules, below, at_below)):
            return True
    return False


@kernel
def parents_needed(lattice: Lattice, row: Ints, x: int, level: Slab, members: Ints) -> bool:
    """May the joint set row + {x} still be the parents of some child? `members` is room for one variable more."""
    m = lattice.size
    for child in range(lattice.n_vars):
        # row + {x, child}, ascending; the child gets the position `place`
        place, n = -1, 0
        is_member = child == x
        for i in range(-1, m - 1):
            v = x if i < 0 else row[i]
            is_member = is_member or v == child
            if place < 0 and child < v:
                place = n
                members[n] = child
                n += 1
            members[n] = v
            n += 1
        if is_member:
            continue
        if place < 0:
            place = n
            members[n] = child
        alive = True
        for i in range(m + 1):
            if i != place and alive:
                rank = rank_without(members, m + 1, i, -1, 0, lattice.binom)
                alive = level.best[place if place < i else place - 1, rank] < DEAD
        if alive:
            return True
    return False
