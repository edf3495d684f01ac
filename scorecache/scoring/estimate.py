"""How large a build will be, before it starts: sets, memory, rough time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import families_of_rows
from scorecache.counting.table_rows import parent_sets
from scorecache.scoring.plan import Group, bitmap_prefix, nesting_pays
from scorecache.system.compiled import is_loaded

Ints = NDArray[np.int64]

BITMAP_NANOSECONDS = 40.0
WORD_NANOSECONDS = 0.5
LABEL_NANOSECONDS = 1.5
TABLE_NANOSECONDS = 6.0
FAMILY_NANOSECONDS = 10.0
CODE_NANOSECONDS = 10.0
LEVEL_NANOSECONDS = 2e6
"""Measured on one thread of a 2-core x86-64 machine: a bitmap set, a word of it, a row by labels, a row of a family
table, a family, the preparation of a value of the data, starting a level. `docs/scale.md` holds them against builds."""

NESTED_BYTES = 44
"""Nested tables, per distinct row and level."""

TERM_BYTES = 48
"""Tables of one-count terms, as floats and then as integers, per row."""

KEPT_SHARE = 0.2
"""The share of families assumed to survive pruning; the true share runs from 0.001 to 1."""


PLAIN_SECONDS, PLAIN_SECONDS_LOADED = 0.1, 0.002
"""Builds that take less than this in numpy do without kernels: before one is loaded, and afterwards."""

PLAIN_SET_NANOSECONDS, PLAIN_ROW_NANOSECONDS = 4e4, 25.0
"""A set counted in numpy: what it costs by itself, and per distinct row."""


def plain_seconds(n_sets: int, n_distinct: int) -> float:
    """Seconds of a build in numpy."""
    return n_sets * (PLAIN_SET_NANOSECONDS + PLAIN_ROW_NANOSECONDS * n_distinct) * 1e-9


def is_plain(seconds: float) -> bool:
    """Should a build that takes this long in numpy run there?"""
    here = is_loaded(families_of_rows) or is_loaded(parent_sets)
    return seconds < (PLAIN_SECONDS_LOADED if here else PLAIN_SECONDS)


@dataclass(frozen=True)
class BuildEstimate:
    """The joint sets to count, the families to score, peak memory beyond the data, seconds on one thread."""

    n_joint_sets: int
    n_families: int
    memory_bytes: int
    seconds: float


def estimate_groups(
    groups: Sequence[Group], arities: Ints, n_rows: int, n_distinct: int, *, prune: bool
) -> BuildEstimate:
    """Add up the groups; memory is the largest group's, for one group is built at a time."""
    n_sets = n_families = 0
    seconds, working, kept = 0.0, 0.0, float(TERM_BYTES * n_rows)
    for group in groups:
        families = group.n_families
        n_families += families
        kept += families * (KEPT_SHARE if prune else 1.0) * (24 + 12 * (group.max_free + len(group.base)))
        if group.together:
            n_sets += group.n_joint_sets
            own_seconds, own_bytes = _together(group, arities, n_distinct)
        else:
            n_sets += families
            own_seconds = families * (FAMILY_NANOSECONDS + n_distinct * TABLE_NANOSECONDS) * 1e-9
            own_bytes = 16.0 * comb(len(group.universe), min(group.max_free, len(group.universe) // 2))
        seconds += own_seconds
        working = max(working, own_bytes)
    return BuildEstimate(n_sets, n_families, int(working + kept), seconds)


def _together(group: Group, arities: Ints, n_distinct: int) -> tuple[float, float]:
    """Seconds and peak bytes of a group that is counted jointly."""
    own = np.sort(arities[list(group.universe)])
    n, listed = len(own), own.tolist()
    nanoseconds, peak, blocks = CODE_NANOSECONDS * n * n_distinct, 0.0, 0.0
    n_base = min(n_distinct, prod(arities[list(group.base)].tolist()))
    for level in range(1, group.max_free + 2):
        sets = comb(n, level)
        prefix = bitmap_prefix(own, level, n_distinct, n_base)
        by_bitmap = comb(prefix, level)
        average = float((sum(listed[:prefix]) / prefix - 1) ** level) if prefix else 0.0
        nanoseconds += by_bitmap * (BITMAP_NANOSECONDS * average + average * n_distinct / 64 * WORD_NANOSECONDS)
        nanoseconds += LEVEL_NANOSECONDS
        nanoseconds += (sets - by_bitmap) * n_distinct * LABEL_NANOSECONDS + sets * level * FAMILY_NANOSECONDS
        is_top = level == group.max_free + 1
        here = 0.0 if is_top else 9.0 * sets + 16.0 * n * comb(n, level - 1)
        below = 9.0 * comb(n, level - 1) + 16.0 * n * comb(n, max(level - 2, 0))
        blocks += 0.0 if is_top else 4.0 * by_bitmap * average * n_base
        nested = float(NESTED_BYTES * n_distinct * (level + 1)) if nesting_pays(level, n_distinct) else 0.0
        peak = max(peak, here + below + blocks + nested)
    return nanoseconds * 1e-9, peak
