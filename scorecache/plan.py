"""Which children are scored together, and which kernel counts which sets.

Children with the same required parents form a group whose joint sets are counted once for all of them. A child with
required parents of its own, or with few candidates, is cheaper alone. Every figure here is an estimate: a wrong one
costs time, never a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from scorecache.domain import Domain
from scorecache.scores import CellScore, Score

MOST_CONFIGURATIONS = 200
"""AND-and-count passes over all rows per indicator, beyond which labels are cheaper (0.25 ns a word, 0.8 ns a row)."""

CELLS_PER_ROW = 0.25
FEWEST_CELLS = 64
"""Tables with more cells than this many per distinct row are sparse: labels see only what occurs."""

MOST_BASES = 64
"""More base configurations than this leave the bitmap segments mostly padding."""


@dataclass(frozen=True)
class Group:
    """Children scored together: the parents they all require, and the variables their sets are drawn from."""

    base: tuple[int, ...]
    children: tuple[int, ...]
    universe: tuple[int, ...]
    max_free: int
    """The largest number of parents beside the required ones."""
    together: bool
    """Count joint sets once for all children? Otherwise each child is scored by itself."""

    def n_joint_sets(self) -> int:
        n = len(self.universe)
        return sum(comb(n, size) for size in range(self.max_free + 2))


def make_groups(domain: Domain, score: Score) -> list[Group]:
    """Group the children by required parents, and decide for each group whether to count jointly."""
    by_base: dict[tuple[int, ...], list[int]] = {}
    for child in range(domain.n_vars):
        by_base.setdefault(tuple(sorted(domain.required[child])), []).append(child)
    groups = []
    for base, children in by_base.items():
        candidates = set(children).union(*(domain.allowed[child] for child in children))
        universe = tuple(sorted(candidates - set(base)))
        max_free = max(free_limit(domain, child) for child in children)
        group = Group(base, tuple(children), universe, max_free, together=True)
        alone = sum(n_own_sets(domain, child) for child in children)
        together = (
            isinstance(score, CellScore)
            and (not score.needs_class or base == (domain.class_index,))
            and group.n_joint_sets() <= 2 * alone
        )
        groups.append(Group(base, tuple(children), universe, max_free, together))
    return groups


def free_limit(domain: Domain, child: int) -> int:
    """How many parents a child may have beside the required ones."""
    return domain.limits[child] - len(domain.required[child])


def n_own_sets(domain: Domain, child: int) -> int:
    """The number of parent sets the domain allows a child."""
    n = len(domain.allowed[child])
    return sum(comb(n, size) for size in range(free_limit(domain, child) + 1))


def bitmap_prefix(arities: NDArray[np.int64], size: int, n_distinct: int, n_base: int) -> int:
    """So many of the variables (arities ascending) that all their joint sets of that size are counted by bitmaps.

    The number falls as the size grows, so that a set counted by bitmaps has all its subsets counted by bitmaps too.
    """
    if n_base > MOST_BASES:
        return 0
    most_cells = max(FEWEST_CELLS, CELLS_PER_ROW * n_distinct)
    prefix = len(arities)
    while prefix > 0:
        largest = arities[max(0, prefix - size) : prefix].astype(np.float64)
        if np.prod(largest - 1) <= MOST_CONFIGURATIONS and np.prod(largest) * n_base <= most_cells:
            return prefix
        prefix -= 1
    return 0
