"""Scores of single families, for searches that look at few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.data.rows import Rows
from scorecache.domain import Domain
from scorecache.scores import Score
from scorecache.scoring.alone import prepare
from scorecache.scoring.dispatch import run_piece
from scorecache.scoring.estimate import is_plain, plain_seconds
from scorecache.scoring.kept import Kept
from scorecache.scoring.levels import Unit, score_units
from scorecache.scoring.plan import n_subsets
from scorecache.scoring.survivors import Pruning


def extensions(
    rows: Rows, domain: Domain, arities: NDArray[np.int64], child: int, limit: int, score: Score
) -> list[tuple[float, list[int]]]:
    """Scores of the child's required parents, with every set of others beside them up to `limit` parents in all."""
    unit, kept = Unit(0, 0, child, ()), Kept(np.inf)
    n_sets = n_subsets(len(domain.allowed[child]), limit)
    plain = is_plain(plain_seconds(n_sets, rows.n_distinct))
    build = prepare(rows, domain, arities, child, limit, score, Pruning(False), plain=plain)
    score_units(
        {unit: build},
        lambda tasks, known: ((task, run_piece(build, task[1], known[unit])) for task in tasks),
        kept,
        lambda *_: None,
    )
    return [
        (score, added)
        for piece in kept.pieces
        for score, added in zip(piece.scores.tolist(), piece.free.tolist(), strict=True)
    ]
