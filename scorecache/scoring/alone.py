"""Score one child over its own parent sets, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.label import base_labels, dense_size, hash_size
from scorecache.counting.subsets import binomials
from scorecache.counting.table_types import (
    APPROXIMATED,
    CELLS,
    DIRICHLET,
    FACTORISED,
    PRIOR_NETWORK,
    SPARSE_DIRICHLET,
    Bounds,
    Floats,
    Ints,
    Model,
    Search,
)
from scorecache.data.rows import Rows
from scorecache.domain import Domain
from scorecache.scores import ACLL, FCLL, BDe, BDeu, BDs, CellScore, Score
from scorecache.scores._base import n_log_n
from scorecache.scores.conditional import CLASS_BLIND, CLASS_GAIN
from scorecache.scores.dirichlet import pure_block
from scorecache.scoring.pruning import ceiling_penalties, likelihood_ceilings
from scorecache.scoring.shapes import Shapes, number_shapes
from scorecache.scoring.survivors import Pruning, Survivors

BOUNDS_FROM = 3
"""Superset bounds are worked out where sets of at least this many free parents are looked at."""


@dataclass(frozen=True, eq=False)
class ChildBuild:
    """Everything that stays fixed while one child is scored."""

    child: int
    class_index: int
    order: Ints
    search: Search
    model: Model
    bounds: Bounds
    pruning: Pruning
    n_levels: int
    plain: bool
    """Counted in numpy, without kernels."""

    def survivors(
        self, size: int, holds_class: Ints, scores: Floats, parents: NDArray[np.integer[Any]]
    ) -> tuple[Survivors, ...]:
        """The families of `size` candidates in the data's own numbering, without and with an optional class."""
        found: list[Survivors] = []
        for flag in (0, 1):
            chosen = np.flatnonzero(holds_class == flag)
            if len(chosen):
                free = self.order[parents[chosen][:, :size]] if size else np.empty((len(chosen), 0), dtype=np.int64)
                if flag and self.search.plain_limit >= 0:
                    free = np.column_stack([free, np.full(len(free), self.class_index)])
                found.append((np.full(len(chosen), self.child), scores[chosen], free))
        return tuple(found)


def prepare(
    rows: Rows, domain: Domain, arities: Ints, child: int, limit: int, score: Score, pruning: Pruning, *, plain: bool
) -> ChildBuild:
    """Choose the tables and the candidate order of a child that may have `limit` parents, required ones included."""
    class_index = -1 if domain.class_index is None or not score.needs_class else domain.class_index
    required = sorted(domain.required[child] - {class_index})
    candidates = sorted(domain.allowed[child] - {class_index}, key=lambda v: (arities[v], v))
    class_required = class_index in domain.required[child]
    class_allowed = class_required or class_index in domain.allowed[child]
    plain_limit = -1 if class_required else limit - len(required)
    class_limit = limit - len(required) - 1 if class_allowed else -1
    n_free = max(plain_limit, class_limit)
    n = int(rows.weights.sum())
    s = int(arities[class_index]) if class_allowed else 1
    order = np.array(candidates, dtype=np.int64)
    shapes = number_shapes(arities[order], tuple(int(arities[v]) for v in required), n_free)
    model = _model(rows, arities, child, class_index, s, score, n)
    outcome = rows.codes[child].astype(np.int64) * s
    if s > 1:
        outcome += rows.codes[class_index]
    root, n_root = base_labels(rows, required, arities)
    marginals, marginal_start = _marginals(rows, candidates, arities, score)
    search = Search(
        codes=rows.columns(order),
        weights=rows.weights,
        outcome=outcome,
        root=root,
        n_root=n_root,
        root_prior=_root_prior(rows, required, root, n_root),
        arities=arities[order],
        marginals=marginals,
        marginal_start=marginal_start,
        kinds=shapes.kinds,
        step=shapes.step,
        q=shapes.q,
        penalty=score.penalty(model.r, shapes.arities, n) if isinstance(score, CellScore) else np.zeros(len(shapes.q)),
        binom=binomials(len(order) + 1, n_free + 1),
        plain_limit=plain_limit,
        class_limit=class_limit,
        dense_size=dense_size(rows.n_distinct),
        hash_size=hash_size(rows.n_distinct),
    )
    class_is_optional = class_allowed and not class_required
    with_bounds = pruning.on and n_free >= BOUNDS_FROM and not class_is_optional and not plain
    bounds = _bounds(rows, child, arities, shapes, score, model, pruning, on=with_bounds)
    return ChildBuild(child, class_index, order, search, model, bounds, pruning, n_free + 1, plain)


def _model(rows: Rows, arities: Ints, child: int, class_index: int, s: int, score: Score, n: int) -> Model:
    r = int(arities[child])
    counts = np.bincount(rows.codes[child], weights=rows.weights, minlength=r)
    empty = np.empty(0)
    method, cell, parent, constant = CELLS, empty, empty, 0.0
    weight, spread, beta, pseudo_count = 1.0, 0.0, 0.0, 0.0
    if isinstance(score, FCLL):
        method, cell = FACTORISED, n_log_n(n)
        parent = -cell
        weight = CLASS_BLIND + CLASS_GAIN if child == class_index else CLASS_BLIND
    elif isinstance(score, ACLL):
        n_classes = int(arities[class_index])
        method, beta, pseudo_count = APPROXIMATED, score.beta(n_classes), score.pseudo_count
        weight, spread = (1.0, beta) if child == class_index else (1.0 + n_classes * beta, 0.0)
    elif isinstance(score, (BDeu, BDs, BDe)):
        method = {"bdeu": DIRICHLET, "bds": SPARSE_DIRICHLET, "bde": PRIOR_NETWORK}[score.name]
    elif isinstance(score, CellScore):
        cell = score.cell_terms(n, 1.0)
        own = score.parent_terms(n, r)
        parent = -cell if own is None else own
        constant = score.child_constant(counts.astype(np.int64))
    ess = float(score.parameters.get("ess", 0.0))
    return Model(method, r, s, cell, parent, constant, ess, counts / n, weight, spread, beta, pseudo_count)


def _marginals(rows: Rows, variables: list[int], arities: Ints, score: Score) -> tuple[Floats, Ints]:
    """p(k) of every candidate, end to end, for the prior network of BDe."""
    if not isinstance(score, BDe):
        return np.empty(0), np.zeros(len(variables), dtype=np.int64)
    n = rows.weights.sum()
    each = [np.bincount(rows.codes[v], weights=rows.weights, minlength=int(arities[v])) / n for v in variables]
    starts = np.concatenate([[0], np.cumsum([len(p) for p in each])])[: len(variables)]
    return np.concatenate([*each, np.empty(0)]), starts.astype(np.int64)


def _root_prior(rows: Rows, required: list[int], root: np.ndarray, n_root: int) -> Floats:
    """The prior network's probability of each configuration of the required parents."""
    prior = np.ones(n_root)
    n = rows.weights.sum()
    for variable in required:
        p = np.bincount(rows.codes[variable], weights=rows.weights) / n
        of_label = np.empty(n_root)
        of_label[root] = p[rows.codes[variable]]
        prior *= of_label
    return prior


def _bounds(
    rows: Rows,
    child: int,
    arities: Ints,
    shapes: Shapes,
    score: Score,
    model: Model,
    pruning: Pruning,
    *,
    on: bool,
) -> Bounds:
    n = int(rows.weights.sum())
    if not on:
        return Bounds(pruning.on, pruning.gap, False, np.inf, np.zeros(len(shapes.q)), np.empty(0))
    q_max = float(shapes.q.max())
    top = float(likelihood_ceilings(rows, [child])[0])
    penalty, terms = np.zeros(len(shapes.q)), None
    if isinstance(score, BDs):
        terms = pure_block(n, score.ess / (model.r * min(q_max, rows.n_distinct)), model.r)
    elif isinstance(score, CellScore) and not score.needs_class:
        top = (score.likelihood_weight or np.inf) * top - model.constant
        terms = score.bound_terms(n, model.r, q_max)
        smallest = arities[np.arange(len(arities)) != child].min(initial=1)
        penalty = ceiling_penalties(score, model.r, int(smallest), shapes.arities, n)
    return Bounds(pruning.on, pruning.gap, True, top, penalty, np.empty(0) if terms is None else terms)
