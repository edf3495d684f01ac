"""Which children are scored together, and which kernel counts which sets.

Children with the same required parents form a group whose joint sets are counted once for all of them. A child with
required parents of its own, or with few candidates, is cheaper alone. Every figure here is an estimate: a wrong one
costs time, never a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import CellScore, Score
from scorecache.scoring.pruning import most_parents
from scorecache.scoring.survivors import Pruning

Ints = NDArray[np.int64]

MOST_CONFIGURATIONS = 200
"""AND-and-count passes over all rows per indicator, beyond which labels are cheaper (0.25 ns a word, 0.8 ns a row)."""

CELLS_PER_ROW, FEWEST_CELLS = 1.0, 64
"""Tables with more cells than this many per distinct row are sparse: labels see only what occurs."""

ALONE_COSTS = 2
"""Scoring a set for one child alone costs about this many times a joint set."""

SMALL_ARITY = 4
BITMAP_ROW_NANOSECONDS = 0.01
LABEL_ROW_NANOSECONDS = 1.5
MERGE_ROW_NANOSECONDS = 250.0
"""What a row costs: in a joint set of variables with at most four states, in another one, and to be merged."""

SETS_PER_CHUNK = 1 << 15
"""Work between two looks at the clock, in joint sets counted by bitmaps."""

MOST_BASES = 64
"""More base configurations than this leave the bitmap segments mostly padding."""


@dataclass(frozen=True)
class Group:
    """Children scored together: the parents they all require, and the variables their sets are drawn from."""

    base: tuple[int, ...]
    children: tuple[int, ...]
    free_limits: tuple[int, ...]
    """Per child, the largest number of parents beside the required ones."""
    of_size: tuple[int, ...]
    """By the number of free parents: the families that the domain allows the children, within these limits."""
    universe: tuple[int, ...]
    together: bool
    """Count joint sets once for all children? Otherwise each child is scored by itself."""
    table: int = 0
    """Which rows count, where some variables were set in some rows."""

    @property
    def max_free(self) -> int:
        return max(self.free_limits)

    @property
    def n_families(self) -> int:
        return sum(self.of_size)

    @property
    def n_joint_sets(self) -> int:
        return n_subsets(len(self.universe), self.max_free + 1)

    def up_to(self, most_parents: int) -> Group:
        """The same with at most this many parents."""
        most = most_parents - len(self.base)
        limits = tuple(min(limit, most) for limit in self.free_limits)
        return replace(self, free_limits=limits, of_size=self.of_size[: most + 1])


def make_groups(
    domain: Domain, score: Score, free_limits: Sequence[int], table_of: Sequence[int] | None = None
) -> list[Group]:
    """Group the children by required parents and rows that count, and decide for each whether to count jointly.

    `table_of[child]` numbers the rows that count for a child; None: all rows do for every child.
    """
    table_of = [0] * domain.n_vars if table_of is None else table_of
    by_base: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for child in range(domain.n_vars):
        by_base.setdefault((tuple(sorted(domain.required[child])), table_of[child]), []).append(child)
    groups = []
    for (base, table), children in by_base.items():
        candidates = set(children).union(*(domain.allowed[child] for child in children))
        limits = tuple(free_limits[child] for child in children)
        of_size = tuple(
            sum(comb(len(domain.allowed[child]), size) for child in children if size <= free_limits[child])
            for size in range(max(limits) + 1)
        )
        group = Group(base, tuple(children), limits, of_size, tuple(sorted(candidates - set(base))), True, table)
        together = (
            isinstance(score, CellScore)
            and (not score.needs_class or base == (domain.class_index,))
            and group.n_joint_sets <= ALONE_COSTS * group.n_families
        )
        groups.append(replace(group, together=together))
    return groups


def groups_by_potentials(groups: Sequence[Group], domain: Domain) -> list[Group]:
    """The same groups for scores by potentials, whose sets are all joint: a child by itself where that counts fewer."""
    found: list[Group] = []
    for group in groups:
        alone = [_of_one(group, child, limit, domain) for child, limit in _children(group)]
        n_alone = sum(own.n_joint_sets for own in alone)
        is_sparse = len(alone) > 1 and ALONE_COSTS * n_alone <= group.n_joint_sets
        found += alone if is_sparse else [replace(group, together=True)]
    return found


def _children(group: Group) -> Iterator[tuple[int, int]]:
    return zip(group.children, group.free_limits, strict=True)


def _of_one(group: Group, child: int, limit: int, domain: Domain) -> Group:
    """The group of one child, over the child and its candidates."""
    candidates = domain.allowed[child]
    of_size = tuple(comb(len(candidates), size) for size in range(limit + 1))
    universe = tuple(sorted({child, *candidates}.difference(group.base)))
    return Group(group.base, (child,), (limit,), of_size, universe, True, group.table)


def merging_pays(groups: Sequence[Group], arities: Ints) -> bool:
    """Will counting distinct rows save more than finding them costs?"""
    per_row = 0.0
    for group in groups:
        small = group.together and arities[list(group.universe)].max(initial=0) <= SMALL_ARITY
        per_row += group.n_joint_sets * (BITMAP_ROW_NANOSECONDS if small else LABEL_ROW_NANOSECONDS)
    return per_row > MERGE_ROW_NANOSECONDS


def limits_beside_required(tables: Sequence[Dataset], domain: Domain, score: Score, pruning: Pruning) -> list[int]:
    """Per child, how many parents beside the required ones need looking at; `tables[child]` are the rows that count."""
    limits, arities = [], tables[0].arities.tolist()
    is_counted = tables[0].weights is None or tables[0].weights.dtype == np.int64
    for child, dataset in enumerate(tables):
        limit = domain.limits[child] - len(domain.required[child])
        if pruning.on and isinstance(score, CellScore) and score.has_penalty and is_counted:
            counts = np.bincount(dataset.codes[child], weights=dataset.weights, minlength=arities[child])
            required = tuple(arities[v] for v in domain.required[child])
            candidates = tuple(arities[v] for v in domain.allowed[child])
            limit = most_parents(score, counts.astype(np.int64), required, candidates, limit, pruning.gap)
        limits.append(limit)
    return limits


@cache
def n_subsets(n: int, most: int) -> int:
    """The number of subsets of n elements with at most `most` of them."""
    return sum(comb(n, size) for size in range(most + 1))


def bitmap_prefix(arities: NDArray[np.int64], size: int, n_distinct: int, n_base: int) -> int:
    """The number of variables (arities ascending) such that all their joint sets of that size are counted by bitmaps.

    The number falls as the size grows, so that a set counted by bitmaps has all its subsets counted by bitmaps too.
    """
    if n_base > MOST_BASES:
        return 0
    most_cells = max(FEWEST_CELLS, CELLS_PER_ROW * n_distinct)
    listed = arities.tolist()
    prefix = len(listed)
    while prefix > 0:
        largest = listed[max(0, prefix - size) : prefix]
        if prod(max(r - 1, 1) for r in largest) <= MOST_CONFIGURATIONS and prod(largest) * n_base <= most_cells:
            return prefix
        prefix -= 1
    return 0
