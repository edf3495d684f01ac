"""Everything a joint build reads and never changes: numbering, tables, rules, bitmaps.

Variables are renumbered by rising arity, so that the sets of small variables, which the bitmap kernels count, come
first in every level and the label kernel takes the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import comb

import numpy as np

from scorecache.counting.binary_tiles import Ones
from scorecache.counting.bitmap import indicator_bitmaps
from scorecache.counting.label import base_labels, dense_size, hash_size
from scorecache.counting.label_rows import Labelled
from scorecache.counting.moebius import Bits, Blocks
from scorecache.counting.subsets import binomials
from scorecache.counting.types import Ints, Rules, Terms
from scorecache.data.rows import Rows
from scorecache.domain import Domain
from scorecache.scores import CellScore
from scorecache.scores.penalized import PenalizedLikelihood
from scorecache.scoring.plan import Group, bitmap_prefix
from scorecache.scoring.pruning import ceiling_penalties, likelihood_ceilings
from scorecache.scoring.shapes import Shapes, number_shapes
from scorecache.scoring.survivors import Pruning
from scorecache.scoring.terms import build_terms


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
    ones: Ones | None
    """All-ones counts, where every bitmap variable is binary."""
    blocks: Blocks | None
    """All-positive counts, where some are not."""
    split: tuple[int, ...]
    """Per level: how many of the first variables are counted by bitmaps."""
    plain: bool
    """Counted in numpy, without kernels."""

    @property
    def n_levels(self) -> int:
        return len(self.split)

    def counts_shape(self, level: int) -> tuple[int, int]:
        """The shape of the counts that the bitmap kernels of a level keep for the levels above."""
        if self.plain:
            return 1, 0
        if self.ones is not None:
            return len(self.bits.base_size), int(self.ones.level_size[level])
        assert self.blocks is not None
        rows = self.blocks.level_start[level - 1 : level + 1]
        return 1, int(np.diff(self.blocks.row_start[rows])[0])


def prepare(
    rows: Rows, domain: Domain, arities: Ints, group: Group, score: CellScore, pruning: Pruning, *, plain: bool
) -> JointBuild:
    """Number the variables, build the tables, and decide which kernel counts what; `plain`: none does."""
    roots, n_roots = _roots(rows, group, arities, with_marginal=score.needs_class)
    n_base, n = int(n_roots[0]), int(rows.weights.sum())
    order = np.array(sorted(group.universe, key=lambda v: (arities[v], v)), dtype=np.int64)
    own_arities = arities[order]
    n_levels = group.max_free + 1
    shapes = number_shapes(own_arities, tuple(int(arities[v]) for v in group.base), n_levels)
    split = tuple(bitmap_prefix(own_arities, size, rows.n_distinct, n_base) for size in range(1, n_levels + 1))
    with_bounds = pruning.on and bounds_pay(split, len(order))
    q_max = float(shapes.q[0] * np.prod(own_arities[::-1][: group.max_free].astype(np.float64)))
    n_lookups = group.n_joint_sets * int(min(rows.n_distinct, (int(own_arities.sum()) / len(order)) ** n_levels))
    terms = build_terms(score, shapes, n, with_bounds=with_bounds, q_max=q_max, n_lookups=n_lookups)
    if plain:
        split, with_bounds = (0,) * n_levels, False
    rules = _rules(rows, domain, group, order, shapes, score, pruning, with_bounds)
    by_labels = min(split) < len(order)
    labelled = Labelled(
        rows.columns(order) if by_labels else rows.codes, rows.weights, roots, n_roots,
        dense_size(rows.n_distinct), hash_size(rows.n_distinct),
    )  # fmt: skip
    binom = binomials(len(order) + 1, len(split) + 1)
    bits = _bits(rows, order[: split[0]], arities, roots[0].astype(np.int64), n_base)
    binary = bool((own_arities[: split[0]] == 2).all())
    ones = _ones(split, n_base) if binary else None
    blocks = None if binary else _blocks(split, own_arities, bits.first, n_base)
    return JointBuild(
        group, order, own_arities, binom, shapes, terms, rules, labelled, bits, ones, blocks, split, plain
    )


def bounds_pay(split: tuple[int, ...], n_vars: int) -> bool:
    """Superset bounds save counting only where labels are used, and from three variables on."""
    return any(prefix < n_vars for prefix in split[2:])


def _roots(rows: Rows, group: Group, arities: Ints, *, with_marginal: bool) -> tuple[np.ndarray, Ints]:
    labels, n_labels = base_labels(rows, group.base, arities)
    if not with_marginal:
        return labels[None, :], np.array([n_labels], dtype=np.int64)
    roots = np.zeros((2, len(labels)), dtype=labels.dtype)
    roots[0] = labels
    return roots, np.array([n_labels, 1], dtype=np.int64)


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
    position = {v: i for i, v in enumerate(order.tolist())}
    own = [position[child] for child in group.children]
    is_allowed = np.zeros((len(order), len(order)), dtype=np.bool_)
    is_allowed[:, own] = True
    np.fill_diagonal(is_allowed, False)
    limits = np.full(len(order), -1, dtype=np.int64)
    limits[own] = group.free_limits
    constant = np.zeros(len(order))
    for child, place in zip(group.children, own, strict=True):
        if len(domain.allowed[child]) < len(order) - 1:
            is_allowed[:, place] = False
            is_allowed[[position[parent] for parent in domain.allowed[child]], place] = True
        if score.has_constant:
            counts = np.bincount(rows.codes[child], weights=rows.weights)
            constant[place] = score.child_constant(counts.astype(np.int64))
    small = [shape for shape in shapes.arities if len(shape) < group.max_free + 1 + len(group.base)]
    penalty = _padded(np.array([score.penalty(int(r), small, n) for r in shapes.kind_arity]), len(shapes.arities))
    bound_top = np.full(len(order), np.inf)
    bound_penalty = np.zeros_like(penalty)
    if with_bounds and score.likelihood_weight is not None:
        bound_top = score.likelihood_weight * likelihood_ceilings(rows, order.tolist()) - constant
        smallest = int(shapes.kind_arity.min())
        ceilings = [ceiling_penalties(score, int(r), smallest, small, n) for r in shapes.kind_arity]
        bound_penalty = _padded(np.array(ceilings), len(shapes.arities))
    has_charge = bool(penalty.any() or constant.any())
    restricted = bool(is_allowed.sum() < len(order) * (len(order) - 1) or limits.min() < group.max_free)
    pair_price = score.price(n) if with_bounds and isinstance(score, PenalizedLikelihood) else 0.0
    return Rules(
        penalty, constant, bound_penalty, bound_top, is_allowed, limits, has_charge, restricted,
        pair_price, shapes.q, pruning.on, pruning.gap,
    )  # fmt: skip


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
    """Where the all-ones counts of every level but the top one stand."""
    level_size = [0, *(comb(prefix, level) for level, prefix in enumerate(split[:-1], start=1))]
    level_start = [0, *accumulate(n_base * size for size in level_size)]
    return Ones(np.empty(0, dtype=np.int32), np.array(level_start), np.array(level_size))


def _blocks(split: tuple[int, ...], arities: Ints, first: Ints, n_base: int) -> Blocks:
    """Where the all-positive entries of every level but the top one stand."""
    n_rows = [comb(prefix, level) for level, prefix in enumerate(split[:-1])]
    level_start = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    sizes = [np.full(min(1, len(n_rows)), n_base * first[split[0]])]
    own = n_base * first[:-1] * (arities[: split[0]] - 1)
    for level, prefix in enumerate(split[:-1]):
        if level > 1:  # rows by their largest variable v, those below it in the order of the level before
            own = np.concatenate([own[:0], *(own[: comb(v, level - 1)] * (arities[v] - 1) for v in range(prefix))])
        if level > 0:
            own = own[: n_rows[level]]
            sizes.append(own)
    row_start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Blocks(np.empty(0, dtype=np.int32), row_start, level_start)
