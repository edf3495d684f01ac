"""Scores of one family table: counts[j, k, c] for parent configuration j, child state k and class c.

Only configurations that occur are listed, so every N_j is positive. The formulas are those of `scorecache.scores`.
"""

from __future__ import annotations

import math

from scorecache.counting.table_types import (
    CELLS,
    DIRICHLET,
    FACTORISED,
    PRIOR_NETWORK,
    SPARSE_DIRICHLET,
    Floats,
    Ints,
    Model,
    Table,
)
from scorecache.scores.conditional import CLASS_BLIND, CLASS_GAIN
from scorecache.system.compiled import kernel


@kernel
def margins(table: Table, j: int) -> int:
    """Write the N_jk and the N_jc of a configuration to their places; its N_j."""
    counts, n_states, n_classes = table
    n_j = 0
    for c in range(len(n_classes)):
        n_classes[c] = 0
    for k in range(len(n_states)):
        n_states[k] = 0
        for c in range(len(n_classes)):
            n_states[k] += counts[j, k, c]
            n_classes[c] += counts[j, k, c]
        n_j += n_states[k]
    return n_j


@kernel
def plain_score(model: Model, table: Table, n_used: int, prior: Floats, q: float, q_observed: int) -> float:
    """The score of child and parents, the class summed out; `prior[j]` is the prior network's p(j)."""
    total = 0.0
    a = model.ess / (model.r * (q if model.method == DIRICHLET else q_observed))
    for j in range(n_used):
        n_j = margins(table, j)
        if n_j == 0:
            continue
        if model.method == CELLS or model.method == FACTORISED:
            total += model.weight * cells_part(model, table.n_states, n_j)
        elif model.method == DIRICHLET or model.method == SPARSE_DIRICHLET:
            total += dirichlet_part(table.n_states, n_j, a)
        elif model.method == PRIOR_NETWORK:
            total += prior_network_part(model, table.n_states, n_j, prior[j])
        else:
            total += approximated_part(model, table.n_states, n_j)
    return total


@kernel
def class_score(model: Model, table: Table, n_used: int) -> float:
    """The class-wise score (fCLL or aCLL) of a feature whose parents hold the class."""
    total = 0.0
    for j in range(n_used):
        n_j = margins(table, j)
        if n_j == 0:
            continue
        if model.method == FACTORISED:
            total += factorised_class_part(model, table, j, n_j)
        else:
            total += approximated_class_part(model, table, j)
    return total


@kernel
def cells_part(model: Model, n_states: Ints, n_j: int) -> float:
    """sum_k f(N_jk) + g(N_j)."""
    part = model.parent[n_j]
    for k in range(model.r):
        part += model.cell[n_states[k]]
    return part


@kernel
def dirichlet_part(n_states: Ints, n_j: int, a: float) -> float:
    """log [(a)_N_j1 ... (a)_N_jr / (r a)_N_j]."""
    r = len(n_states)
    part = math.lgamma(r * a) - math.lgamma(r * a + n_j)
    for k in range(r):
        if n_states[k] > 0:
            part += math.lgamma(a + n_states[k]) - math.lgamma(a)
    return part


@kernel
def prior_network_part(model: Model, n_states: Ints, n_j: int, p_j: float) -> float:
    """The Dirichlet part with a_jk = ESS p(j) p(k); states that never occur have p(k) = 0 and no cell."""
    a_j = model.ess * p_j
    part = math.lgamma(a_j) - math.lgamma(a_j + n_j)
    for k in range(model.r):
        if n_states[k] > 0:
            a = a_j * model.marginal[k]
            part += math.lgamma(a + n_states[k]) - math.lgamma(a)
    return part


@kernel
def factorised_class_part(model: Model, table: Table, j: int, n_j: int) -> float:
    """(a + b) sum N_ck log(N_ck / N_c) - b sum N_k log(N_k / N) of one configuration."""
    counts, n_states, n_classes = table
    joint, blind = 0.0, 0.0
    for k in range(model.r):
        for c in range(model.s):
            joint += model.cell[counts[j, k, c]]
        blind += model.cell[n_states[k]]
    for c in range(model.s):
        joint -= model.cell[n_classes[c]]
    blind -= model.cell[n_j]
    return (CLASS_BLIND + CLASS_GAIN) * joint - CLASS_GAIN * blind


@kernel
def approximated_part(model: Model, n_states: Ints, n_j: int) -> float:
    """sum_k w_k log(N+_k / N+), w_k = weight N_jk + spread N_j, N+_k = max(w_k, N')."""
    floored = 0.0
    for k in range(model.r):
        floored += max(model.weight * n_states[k] + model.spread * n_j, model.pseudo_count)
    part = 0.0
    for k in range(model.r):
        w = model.weight * n_states[k] + model.spread * n_j
        part += w * math.log(max(w, model.pseudo_count) / floored)
    return part


@kernel
def approximated_class_part(model: Model, table: Table, j: int) -> float:
    """sum_ck w_ck log(N+_ck / sum_k' N+_ck'), w_ck = N_ck + beta N_k."""
    counts, n_states, part = table.counts, table.n_states, 0.0
    for c in range(model.s):
        floored = 0.0
        for k in range(model.r):
            floored += max(counts[j, k, c] + model.beta * n_states[k], model.pseudo_count)
        for k in range(model.r):
            w = counts[j, k, c] + model.beta * n_states[k]
            part += w * math.log(max(w, model.pseudo_count) / floored)
    return part
