"""Counting and scoring in plain numpy: small builds run here, and the kernels are tested against it bit for bit.

Every set of a level is counted and scored, no bound is looked up, and dominance is the only rule: what bounds close is
dominated, so the families that are left are those of the kernels. A level is two functions, one per kind of build:

    joint sets      S = P + {x} of a group of children: `joint_values`, then `joint_families`
    parent sets     W of one child, from its family tables: `child_families`
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.label_rows import Labelled
from scorecache.counting.table_types import (
    APPROXIMATED,
    CELLS,
    DIRICHLET,
    FACTORISED,
    PRIOR_NETWORK,
    Model,
    Search,
)
from scorecache.counting.terms import large_term, log_gamma
from scorecache.counting.types import Floats, Ints, Lattice, Rules, Slab, Terms
from scorecache.data.rows import refine_labels
from scorecache.scores.conditional import CLASS_BLIND, CLASS_GAIN

Labels = NDArray[np.int64]
DEAD = np.inf
"""The best score of a family that is not in the domain: no family above it is either."""


def subsets(n: int, size: int) -> Ints:
    """All subsets of 0..n-1 of a size, one per row, ascending; the rows in colexicographic order."""
    descending = list(combinations(range(n - 1, -1, -1), size))
    return np.array(descending, dtype=np.int64).reshape(len(descending), size)[::-1, ::-1]


def joint_values(labelled: Labelled, lattice: Lattice, terms: Terms) -> tuple[Ints, Ints]:
    """Count every joint set of a level.

    Returns
    -------
    tuple
        The sum of the cell terms of each set, and the parents' parts of scores: one row, or one per kind of child.
    """
    m, n_vars = lattice.size, lattice.n_vars
    rows, first = subsets(n_vars, m - 1), 0
    n_sets = math.comb(n_vars, m)
    joint = np.zeros(n_sets, np.int64)
    parts = np.zeros((len(terms.parent_start), n_sets), np.int64)
    for root in range(len(labelled.roots)):
        first = 0
        start = (labelled.roots[root].astype(np.int64), int(labelled.n_roots[root]))
        for row, (labels, n_labels) in _labels_of_rows(rows, start, labelled.codes, lattice.arities):
            n_x = int(row[0]) if m > 1 else n_vars
            if n_x == 0:
                continue
            own = lattice.arities[:n_x]
            # the tables of P + {x} for all x end to end, as [x][label][state]
            begin = np.concatenate([[0], np.cumsum(own * n_labels)])
            cells = begin[:n_x, None] + labels * own[:, None] + labelled.codes[:n_x]
            weights = np.broadcast_to(labelled.weights, cells.shape).ravel()
            counts = np.bincount(cells.ravel(), weights=weights, minlength=int(begin[-1])).astype(np.int64)
            shapes = lattice.step[_shape(lattice, row), lattice.kinds[:n_x]]
            here = slice(first, first + n_x)
            first += n_x
            starts = terms.cell_start[shapes] if root == 0 else np.full(n_x, terms.marginal_start)
            joint[here] += _sums(terms, starts, shapes, counts, begin)
            for part, start_of_part in enumerate(terms.parent_start if root == 0 else ()):
                parts[part, here] = _sums(terms, np.full(n_x, start_of_part), shapes, counts, begin)
    return joint, parts if len(parts) else -joint[None, :]


def joint_families(
    joint: Ints, lattice: Lattice, unit: float, rules: Rules, below: Slab
) -> tuple[Ints, Floats, Ints, Floats]:
    """Score the families of every joint set of a level.

    Returns
    -------
    tuple
        The families that dominance leaves (children, scores, parents), and `best` of the level's slab.
    """
    m = lattice.size
    sets = subsets(lattice.n_vars, m)
    without = ranks_without_each(sets, lattice.binom)
    two_part = len(below.parent_value) > 1
    best = np.full((m, len(sets)), DEAD)
    found: list[tuple[Ints, Floats, Ints]] = []
    for i in range(m):
        child, parents = sets[:, i], np.delete(sets, i, axis=1)
        kind = lattice.kinds[child]
        score = (joint + below.parent_value[kind if two_part else 0, without[:, i]]) * unit
        if rules.has_charge:
            shape = np.zeros(len(sets), np.int64)
            for v in parents.T:
                shape = lattice.step[shape, lattice.kinds[v]]
            score -= rules.penalty[kind, shape] + rules.constant[child]
        floor = np.full(len(sets), -np.inf)
        for j in range(m):
            if j != i:
                floor = np.maximum(floor, below.best[i if i < j else i - 1, without[:, j]])
        floor[m - 1 > rules.limits[child]] = DEAD
        for v in parents.T:
            floor[~rules.is_allowed[v, child]] = DEAD
        stays = score + rules.gap > floor if rules.prune else floor < DEAD
        found.append((lattice.order[child[stays]], score[stays], lattice.order[parents[stays]]))
        best[i] = np.maximum(floor, score)
    children, scores, parents_left = (np.concatenate(own) for own in zip(*found, strict=True))
    return children, scores, parents_left, best


def child_families(
    size: int, search: Search, model: Model, below: Floats, prune: bool, gap: float
) -> tuple[Ints, Floats, Ints, Floats]:
    """Score every set of `size` candidate parents of a child.

    Returns
    -------
    tuple
        The families that dominance leaves (holds the class?, score, set), and the best score among each set and its
        subsets, without and with the class.
    """
    n_vars = len(search.codes)
    sets = subsets(n_vars, size)
    plain, classed = _table_scores(sets, search, model)
    floors = np.empty((2, len(sets)))
    floors[0] = -np.inf if size <= search.plain_limit else DEAD
    floors[1] = -np.inf if size <= search.class_limit else DEAD
    if size:
        for without in ranks_without_each(sets, search.binom).T:
            np.maximum(floors, below[:, without], out=floors)
    # a set with the class is also compared with the same set without it
    plain_is_open = floors[0] < DEAD
    floors[1, plain_is_open] = np.maximum(floors[1], np.maximum(floors[0], plain))[plain_is_open]
    best = np.full((2, len(sets)), DEAD)
    found: list[tuple[Ints, Floats, Ints]] = []
    for holds_class, (score, limit) in enumerate([(plain, search.plain_limit), (classed, search.class_limit)]):
        floor = floors[holds_class]
        if size <= limit:
            is_open = floor < DEAD
            stays = np.flatnonzero(is_open & (score + gap > floor) if prune else is_open)
            found.append((np.full(len(stays), holds_class), score[stays], sets[stays]))
            best[holds_class] = np.maximum(floor, score)
    holds, scores, parents = (
        (np.concatenate(own) for own in zip(*found, strict=True))
        if found
        else (np.empty(0, np.int64), np.empty(0), np.empty((0, size), np.int64))
    )
    return holds, scores, parents, best


def _shape(lattice: Lattice | Search, members: Ints) -> int:
    shape = 0
    for v in members.tolist():
        shape = int(lattice.step[shape, lattice.kinds[v]])
    return shape


def _labels_of_rows(
    rows: Ints, start: tuple[Labels, int], codes: NDArray[np.uint16], arities: Ints
) -> Iterator[tuple[Ints, tuple[Labels, int]]]:
    """Each row with the labels of its configurations, suffix by suffix; a suffix that stays is not refined again."""
    stack = [start]
    known: list[int] = []
    for row in rows:
        suffix = row[::-1].tolist()
        same = 0
        while same < len(known) and same < len(suffix) and known[same] == suffix[same]:
            same += 1
        del stack[same + 1 :]
        for v in suffix[same:]:
            stack.append(refine_labels(*stack[-1], codes[v], int(arities[v])))
        known = suffix
        yield row, stack[-1]


def _sums(terms: Terms, starts: Ints, shapes: Ints, counts: Ints, begin: Ints) -> Ints:
    """The fixed-point terms of the cells `begin[i]:begin[i + 1]`, summed for each i."""
    of_cell = np.repeat(np.arange(len(starts)), np.diff(begin))
    values = terms.table[starts[of_cell] + np.minimum(counts, terms.cap - 1)]
    for cell in np.flatnonzero(counts >= terms.cap):  # the tables end here
        values[cell] = large_term(terms, int(shapes[of_cell[cell]]), int(counts[cell]))
    return np.asarray(np.add.reduceat(values, begin[:-1]))


def ranks_without_each(sets: Ints, binom: Ints) -> Ints:
    """The colex rank of each set without its i-th element, one column per i."""
    n_sets, m = sets.shape
    ranks = np.zeros((n_sets, m), np.int64)
    for i in range(m):
        for j in range(m):
            if j != i:
                ranks[:, i] += binom[sets[:, j], j + 1 if j < i else j]
    return ranks


def _table_scores(sets: Ints, search: Search, model: Model) -> tuple[Floats, Floats]:
    """The scores of the sets without and with the class."""
    plain, classed = np.zeros(len(sets)), np.zeros(len(sets))
    start = (search.root.astype(np.int64), search.n_root)
    n_outcomes = model.r * model.s
    priors: dict[tuple[int, ...], Floats] = {(): search.root_prior}
    known: dict[tuple[int, ...], Labels] = {(): start[0]}
    for number, (members, (labels, n_labels)) in enumerate(_labels_of_rows(sets, start, search.codes, search.arities)):
        key, shape = tuple(members.tolist()), _shape(search, members)
        prior = _prior(key, labels, n_labels, search, priors, known) if len(search.marginals) else search.root_prior
        cells = labels * n_outcomes + search.outcome
        counts = np.bincount(cells, weights=search.weights, minlength=n_labels * n_outcomes).astype(np.int64)
        table = counts.reshape(n_labels, model.r, model.s)
        charge = search.penalty[shape] + model.constant
        if search.plain_limit >= 0:
            plain[number] = plain_score(model, table, prior, float(search.q[shape])) - charge
        if search.class_limit >= 0:
            classed[number] = class_score(model, table) - charge
    return plain, classed


def _prior(
    key: tuple[int, ...],
    labels: Labels,
    n_labels: int,
    search: Search,
    priors: dict[tuple[int, ...], Floats],
    known: dict[tuple[int, ...], Labels],
) -> Floats:
    """The prior network's probability of each label: a product, the largest candidate first."""
    if key not in priors:
        above = key[1:]
        if above not in priors:
            own, n_own = known[()], search.n_root
            for v in above[::-1]:
                own, n_own = refine_labels(own, n_own, search.codes[v], int(search.arities[v]))
            known[above] = own
            _prior(above, own, n_own, search, priors, known)
        variable = key[0]
        start = int(search.marginal_start[variable])
        prior = np.ones(n_labels)
        prior[labels] = priors[above][known[above]] * search.marginals[start + search.codes[variable]]
        priors[key], known[key] = prior, labels
    return priors[key]


def plain_score(model: Model, counts: Ints, prior: Floats, q: float) -> float:
    """The score of child and parents, the class summed out, as in `scorecache.counting.tables`."""
    n_states = counts.sum(axis=2)
    n_j = n_states.sum(axis=1)
    if model.method in (CELLS, FACTORISED):
        parts = model.parent[n_j]
        for k in range(model.r):
            parts = parts + model.cell[n_states[:, k]]
        return _in_order(model.weight * parts)
    if model.method == APPROXIMATED:
        weights = [model.weight * n_states[:, k] + model.spread * n_j for k in range(model.r)]
        return _in_order(_weighted_logs(weights, model.pseudo_count))
    if model.method == PRIOR_NETWORK:
        a_j = model.ess * prior
        a_jk = a_j[:, None] * model.marginal
        parts = _log_gammas(a_j) - _log_gammas(a_j + n_j)
    else:
        a = model.ess / (model.r * (q if model.method == DIRICHLET else len(counts)))
        a_jk = np.full(n_states.shape, a)
        parts = log_gamma(model.r * a) - _log_gammas(model.r * a + n_j)
    for k in range(model.r):
        occurs = n_states[:, k] > 0
        a_k = a_jk[occurs, k]
        parts[occurs] += _log_gammas(a_k + n_states[occurs, k]) - _log_gammas(a_k)
    return _in_order(parts)


def class_score(model: Model, counts: Ints) -> float:
    """The class-wise score of a feature whose parents hold the class, as in `scorecache.counting.tables`."""
    n_jk, n_jc = counts.sum(axis=2), counts.sum(axis=1)
    if model.method == FACTORISED:
        joint, blind = np.zeros(len(counts)), np.zeros(len(counts))
        for k in range(model.r):
            for c in range(model.s):
                joint += model.cell[counts[:, k, c]]
            blind += model.cell[n_jk[:, k]]
        for c in range(model.s):
            joint -= model.cell[n_jc[:, c]]
        blind -= model.cell[n_jk.sum(axis=1)]
        return _in_order((CLASS_BLIND + CLASS_GAIN) * joint - CLASS_GAIN * blind)
    parts = np.zeros(len(counts))
    for c in range(model.s):
        weights = [counts[:, k, c] + model.beta * n_jk[:, k] for k in range(model.r)]
        parts = _weighted_logs(weights, model.pseudo_count, parts)
    return _in_order(parts)


def _weighted_logs(weights: list[Floats], floor: float, parts: Floats | float = 0.0) -> Floats:
    """parts + sum_k w_k log(N+_k / sum_k' N+_k'), N+_k = max(w_k, floor)."""
    floored = 0.0 + np.maximum(weights[0], floor)
    for w in weights[1:]:
        floored = floored + np.maximum(w, floor)
    for w in weights:
        parts = parts + w * _logs(np.maximum(w, floor) / floored)
    return np.asarray(parts)


def _in_order(parts: Floats) -> float:
    """The sum from the first to the last; numpy's own would add in pairs and round otherwise."""
    return 0.0 + float(np.cumsum(parts)[-1])


def _logs(values: Floats) -> Floats:
    """The logarithms of the C library, which kernels use; numpy's own may differ in the last bit."""
    return np.fromiter(map(math.log, values.tolist()), np.float64, len(values))


def _log_gammas(values: Floats) -> Floats:
    different, where = np.unique(values, return_inverse=True)
    return np.fromiter(map(log_gamma, different.tolist()), np.float64, len(different))[where]
