"""Score one child of a group by itself, level by level, with the same scores as in the joint build.

The joint build counts every joint set once for all its children, which is much faster on one machine. A child alone
needs nothing from the others, so children can be scored anywhere and in any order. The parent sets of the top level can
be cut into pieces: each piece builds the levels below again, so that its pruning is final.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.bitmap import indicator_bitmaps
from scorecache.counting.label import base_labels, dense_size, hash_size
from scorecache.counting.subsets import binomials, row_chunks
from scorecache.data.rows import Rows
from scorecache.domain import Domain
from scorecache.scores import CellScore
from scorecache.scoring.joint.prepare import Scoring, scoring
from scorecache.scoring.joint.single_rows import Candidates, Child, Coded, Planes, bitmap_sets, label_sets
from scorecache.scoring.joint.types import Ints, Terms
from scorecache.scoring.plan import CELLS_PER_ROW, FEWEST_CELLS, MOST_CONFIGURATIONS, Group
from scorecache.scoring.survivors import Pruning, Survivors

RUNS_PER_PIECE = 8
"""Pieces are made of runs of rows, which differ in size; several runs even that out."""


@dataclass(frozen=True, eq=False)
class GroupScoring:
    """What the children of a group share: tables and rules, and the base configuration of every row."""

    scoring: Scoring
    labels: NDArray[np.int32]
    n_base: int


@dataclass(frozen=True, eq=False)
class SingleBuild:
    """Everything that stays fixed while one child is scored."""

    number: int
    candidates: Candidates
    child: Child
    coded: Coded
    planes: Planes
    terms: Terms
    split: tuple[int, ...]
    """Per number of free parents: so many of the first candidates are counted by bitmaps."""


def prepare_group(
    rows: Rows, domain: Domain, arities: Ints, group: Group, score: CellScore, pruning: Pruning
) -> GroupScoring:
    """The part of the preparation that serves every child of the group."""
    labels, n_base = base_labels(rows, group.base, arities)
    return GroupScoring(scoring(rows, domain, arities, group, score, pruning, n_base), labels, n_base)


def prepare_child(
    rows: Rows, domain: Domain, arities: Ints, child: int, limit: int, shared: GroupScoring
) -> SingleBuild:
    """Sort the rows by base configuration and state of the child; `limit` counts the parents beside the base."""
    group = shared.scoring
    position = {v: i for i, v in enumerate(group.order.tolist())}
    order = np.array(sorted(domain.allowed[child], key=lambda v: (arities[v], v)), dtype=np.int64)
    places = np.array([position[v] for v in order.tolist()], dtype=np.int64)
    own, r = position[child], int(arities[child])
    kind = int(group.shapes.kinds[own])
    cell = (shared.labels * np.int32(r) + rows.codes[child]).astype(np.int32)
    n_cells = shared.n_base * r
    own_arities = arities[order]
    split = tuple(_bitmap_prefix(own_arities, size, rows.n_distinct, n_cells) for size in range(limit + 1))
    rules = group.rules
    return SingleBuild(
        child,
        Candidates(
            binomials(len(order) + 1, limit + 2), group.shapes.step, group.shapes.kinds[places], own_arities, order
        ),
        Child(
            shared.n_base, r, kind, rules.penalty[kind], float(rules.constant[own]), float(rules.bound_top[own]),
            rules.bound_penalty[kind], rules.prune, rules.gap,
        ),
        Coded(rows.columns(order), rows.weights, cell, dense_size(rows.n_distinct), hash_size(rows.n_distinct)),
        _planes(rows, order[: max(split)], arities, cell, n_cells),
        group.terms,
        split,
    )  # fmt: skip


def run_child(build: SingleBuild, piece: int = 0, n_pieces: int = 1) -> Iterator[Survivors]:
    """Build level after level; yield the survivors in the data's own numbering.

    Of several pieces, each yields its share of the top level and the first one the levels below.
    """
    n, n_levels = len(build.candidates.order), len(build.split)
    below = np.empty(0)
    for size in range(n_levels):
        is_top = size == n_levels - 1
        here = np.full(0 if is_top else comb(n, size), np.inf)
        rows = _all_rows(n, size)
        if is_top and n_pieces > 1:
            rows = _piece_of(build.candidates.binom, n, size, piece, n_pieces)
        for survivors in _level(build, size, rows, below, here, is_top):
            if is_top or piece == 0:
                _, scores, parents = survivors
                yield np.full(len(scores), build.number), scores, parents[:, :size]
        if is_top or not (here < np.inf).any():
            return
        below = here


def _piece_of(binom: Ints, n: int, size: int, piece: int, n_pieces: int) -> tuple[int, int]:
    """The rows of a level that make up one of so many pieces of about equally many sets; a piece may be empty."""
    n_sets = -(-comb(n, size) // (RUNS_PER_PIECE * n_pieces))
    runs = list(row_chunks(binom, size, n, *_all_rows(n, size), n_sets))
    own = runs[len(runs) * piece // n_pieces : len(runs) * (piece + 1) // n_pieces]
    return (own[0][0], own[-1][1]) if own else (0, 0)


def _all_rows(n: int, size: int) -> tuple[int, int]:
    return 0, comb(n, max(size - 1, 0))


def _level(
    build: SingleBuild,
    size: int,
    rows: tuple[int, int],
    below: NDArray[np.float64],
    here: NDArray[np.float64],
    is_top: bool,
) -> Iterator[Survivors]:
    """The rows of small candidates come first and are counted by bitmaps, the rest by labels."""
    first, last = rows
    prefix = build.split[size]
    by_bitmaps = min(last, comb(prefix, size - 1)) if size > 1 and prefix >= size else 0
    if first < by_bitmaps:
        yield bitmap_sets(
            first, by_bitmaps, size, prefix, build.candidates, build.child, build.planes, build.terms,
            below, here, is_top,
        )  # fmt: skip
    first = max(first, by_bitmaps)
    if first < last:
        yield label_sets(
            first, last, size, build.candidates, build.child, build.coded, build.terms, below, here, is_top
        )


def _bitmap_prefix(arities: Ints, size: int, n_distinct: int, n_cells: int) -> int:
    """So many of the candidates (arities ascending) that sets of this size are cheaper by population counts."""
    most_cells = max(FEWEST_CELLS, CELLS_PER_ROW * n_distinct)
    listed = arities.tolist()
    prefix = len(listed) if size > 1 else 0
    while prefix > 0:
        largest = listed[max(0, prefix - size) : prefix]
        passes = prod(largest[:-1]) * max(largest[-1] - 1, 1)
        if passes <= MOST_CONFIGURATIONS and prod(largest) * n_cells <= most_cells:
            return prefix
        prefix -= 1
    return 0


def _planes(rows: Rows, variables: Ints, arities: Ints, cell: NDArray[np.int32], n_cells: int) -> Planes:
    cells = cell.astype(np.int64)
    found = indicator_bitmaps(rows, variables.tolist(), arities, cells, n_cells)
    marked = Rows(np.ones((1, rows.n_distinct), dtype=np.uint16), rows.weights)  # a variable that is 1 in every row
    valid = indicator_bitmaps(marked, [0], np.array([2]), cells, n_cells).words[0]
    return Planes(found.words, found.first, found.segment_start, found.segment_base, found.segment_shift, valid)
