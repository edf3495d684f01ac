"""Score a group of children level by level, counting every joint set once.

The joint sets of m variables (beside the required ones) give the families with m - 1 free parents. Variables are
renumbered by rising arity, so that the sets of small variables, which the bitmap kernel counts, come first in every
level and the label kernel takes the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, lgamma

import numpy as np
from numba import njit

from scorecache.counting.bitmap import indicator_bitmaps
from scorecache.counting.label import base_labels, dense_size, hash_size
from scorecache.counting.moebius import Bits, Blocks
from scorecache.counting.rows import Rows
from scorecache.counting.subsets import advance, binomials, row_chunks, unrank
from scorecache.domain import Domain
from scorecache.joint.binary_tiles import Ones, binary_values, single_values
from scorecache.joint.bitmap_rows import bitmap_values
from scorecache.joint.families import families_of_rows
from scorecache.joint.label_rows import Labelled, label_values
from scorecache.joint.shapes import Shapes, number_shapes
from scorecache.joint.terms import build_terms
from scorecache.joint.types import Ints, Lattice, Rules, State, Terms
from scorecache.plan import Group, bitmap_prefix
from scorecache.progress import Runner
from scorecache.pruning import ceiling_penalties, likelihood_ceilings
from scorecache.scores import CellScore
from scorecache.survivors import NO_SURVIVORS, Pruning, Survivors, Task

SETS_PER_CHUNK = 1 << 13
"""Bitmap work between two looks at the clock, in joint sets; label work is slower by about the rows over a hundred."""


@dataclass(frozen=True, eq=False)
class JointBuild:
    """Everything that stays fixed while the levels of one group are built."""

    group: Group
    order: Ints
    arities: Ints
    binom: Ints
    shapes: Shapes
    terms: Terms
    rules: Rules
    labelled: Labelled
    bits: Bits
    blocks: Blocks | Ones
    split: tuple[int, ...]
    """Per level: so many of the first variables are counted by bitmaps."""

    @property
    def n_levels(self) -> int:
        return len(self.split)

    def level_sizes(self) -> list[int]:
        return [comb(len(self.order), size) for size in range(1, self.n_levels + 1)]


def prepare(
    rows: Rows, domain: Domain, arities: Ints, group: Group, score: CellScore, pruning: Pruning
) -> JointBuild:
    """Number the variables, build the tables, and decide which kernel counts what."""
    order = np.array(sorted(group.universe, key=lambda v: (arities[v], v)), dtype=np.int64)
    own_arities = arities[order]
    n = int(rows.weights.sum())
    n_levels = group.max_free + 1
    shapes = number_shapes(own_arities, tuple(int(arities[v]) for v in group.base), n_levels)
    roots, n_roots = _roots(rows, group, arities, with_marginal=score.needs_class)
    n_base = int(n_roots[0])
    split = tuple(bitmap_prefix(own_arities, size, rows.n_distinct, n_base) for size in range(1, n_levels + 1))
    with_bounds = pruning.on and bounds_pay(split, len(order))
    q_max = float(shapes.q[0] * np.prod(own_arities[::-1][: group.max_free].astype(np.float64)))
    terms = build_terms(score, shapes, n, with_bounds=with_bounds, q_max=q_max)
    rules = _rules(rows, domain, group, order, shapes, score, pruning, with_bounds)
    labelled = Labelled(
        np.ascontiguousarray(rows.codes[order]), rows.weights, roots, n_roots,
        dense_size(rows.n_distinct), hash_size(rows.n_distinct),
    )  # fmt: skip
    binom = binomials(len(order) + 1, n_levels + 1)
    bits = _bits(rows, order[: split[0]], arities, roots[0].astype(np.int64), n_base)
    if np.all(own_arities[: split[0]] == 2):
        blocks: Blocks | Ones = _ones(split, n_base)
    else:
        blocks = _blocks(split, own_arities, bits.first, n_base, binom)
    return JointBuild(group, order, own_arities, binom, shapes, terms, rules, labelled, bits, blocks, split)


def bounds_pay(split: tuple[int, ...], n_vars: int) -> bool:
    """Superset bounds save counting only where labels are used, and from three variables on."""
    return any(prefix < n_vars for prefix in split[2:])


def run_levels(build: JointBuild, runner: Runner) -> Iterator[Survivors]:
    """Build level after level; yield the survivors in the data's own numbering."""
    below = _state_below(build)
    for level in range(1, build.n_levels + 1):
        runner.next_step()
        is_top = level == build.n_levels
        here = _new_state(build, level, is_top)
        for children, scores, parents in runner.run(_tasks(build, level, below, here, is_top, parents_only=False)):
            yield build.order[children], scores, build.order[parents[:, : level - 1]]
        if is_top or not np.any(here.best_by_set < np.inf):
            return
        if build.split[level - 1] < len(build.order):
            deque(runner.run(_tasks(build, level, below, here, is_top, parents_only=True)), maxlen=0)
        below = here


def _tasks(
    build: JointBuild, level: int, below: State, here: State, is_top: bool, *, parents_only: bool
) -> list[Task]:
    """The rows of a level, cut into chunks that do not depend on the number of threads."""
    n, prefix = len(build.order), build.split[level - 1]
    n_bitmap_rows, n_rows = comb(prefix, level - 1), comb(n, level - 1)
    states = (build, level, below, here, is_top)
    tasks: list[Task] = []
    if prefix > 0 and not parents_only and isinstance(build.blocks, Ones):
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
        per_chunk = max(64, SETS_PER_CHUNK * 100 // (100 + build.labelled.codes.shape[1]))
        for first, last in row_chunks(build.binom, level, n, n_bitmap_rows, n_rows, per_chunk):
            tasks.append((_label_chunk, (first, last, 0, parents_only, *states)))
    return tasks


def _bitmap_chunk(
    first: int, last: int, build: JointBuild, level: int, below: State, here: State, is_top: bool
) -> Survivors:
    lattice = _lattice(build, level, build.split[level - 1])
    n_bounds = 0 if is_top else len(build.terms.bound_start)
    values = bitmap_values(first, last, lattice, build.bits, build.blocks, build.terms, here, is_top, n_bounds)
    return families_of_rows(first, last, 0, lattice, values, build.terms.unit, build.rules, below, here, is_top)


def _binary_chunk(
    first: int, last: int, build: JointBuild, level: int, below: State, here: State, is_top: bool
) -> Survivors:
    lattice = _lattice(build, level, build.split[level - 1])
    if level == 1:
        values = single_values(lattice, build.bits, build.blocks, build.terms, here, is_top)
        row_from, row_to = 0, 1
    else:
        n_bounds = 0 if is_top else len(build.terms.bound_start)
        values = binary_values(first, last, lattice, build.bits, build.blocks, build.terms, here, is_top, n_bounds)
        row_from, row_to = _rows_of_tiles(lattice, first), _rows_of_tiles(lattice, last)
    return families_of_rows(
        row_from, row_to, 0, lattice, values, build.terms.unit, build.rules, below, here, is_top
    )


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
    values = label_values(
        first, last, x_from, parents_only, lattice, build.labelled, build.terms, build.rules, below, here, is_top
    )
    if parents_only:
        return NO_SURVIVORS
    return families_of_rows(first, last, x_from, lattice, values, build.terms.unit, build.rules, below, here, is_top)


def _lattice(build: JointBuild, level: int, n_vars: int) -> Lattice:
    return Lattice(level, n_vars, build.binom, build.shapes.step, build.shapes.kinds, build.arities)


def _roots(rows: Rows, group: Group, arities: Ints, *, with_marginal: bool) -> tuple[np.ndarray, Ints]:
    labels, n_labels = base_labels(rows, group.base, arities)
    if not with_marginal:
        return labels[None, :], np.array([n_labels], dtype=np.int64)
    return np.stack([labels, np.zeros_like(labels)]), np.array([n_labels, 1], dtype=np.int64)


def _rules(
    rows: Rows,
    domain: Domain,
    group: Group,
    order: Ints,
    shapes: Shapes,
    score: CellScore,
    pruning: Pruning,
    with_bounds: bool,
) -> Rules:
    n = int(rows.weights.sum())
    position = {int(v): i for i, v in enumerate(order)}
    is_allowed = np.zeros((len(order), len(order)), dtype=np.bool_)
    limits = np.full(len(order), -1, dtype=np.int64)
    constant = np.zeros(len(order))
    for child, free_limit in zip(group.children, group.free_limits, strict=True):
        own = position[child]
        limits[own] = free_limit
        is_allowed[[position[parent] for parent in domain.allowed[child]], own] = True
        constant[own] = score.child_constant(
            np.bincount(rows.codes[child], weights=rows.weights).astype(np.int64)
        )
    small = [shape for shape in shapes.arities if len(shape) < group.max_free + 1 + len(group.base)]
    penalty = _padded(np.array([score.penalty(int(r), small, n) for r in shapes.kind_arity]), len(shapes.arities))
    bound_top = np.full(len(order), np.inf)
    bound_penalty = np.zeros_like(penalty)
    if with_bounds and score.likelihood_weight is not None:
        bound_top = score.likelihood_weight * likelihood_ceilings(rows, order.tolist()) - constant
        smallest = int(shapes.kind_arity.min())
        ceilings = [ceiling_penalties(score, int(r), smallest, small, n) for r in shapes.kind_arity]
        bound_penalty = _padded(np.array(ceilings), len(shapes.arities))
    return Rules(penalty, constant, bound_penalty, bound_top, is_allowed, limits, pruning.on, pruning.gap)


def _padded(values: np.ndarray, width: int) -> np.ndarray:
    """Shapes are numbered by size: those of the top level are never anybody's parents."""
    return np.hstack([values, np.zeros((len(values), width - values.shape[1]))])


def _bits(rows: Rows, variables: Ints, arities: Ints, labels: Ints, n_base: int) -> Bits:
    bitmaps = indicator_bitmaps(rows, variables.tolist(), arities, labels, n_base)
    base_size = np.bincount(labels, weights=rows.weights, minlength=n_base).astype(np.int64)
    return Bits(
        bitmaps.words, bitmaps.first, bitmaps.segment_start, bitmaps.segment_base, bitmaps.segment_shift, base_size
    )


def _ones(split: tuple[int, ...], n_base: int) -> Ones:
    """Room for the all-ones counts of every level but the top one."""
    sizes = [0, *(n_base * comb(prefix, level) for level, prefix in enumerate(split[:-1], start=1))]
    level_start = np.concatenate([[0], np.cumsum(sizes), [0]]).astype(np.int64)
    level_start[-1] = level_start[-2]
    return Ones(np.empty(int(level_start[-1]), dtype=np.int32), level_start)


def _blocks(split: tuple[int, ...], arities: Ints, first: Ints, n_base: int, binom: Ints) -> Blocks:
    """Room for the all-positive entries of every level but the top one."""
    n_rows = [comb(prefix, level) for level, prefix in enumerate(split[:-1])]
    level_start = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    row_start = np.zeros(int(level_start[-1]), dtype=np.int64)
    at = 0
    for level, prefix in enumerate(split[:-1]):
        if prefix > 0:
            own = row_start[level_start[level] : level_start[level + 1]]
            at = _lay_out_rows(level, prefix, arities, first, n_base, binom, at, own)
    return Blocks(np.empty(at, dtype=np.int32), row_start, level_start)


@njit(cache=True, nogil=True)
def _lay_out_rows(
    n_row: int, n_vars: int, arities: Ints, first: Ints, n_base: int, binom: Ints, at: int, row_start: Ints
) -> int:
    """Where the block of each row begins; the end of the last."""
    row = np.zeros(max(n_row, 1), np.int64)
    if n_row > 0:
        unrank(0, n_row, n_vars, binom, row)
    for rank in range(len(row_start)):
        if rank > 0:
            advance(row, n_row)
        row_start[rank] = at
        size = n_base * first[row[0] if n_row > 0 else n_vars]
        for i in range(n_row):
            size *= arities[row[i]] - 1
        at += size
    return at


def _state_below(build: JointBuild) -> State:
    """Level 0: the base alone as parents."""
    terms, n = build.terms, len(build.order)
    weights = build.labelled.weights
    base_counts = np.bincount(build.labelled.roots[0], weights=weights).astype(np.int64)
    prior, total = float(terms.prior[0]), int(weights.sum())

    def term_sum(start: int, counts: Ints) -> int:
        return sum(_term(terms, start, prior, int(count)) for count in counts)

    if len(terms.parent_start):
        values = [[term_sum(int(start), base_counts)] for start in terms.parent_start]
    else:
        value = term_sum(int(terms.cell_start[0]), base_counts)
        if terms.marginal_start >= 0:
            value += term_sum(terms.marginal_start, np.array([total]))
        values = [[-value]]
    nothing = np.zeros((n, 1))
    return State(np.array(values, dtype=np.int64), nothing, nothing.T.copy(), np.ones(1, dtype=np.bool_))


def _term(terms: Terms, start: int, prior: float, count: int) -> int:
    if count < terms.cap:
        return int(terms.table[start + count])
    return round((lgamma(prior + count) - lgamma(prior)) / terms.unit)


def _new_state(build: JointBuild, level: int, is_top: bool) -> State:
    n = len(build.order)
    n_sets = 0 if is_top else comb(n, level)
    n_w = 0 if is_top else comb(n, level - 1)
    n_values = max(1, len(build.terms.parent_start))
    return State(
        np.empty((n_values, n_sets), dtype=np.int64),
        np.full((n, n_w), np.inf),
        np.full((n_w, n), np.inf),
        np.zeros(n_sets, dtype=np.bool_),
    )
