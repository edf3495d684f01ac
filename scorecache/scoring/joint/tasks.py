"""One level of a joint build as pieces of work: which kernel counts which rows.

The pieces do not depend on the number of threads.
"""

from __future__ import annotations

from math import comb

import numpy as np

from scorecache.counting.subsets import row_chunks, unrank
from scorecache.scoring.joint import top_triples
from scorecache.scoring.joint.binary_tiles import binary_values, single_values
from scorecache.scoring.joint.bitmap_rows import bitmap_values
from scorecache.scoring.joint.families import families_of_rows
from scorecache.scoring.joint.label_rows import label_values
from scorecache.scoring.joint.nested_rows import nested_values
from scorecache.scoring.joint.prepare import JointBuild
from scorecache.scoring.joint.types import Lattice, State, Values
from scorecache.scoring.survivors import NO_SURVIVORS, Survivors, Task

SETS_PER_CHUNK = 1 << 15
LABEL_ROWS, NESTED_ROWS = 100, 400
"""Work between two looks at the clock, in joint sets counted by bitmaps; by labels or nested tables a set takes about
as long as so many rows go into the data."""


def level_tasks(
    build: JointBuild, level: int, below: State, here: State, is_top: bool, *, parents_only: bool
) -> list[Task]:
    """The rows of a level, cut into chunks that do not depend on the number of threads."""
    n, prefix = len(build.order), build.split[level - 1]
    n_bitmap_rows, n_rows = comb(prefix, level - 1), comb(n, level - 1)
    states = (build, level, below, here, is_top)
    tasks: list[Task] = []
    if prefix > 0 and not parents_only and build.ones is not None:
        lead = min(level, 2)
        n_tiles = comb(prefix, level - lead)
        for first, last in row_chunks(build.binom, level, prefix, 0, n_tiles, SETS_PER_CHUNK, lead=lead):
            tasks.append((_binary_chunk, (first, last, *states)))
    elif prefix > 0 and not parents_only:
        for first, last in row_chunks(build.binom, level, prefix, 0, n_bitmap_rows, SETS_PER_CHUNK):
            tasks.append((_bitmap_chunk, (first, last, *states)))
    if prefix < n and level == 1:
        tasks.append((_label_chunk, (0, 1, prefix, parents_only, *states)))
    elif prefix < n:
        rows_per_bitmap = LABEL_ROWS if build.nested is None else NESTED_ROWS
        per_chunk = max(64, SETS_PER_CHUNK * rows_per_bitmap // (rows_per_bitmap + len(build.labelled.weights)))
        for first, last in row_chunks(build.binom, level, n, n_bitmap_rows, n_rows, per_chunk):
            tasks.append((_label_chunk, (first, last, 0, parents_only, *states)))
    return tasks


def _bitmap_chunk(
    first: int, last: int, build: JointBuild, level: int, below: State, here: State, is_top: bool
) -> Survivors:
    assert build.blocks is not None
    lattice = _lattice(build, level, build.split[level - 1])
    n_bounds = 0 if is_top else len(build.terms.bound_start)
    values = bitmap_values(first, last, lattice, build.bits, build.blocks, build.terms, here, is_top, n_bounds)
    return _families(first, last, 0, lattice, values, build, below, here, is_top)


def _binary_chunk(
    first: int, last: int, build: JointBuild, level: int, below: State, here: State, is_top: bool
) -> Survivors:
    assert build.ones is not None
    lattice = _lattice(build, level, build.split[level - 1])
    if level == 1:
        values = single_values(lattice, build.bits, build.ones, build.terms, here, is_top)
        row_from, row_to = 0, 1
    else:
        n_bounds = 0 if is_top else len(build.terms.bound_start)
        values = binary_values(first, last, lattice, build.bits, build.ones, build.terms, here, is_top, n_bounds)
        row_from, row_to = _rows_of_tiles(lattice, first), _rows_of_tiles(lattice, last)
    return _families(row_from, row_to, 0, lattice, values, build, below, here, is_top)


def _rows_of_tiles(lattice: Lattice, tile: int) -> int:
    """The number of rows in all tiles before this one."""
    n_suffix = lattice.size - 2
    if tile == comb(lattice.n_vars, n_suffix):
        return comb(lattice.n_vars, lattice.size - 1)
    suffix = np.zeros(n_suffix, dtype=np.int64)
    unrank(tile, n_suffix, lattice.n_vars, lattice.binom, suffix)
    return sum(int(lattice.binom[v, i + 2]) for i, v in enumerate(suffix))


def _label_chunk(
    first: int,
    last: int,
    x_from: int,
    parents_only: bool,
    build: JointBuild,
    level: int,
    below: State,
    here: State,
    is_top: bool,
) -> Survivors:
    lattice = _lattice(build, level, len(build.order))
    rest = (build.terms, build.rules, below, here, is_top)
    if build.nested is None:
        values = label_values(first, last, x_from, parents_only, lattice, build.labelled, *rest)
    else:
        values = nested_values(first, last, x_from, parents_only, lattice, build.nested, *rest)
    if parents_only:
        return NO_SURVIVORS
    return _families(first, last, x_from, lattice, values, build, below, here, is_top)


def _families(
    row_from: int,
    row_to: int,
    x_from: int,
    lattice: Lattice,
    values: Values,
    build: JointBuild,
    below: State,
    here: State,
    is_top: bool,
) -> Survivors:
    unit, rules = build.terms.unit, build.rules
    if is_top and top_triples.applies(lattice.size, rules):
        return top_triples.families_of_triples(row_from, row_to, lattice, values, unit, rules.gap, below)
    return families_of_rows(row_from, row_to, x_from, lattice, values, unit, rules, below, here, is_top)


def _lattice(build: JointBuild, level: int, n_vars: int) -> Lattice:
    return Lattice(level, n_vars, build.binom, build.shapes.step, build.shapes.kinds, build.arities, build.order)
