"""How large a build will be, before it starts: sets, memory, rough time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import score_families
from scorecache.counting.table_rows import score_parent_sets
from scorecache.data.rows import Rows
from scorecache.scoring.kept import bytes_to_sort
from scorecache.scoring.plan import SETS_PER_CHUNK, Group, bitmap_prefix
from scorecache.system.compiled import is_loaded

Ints = NDArray[np.int64]

BITMAP_NANOSECONDS = 40.0
WORD_NANOSECONDS = 0.5
LABEL_NANOSECONDS = 1.5
TABLE_NANOSECONDS = 6.0
FAMILY_NANOSECONDS = 10.0
KEPT_NANOSECONDS = 100.0
CODE_NANOSECONDS = 10.0
LEVEL_NANOSECONDS = 2e6
"""Measured on one thread of a 2-core x86-64 machine: a bitmap set, a word of it, a row by labels, a row of a family
table, a family, one that is kept, the preparation of a value of the data, starting a level. `docs/scale.md` holds them
against builds."""

TERM_BYTES = 48
"""Tables of one-count terms, as floats and then as integers, per row."""

SAMPLED_PAIRS, SAMPLED_ROWS = 64, 4096
"""Pairs of variables, and rows, that the share of families that survive pruning is estimated from."""

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
    """The joint sets to count, the families to score, peak memory beyond the data, seconds on one thread."""

    n_joint_sets: int
    n_families: int
    memory_bytes: int
    seconds: float


def paying_share(rows: Rows, arities: Ints) -> float:
    """The share of single parents that BIC would take, N I(X; Y) > log(N) (r_X - 1)(r_Y - 1) / 2, from a sample."""
    n_vars, n = len(arities), int(rows.weights.sum())
    if n_vars < 2 or n == 0:
        return 1.0
    few = slice(None, None, -(-rows.n_distinct // SAMPLED_ROWS))
    weights = rows.weights[few]
    random, n_paying = np.random.default_rng(0), 0
    for _ in range(SAMPLED_PAIRS):
        x, y = random.choice(n_vars, 2, replace=False)
        cells = rows.codes[x, few].astype(np.int64) * arities[y] + rows.codes[y, few]
        table = np.bincount(cells, weights, arities[x] * arities[y]).reshape(arities[x], arities[y]) / weights.sum()
        expected = np.outer(table.sum(axis=1), table.sum(axis=0))
        occurs = table > 0
        information = float((table[occurs] * np.log(table[occurs] / expected[occurs])).sum())
        n_paying += n * information > np.log(n) * (arities[x] - 1) * (arities[y] - 1) / 2
    return n_paying / SAMPLED_PAIRS


def estimate_groups(
    groups: Sequence[Group], arities: Ints, n_rows: int, n_distinct: int, *, arc_share: float
) -> BuildEstimate:
    """Add up the groups; memory is the largest group's, for one group is built at a time.

    A family of k parents is taken to survive pruning with the probability arc_share^k, as if its arcs paid
    independently of each other; an `arc_share` of 1 says that nothing is pruned.
    """
    n_sets = n_families = 0
    seconds, working, kept = 0.0, 0.0, float(TERM_BYTES * n_rows)
    for group in groups:
        families = group.n_families
        n_families += families
        base = len(group.base)
        of_size = [comb(len(group.universe), size) for size in range(group.max_free + 1)]
        survivors = [families * own / sum(of_size) * arc_share**size for size, own in enumerate(of_size)]
        kept += sum(own * bytes_to_sort(size + base) for size, own in enumerate(survivors))
        seconds += sum(survivors) * KEPT_NANOSECONDS * 1e-9
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
        # the parents' part and a mark of every set, and the best score of every family
        here = 0.0 if is_top else (9.0 + 8.0 * level) * sets
        below = (9.0 + 8.0 * (level - 1)) * comb(n, level - 1)
        piece = (8.0 if is_top else 16.0 + 16.0 * level) * min(sets, SETS_PER_CHUNK)
        blocks += 0.0 if is_top else 4.0 * by_bitmap * average * n_base
        peak = max(peak, here + below + piece + blocks)
    return nanoseconds * 1e-9, peak
