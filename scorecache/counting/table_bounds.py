"""Upper bounds on the score of every strict superset of a parent set, from its family table.

| score             | bound                                                                                      |
|-------------------|--------------------------------------------------------------------------------------------|
| cell scores, BDs  | min{ LLmax, sum over cells of u(N_jk) } (`scorecache.scoring.pruning`)                     |
| BDe               | sum over non-empty cells of log p(k): a refinement down to single rows predicts each by p(k) |
| fCLL in an ANB    | a LLmax + b sum_j min{ E_j, N_j H_j(C), N_j H_j(X) }                                        |
| aCLL in an ANB    | b0 sum_jck (N_jk - N_jck) log(r + (1 - b0) (N_jc - N_jck) / N'), b0 = -beta in (0, 1)        |

with E_j = sum_ck N_jck log[(N_jck + D_jck) / N_jck], D_jck = N_j - N_jc - N_jk + N_jck. fCLL: a superset scores
a LL + b N I(C; X | W'), and inside one configuration p(c,k) / (p(c) p(k)) <= (p + D) / p because
(p + u)(p + v)(1 - u - v) >= p^2 for u = p(c) - p, v = p(k) - p; n log((n + D) / n) is superadditive under refinement,
as are the entropies. aCLL: only cells with negative weight, at least -b0 (N_k - N_ck), add to the score, with
theta >= N' / (r N' + (1 - b0)(N_c - N_ck)).
"""

from __future__ import annotations

import math

import numpy as np

from scorecache.counting.table_types import APPROXIMATED, FACTORISED, PRIOR_NETWORK, Bounds, Model, Table
from scorecache.counting.tables import margins
from scorecache.scores.conditional import CLASS_BLIND, CLASS_GAIN
from scorecache.system.compiled import kernel


@kernel
def superset_bound(model: Model, bounds: Bounds, table: Table, n_used: int, shape: int, in_anb: bool) -> float:
    """No strict superset of these parents scores higher."""
    if model.method == FACTORISED:
        return CLASS_BLIND * bounds.top + CLASS_GAIN * _information_ceiling(model, table, n_used) if in_anb else np.inf
    if model.method == APPROXIMATED:
        return _approximated_ceiling(model, table, n_used) if in_anb else np.inf
    if model.method == PRIOR_NETWORK:
        return _cell_ceiling(model, bounds, table, n_used)
    bound = bounds.top - bounds.penalty[shape]
    if len(bounds.terms) > 0:
        bound = min(bound, _cell_ceiling(model, bounds, table, n_used))
    return bound


@kernel
def _cell_ceiling(model: Model, bounds: Bounds, table: Table, n_used: int) -> float:
    """The sum of u(N_jk) over the cells, or with a prior network of log p(k) over those that occur."""
    total = 0.0
    for j in range(n_used):
        margins(table, j)
        for k in range(model.r):
            if model.method != PRIOR_NETWORK:
                total += bounds.terms[table.n_states[k]]
            elif table.n_states[k] > 0:
                total += math.log(model.marginal[k])
    return total


@kernel
def _information_ceiling(model: Model, table: Table, n_used: int) -> float:
    """sum_j min{ E_j, N_j H_j(C), N_j H_j(X) } >= N I(C; X | W') for every superset W'."""
    counts, n_states, n_classes = table
    total = 0.0
    for j in range(n_used):
        n_j = margins(table, j)
        spread, class_entropy, child_entropy = 0.0, model.cell[n_j], model.cell[n_j]
        for c in range(model.s):
            class_entropy -= model.cell[n_classes[c]]
        for k in range(model.r):
            child_entropy -= model.cell[n_states[k]]
            for c in range(model.s):
                n = counts[j, k, c]
                if n > 0:
                    spread += n * math.log((n + n_j - n_states[k] - n_classes[c] + n) / n)
        total += min(spread, class_entropy, child_entropy)
    return total


@kernel
def _approximated_ceiling(model: Model, table: Table, n_used: int) -> float:
    """b0 sum_jck (N_jk - N_jck) log(r + (1 - b0) (N_jc - N_jck) / N'); no bound unless 0 < b0 < 1."""
    b0 = -model.beta
    if not 0.0 < b0 < 1.0:
        return np.inf
    counts, n_states, n_classes = table
    total = 0.0
    for j in range(n_used):
        margins(table, j)
        for c in range(model.s):
            for k in range(model.r):
                n = counts[j, k, c]
                above = math.log(model.r + (1.0 - b0) * (n_classes[c] - n) / model.pseudo_count)
                total += (n_states[k] - n) * above
    return b0 * total
