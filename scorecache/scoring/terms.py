"""One-count terms as fixed-point tables.

Every cell score is a sum of terms f(n) over the cells of a table. The terms are rounded once, to whole multiples of a
unit 2^-s, and summed as integers: the sum does not depend on the order, so any kernel, any number of threads and any
arrangement of equal tables give the same bits, and families that tie in exact arithmetic tie here. s is as large as
62-bit sums allow (s = 49 at a thousand rows: a unit of 2e-15).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.types import Terms
from scorecache.scores import FCLL, CellScore
from scorecache.scoring.shapes import Shapes

SUM_BITS = 61
FEWEST_ENTRIES = 4096
MOST_ENTRIES = 1 << 25
"""Tables that depend on q are cut to as many entries as there will be look-ups; larger counts are evaluated in the
kernel."""

Floats = NDArray[np.float64]


def build_terms(score: CellScore, shapes: Shapes, n: int, *, with_bounds: bool, q_max: float, n_lookups: int) -> Terms:
    """The tables of a score for counts up to n: cells by shape, class marginal, parents and bounds by child kind."""
    by_q = sorted(set(shapes.q.tolist())) if score.depends_on_q else [1.0]
    cap = n + 1
    priors = [score.rising_from(q) for q in shapes.q.tolist()]
    if score.depends_on_q and None not in priors:
        cap = min(cap, max(FEWEST_ENTRIES, min(n_lookups, MOST_ENTRIES) // len(by_q)))
    tables: list[Floats] = [score.cell_terms(cap - 1, q) for q in by_q]
    heaviest = 2 * math.log(n + 1) if cap <= n else 0.0
    marginal = isinstance(score, FCLL)
    if isinstance(score, FCLL):
        tables.append(score.marginal_terms(n))
    parents = [table for r in shapes.kind_arity if (table := score.parent_terms(n, int(r))) is not None]
    bounds = [
        table
        for r in shapes.kind_arity
        if with_bounds and cap > n and (table := score.bound_terms(n, int(r), q_max)) is not None
    ]
    tables += parents + bounds
    heaviest = max(heaviest, *(_heaviest(table) for table in tables))
    starts = np.cumsum([0, *map(len, tables)], dtype=np.int64)
    unit = 2.0 ** (math.ceil(math.log2(max(1.0, 2 * n * heaviest))) - SUM_BITS)
    first_parent = len(by_q) + marginal
    cell_start = starts[np.searchsorted(by_q, shapes.q)] if score.depends_on_q else np.zeros(len(shapes.q), np.int64)
    return Terms(
        table=np.rint(np.concatenate(tables) / unit).astype(np.int64),
        unit=unit,
        cell_start=cell_start.astype(np.int64),
        marginal_start=int(starts[len(by_q)]) if marginal else -1,
        parent_start=starts[first_parent : first_parent + len(parents)].copy(),
        bound_start=starts[first_parent + len(parents) : first_parent + len(parents) + len(bounds)].copy(),
        cap=cap,
        prior=np.array([np.nan if prior is None else prior for prior in priors]),
    )


def _heaviest(table: Floats) -> float:
    """The largest |f(n)| / n: n rows add up to at most that much each."""
    return float(np.max(np.abs(table[1:]) / np.arange(1, len(table)), initial=0.0))
