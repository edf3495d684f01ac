"""The one dispatcher over the counting kernels: which of them counts which rows of a level.

The pieces depend on the data and on `scale`, never on the number of threads or workers.
"""

from __future__ import annotations

from math import comb

import numpy as np

from scorecache.counting.binary_tiles import binary_values, single_values
from scorecache.counting.bitmap_rows import bitmap_values
from scorecache.counting.families import families_of_rows
from scorecache.counting.label_rows import label_values
from scorecache.counting.plain import child_families, joint_families, joint_values
from scorecache.counting.subsets import row_chunks, sets_before
from scorecache.counting.table_rows import parent_sets
from scorecache.counting.terms import sum_terms
from scorecache.counting.types import Floats, Lattice, Slab, Values
from scorecache.scoring.alone import ChildBuild
from scorecache.scoring.by_family import FamilyBuild, n_sets_of, score_sets
from scorecache.scoring.joint import JointBuild
from scorecache.scoring.levels import NO_COUNTS, Found, Level, Piece, Room
from scorecache.scoring.plan import SETS_PER_CHUNK
from scorecache.scoring.potentials import PotentialBuild, parts_of_base, score_rows

LABEL_ROWS = 100
"""A joint set takes by labels about as long as by bitmaps, times the rows over this."""

CLOSED_FOR_BOUNDS = 0.01
"""Bounds for the top level are summed if this share of the families two levels below it is closed: a joint set of the
top level is spared only where all its families are, a far smaller share."""

ROWS_PER_CHUNK = 1 << 23
"""The same for the tables of one child, in data rows counted."""

FAMILIES_PER_CHUNK = 1 << 10
"""The same for families of a score of one's own."""

PLAIN, TILES, BITMAPS, LABELS, SKIPPED, TABLES = "plain", "tiles", "bitmaps", "labels", "skipped", "tables"
"""The whole level in numpy; binary tiles; bitmaps of more states; labels; those of the sets that
 a level skipped; the tables of one child."""

FAMILIES = "families"
"""The parent sets of one child, for a score of one's own."""

POTENTIALS = "potentials"
"""Joint sets whose potentials are not sums over counts."""

Build = JointBuild | ChildBuild | FamilyBuild | PotentialBuild
NO_SLAB = Slab(0, np.empty((1, 0), np.int64), np.empty((0, 0)), np.empty((0, 0)), np.empty(0, np.bool_))


def pieces_of(build: Build, level: int, scale: int = 1) -> list[Piece]:
    """The rows of a level, cut into pieces; larger ones by a scale above 1."""
    n = len(build.order)
    if isinstance(build, FamilyBuild):
        n_sets, step = n_sets_of(build, level), scale * FAMILIES_PER_CHUNK
        return [Piece(FAMILIES, level, first, min(n_sets, first + step)) for first in range(0, n_sets, step)]
    if isinstance(build, PotentialBuild):
        if build.plain or level == 1:
            return [Piece(POTENTIALS, level, 0, comb(n, level - 1))]
        rows = row_chunks(build.binom, level, n, 0, comb(n, level - 1), scale * SETS_PER_CHUNK)
        return [Piece(POTENTIALS, level, *own) for own in rows]
    if build.plain:
        return [Piece(PLAIN, level, 0, 1)]
    if isinstance(build, ChildBuild):
        size = level - 1
        per_piece = max(1, scale * ROWS_PER_CHUNK // len(build.search.weights))
        rows = row_chunks(build.search.binom, max(size, 1), n, 0, comb(n, max(size - 1, 0)), per_piece)
        return [Piece(TABLES, level, *own) for own in rows]
    prefix = build.split[level - 1]
    lead = min(level, 2) if build.ones is not None else 1
    per_piece = scale * SETS_PER_CHUNK
    pieces: list[Piece] = []
    if prefix > 0:
        rows = row_chunks(build.binom, level, prefix, 0, comb(prefix, level - lead), per_piece, lead=lead)
        pieces = [Piece(TILES if build.ones is not None else BITMAPS, level, *own) for own in rows]
    return pieces + _label_pieces(build, LABELS, level, scale)


def skipped_pieces(build: Build, level: int, scale: int = 1) -> list[Piece]:
    """Pieces that count what the level passed over, where labels do that."""
    return [] if not isinstance(build, JointBuild) or build.plain else _label_pieces(build, SKIPPED, level, scale)


def _label_pieces(build: JointBuild, kernel: str, level: int, scale: int) -> list[Piece]:
    n, prefix = len(build.order), build.split[level - 1]
    if prefix == n:
        return []
    if level == 1:
        return [Piece(kernel, level, 0, 1)]
    per_piece = max(64, scale * SETS_PER_CHUNK * LABEL_ROWS // (LABEL_ROWS + len(build.labelled.weights)))
    rows = row_chunks(build.binom, level, n, comb(prefix, level - 1), comb(n, level - 1), per_piece)
    return [Piece(kernel, level, *own) for own in rows]


def run_piece(build: Build, piece: Piece, known: Level) -> Found:
    """Count, score and prune the families of a piece.

    `known` is the level below; for the sets passed over it is the piece's own.
    """
    if isinstance(build, FamilyBuild):
        survivors, best = score_sets(build, piece.level - 1, piece.first, piece.last, known.slab.best)
        is_top = piece.level == build.n_levels
        return Found((survivors,), NO_SLAB._replace(first=piece.first, best=best[:, :0] if is_top else best))
    if isinstance(build, PotentialBuild):
        return Found(*score_rows(build, piece.level, piece.first, piece.last, known.slab))
    if isinstance(build, ChildBuild):
        return _tables(build, piece, known.slab.best)
    if build.plain:
        return _plain(build, piece, known.slab)
    is_top = piece.level == build.n_levels
    by_bitmaps = piece.kernel in (TILES, BITMAPS)
    lattice = Lattice(
        piece.level, build.split[piece.level - 1] if by_bitmaps else len(build.order),
        build.split[0] if piece.level == 1 and not by_bitmaps else 0, is_top, build.binom,
        build.shapes.step, build.shapes.kinds, build.arities, build.order,
    )  # fmt: skip
    row_from, row_to = piece.first, piece.last
    terms = build.terms
    if piece.level == build.n_levels - 1 and known.share_closed < CLOSED_FOR_BOUNDS:
        terms = terms._replace(bound_start=terms.bound_start[:0])
    values: Values
    if piece.kernel == TILES and piece.level == 1:
        values = single_values(lattice, build.bits, terms)
    elif piece.kernel == TILES:
        assert build.ones is not None
        ones = build.ones._replace(entries=known.stored)
        values = binary_values(*piece[2:], lattice, build.bits, ones, terms)
        row_from, row_to = (sets_before(tile, piece.level - 2, 1, lattice.n_vars, lattice.binom) for tile in piece[2:])
    elif piece.kernel == BITMAPS:
        assert build.blocks is not None
        blocks = build.blocks._replace(entries=known.stored)
        values = bitmap_values(*piece[2:], lattice, build.bits, blocks, terms)
    else:
        skipped = piece.kernel == SKIPPED
        values = label_values(*piece[2:], skipped, build.labelled, lattice, terms, build.rules, known.slab)
        if skipped:
            return Found(slab=NO_SLAB._replace(
                first=values.first, parent_value=values.parent_value, counted=values.counted
            ))  # fmt: skip
    found, best, entropy = families_of_rows(row_from, row_to, lattice, values, terms.unit, build.rules, known.slab)
    slab = None if is_top else Slab(values.first, values.parent_value, best, entropy, values.counted)
    return Found(tuple(found), slab, values.counts, values.counts_at)


def _plain(build: JointBuild, piece: Piece, below: Slab) -> Found:
    """A level of joint sets in numpy."""
    is_top = piece.level == build.n_levels
    lattice = Lattice(
        piece.level, len(build.order), 0, is_top, build.binom, build.shapes.step, build.shapes.kinds, build.arities,
        build.order,
    )  # fmt: skip
    joint, parent_value = joint_values(build.labelled, lattice, build.terms)
    children, scores, parents, best = joint_families(joint, lattice, build.terms.unit, build.rules, below)
    slab = None if is_top else NO_SLAB._replace(
        parent_value=parent_value, best=best, counted=np.ones(len(joint), np.bool_)
    )  # fmt: skip
    return Found(((children, scores, parents),), slab)


def _tables(build: ChildBuild, piece: Piece, below: np.ndarray) -> Found:
    size, is_top = piece.level - 1, piece.level == build.n_levels
    if build.plain:
        holds, found, sets, best = child_families(
            size, build.search, build.model, below, build.pruning.on, build.pruning.gap
        )
        slab = NO_SLAB._replace(best=best[:, :0] if is_top else best)
        return Found(build.survivors(size, holds, found, sets), slab)
    holds_class, scores, parents, first, best = parent_sets(
        piece.first, piece.last, size, build.search, build.model, build.bounds, below,
        is_top,
    )  # fmt: skip
    return Found(build.survivors(size, holds_class, scores, parents), NO_SLAB._replace(first=first, best=best))


def new_level(build: Build, level: int, below: Level, room: Room) -> Level:
    """Room for what the pieces of a level yield."""
    n, is_top = len(build.order), level == build.n_levels
    if isinstance(build, ChildBuild | FamilyBuild):
        n_lines = 2 if isinstance(build, ChildBuild) else 1
        best = _filled(room, (n_lines, 0 if is_top else comb(n, level - 1)), np.inf)
        return Level(NO_SLAB._replace(best=best), NO_COUNTS, NO_COUNTS[0])
    n_sets = 0 if is_top else comb(n, level)
    n_parts = build.n_parts if isinstance(build, PotentialBuild) else max(1, len(build.terms.parent_start))
    slab = Slab(
        0,
        room((n_parts, n_sets), np.int64),
        _filled(room, (level, n_sets), np.inf),
        _filled(room, (level if build.rules.pair_price > 0 else 0, n_sets), np.inf),
        np.zeros(n_sets, dtype=np.bool_),
    )
    if isinstance(build, PotentialBuild):
        return Level(slab, NO_COUNTS, NO_COUNTS[0])
    return Level(slab, room((1, 0) if is_top else build.counts_shape(level), np.int32), below.stored)


def _filled(room: Room, shape: tuple[int, ...], value: float) -> Floats:
    array = room(shape, np.float64)
    array[...] = value
    return array


def first_level(build: Build) -> Level:
    """Level 0: the required parents alone."""
    if isinstance(build, ChildBuild | FamilyBuild):
        return Level(NO_SLAB._replace(best=np.empty((2, 0))), NO_COUNTS, NO_COUNTS[0])
    if isinstance(build, PotentialBuild):
        slab = Slab(0, parts_of_base(build), np.zeros((0, 1)), np.zeros((0, 1)), np.ones(1, dtype=np.bool_))
        return Level(slab, NO_COUNTS, NO_COUNTS[0])
    terms = build.terms
    base_size = build.bits.base_size[:, None]
    if len(terms.parent_start):
        values = [sum_terms(terms, int(start), 0, base_size) for start in terms.parent_start]
    else:
        value = sum_terms(terms, int(terms.cell_start[0]), 0, base_size)
        if terms.marginal_start >= 0:
            value += sum_terms(terms, terms.marginal_start, 0, base_size.sum(axis=0, keepdims=True))
        values = [-value]
    slab = Slab(0, np.array(values), np.zeros((0, 1)), np.zeros((0, 1)), np.ones(1, dtype=np.bool_))
    return Level(slab, NO_COUNTS, NO_COUNTS[0])
