"""How large a build will be, before it starts: sets, memory, rough time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import score_families
from scorecache.counting.table_rows import score_parent_sets
from scorecache.scoring.kept import bytes_to_sort
from scorecache.scoring.plan import SETS_PER_CHUNK, Group, bitmap_prefix
from scorecache.system.compiled import is_loaded

Ints = NDArray[np.int64]

TILE_CELL_NANOSECONDS, TILE_FAMILY_NANOSECONDS, TILE_WORD_NANOSECONDS = 0.7, 6.0, 0.1
BITMAP_NANOSECONDS = 40.0
WORD_NANOSECONDS = 0.5
LABEL_NANOSECONDS = 1.5
TABLE_NANOSECONDS = 6.0
FAMILY_NANOSECONDS = 10.0
KEPT_NANOSECONDS = 300.0
CODE_NANOSECONDS = 10.0
LEVEL_NANOSECONDS = 2e6
"""Measured on one thread of a 2-core x86-64 machine: a cell, a family and a word of a set of binary variables, a bitmap
set, a word of it, a row by labels, a row of a family table, a family, one that is kept, the preparation of a value of
the data, starting a level. `scripts/bench_scale.py model` holds them against builds."""

SMALL_BUILD = 1 << 24
"""Bytes, with all families kept, below which nothing is sampled for an estimate and none is held against the memory."""

TERM_BYTES = 48
"""Tables of one-count terms, as floats and then as integers, per row."""

PLAIN_SECONDS, PLAIN_SECONDS_LOADED = 0.1, 0.002
"""Builds that take less than this in numpy do without kernels: before one is loaded, and afterwards."""

PLAIN_SET_NANOSECONDS, PLAIN_ROW_NANOSECONDS = 4e4, 25.0
"""A set counted in numpy: what it costs by itself, and per distinct row."""


def plain_seconds(n_sets: int, n_distinct: int) -> float:
    """Seconds of a build in numpy."""
    return n_sets * (PLAIN_SET_NANOSECONDS + PLAIN_ROW_NANOSECONDS * n_distinct) * 1e-9


def is_plain(seconds: float) -> bool:
    """Should a build that takes this long in numpy run there?"""
    here = is_loaded(score_families) or is_loaded(score_parent_sets)
    return seconds < (PLAIN_SECONDS_LOADED if here else PLAIN_SECONDS)


@dataclass(frozen=True)
class BuildEstimate:
    """The joint sets to count, the families to score, peak memory beyond the data, seconds on one thread.

    `level_bytes` of the memory are the levels, which can be in temporary files instead.
    """

    n_joint_sets: int
    n_families: int
    memory_bytes: int
    level_bytes: int
    seconds: float


def estimate_groups(
    groups: Sequence[Group], arities: Ints, n_rows: int, n_distinct: int, shares: Sequence[Sequence[float]] | None
) -> BuildEstimate:
    """Add up the groups; the levels are the largest group's, for one group is built at a time.

    `shares` are those of `scorecache.scoring.sampled`; without them every family is taken to be kept.
    """
    n_sets = n_families = 0
    seconds, working, levels, kept = 0.0, 0.0, 0.0, 0.0
    for number, group in enumerate(groups):
        n_families += group.n_families
        share = [1.0] * len(group.of_size) if shares is None else shares[number]
        staying = [own * stays for own, stays in zip(group.of_size, share, strict=True)]
        kept += sum(own * bytes_to_sort(size + len(group.base)) for size, own in enumerate(staying))
        seconds += sum(staying) * KEPT_NANOSECONDS * 1e-9
        if group.together:
            n_sets += group.n_joint_sets
            own_seconds, own_levels, own_working = _together(group, arities, n_distinct)
        else:
            n_sets += group.n_families
            own_seconds = group.n_families * (FAMILY_NANOSECONDS + n_distinct * TABLE_NANOSECONDS) * 1e-9
            own_levels = 16.0 * comb(len(group.universe), min(group.max_free, len(group.universe) // 2))
            own_working = 0.0
        seconds += own_seconds
        levels, working = max(levels, own_levels), max(working, own_working)
    memory = levels + working + kept + float(TERM_BYTES * n_rows)
    return BuildEstimate(n_sets, n_families, int(memory), int(levels), seconds)


def _together(group: Group, arities: Ints, n_distinct: int) -> tuple[float, float, float]:
    """Seconds of a group that is counted jointly, and peak bytes of its levels and of what they are counted with."""
    own = np.sort(arities[list(group.universe)])
    n, listed = len(own), own.tolist()
    nanoseconds, levels, working, blocks = CODE_NANOSECONDS * n * n_distinct, 0.0, 0.0, 0.0
    n_base = min(n_distinct, prod(arities[list(group.base)].tolist()))
    for level in range(1, group.max_free + 2):
        sets = comb(n, level)
        prefix = bitmap_prefix(own, level, n_distinct, n_base)
        by_bitmap = comb(prefix, level)
        average = float((sum(listed[:prefix]) / prefix - 1) ** level) if prefix else 0.0
        words = n_distinct / 64
        if prefix and listed[prefix - 1] == 2:
            nanoseconds += by_bitmap * (TILE_CELL_NANOSECONDS * 2**level + TILE_WORD_NANOSECONDS * words)
            nanoseconds += by_bitmap * level * TILE_FAMILY_NANOSECONDS
        else:
            nanoseconds += by_bitmap * average * (BITMAP_NANOSECONDS + WORD_NANOSECONDS * words)
            nanoseconds += by_bitmap * level * FAMILY_NANOSECONDS
        nanoseconds += (sets - by_bitmap) * (n_distinct * LABEL_NANOSECONDS + level * FAMILY_NANOSECONDS)
        nanoseconds += LEVEL_NANOSECONDS
        is_top = level == group.max_free + 1
        # the parents' part and a mark of every set, and the best score of every family
        here = 0.0 if is_top else (9.0 + 8.0 * level) * sets
        below = (9.0 + 8.0 * (level - 1)) * comb(n, level - 1)
        piece = (8.0 if is_top else 16.0 + 16.0 * level) * min(sets, SETS_PER_CHUNK)
        blocks += 0.0 if is_top else 4.0 * by_bitmap * average * n_base
        levels, working = max(levels, here + below + blocks), max(working, piece)
    return nanoseconds * 1e-9, levels, working
