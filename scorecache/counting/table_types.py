"""The argument groups of the family kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CELLS, DIRICHLET, SPARSE_DIRICHLET, PRIOR_NETWORK, FACTORISED, APPROXIMATED = range(6)
"""How a family table is scored: one-count terms; BDeu; BDs; BDe; fCLL; aCLL."""


class Model(NamedTuple):
    """One child under one score.

    `method` is one of the constants above; `r` and `s` count the states of the child and of the class (1: the score is
    blind to it). `cell` and `parent` are one-count terms (n log n for fCLL), `ess` the prior rows, `marginal` the
    prior network's p(k) of the child, `weight` and `spread` the coefficients of the class-blind fCLL and aCLL
    (w = weight N_jk + spread N_j), `beta` and `pseudo_count` those of aCLL.
    """

    method: int
    r: int
    s: int
    cell: Floats
    parent: Floats
    constant: float
    ess: float
    marginal: Floats
    weight: float
    spread: float
    beta: float
    pseudo_count: float


class Search(NamedTuple):
    """The candidate parents of the child, by rising arity, and what their sets cost.

    `plain_limit` and `class_limit` bound the number of free parents without and with the class (-1: never).
    """

    codes: NDArray[np.uint16]
    weights: Ints
    outcome: Ints
    root: NDArray[np.int32]
    n_root: int
    root_prior: Floats
    arities: Ints
    marginals: Floats
    marginal_start: Ints
    kinds: Ints
    step: Ints
    q: Floats
    penalty: Floats
    binom: Ints
    plain_limit: int
    class_limit: int
    dense_size: int
    hash_size: int


class Bounds(NamedTuple):
    """Families are pruned if `prune`, unless they are within `gap` of a better subset.

    Superset bounds, where `on`: `top - penalty[shape]` and the sum of one-count terms over the cells (empty: none).
    """

    prune: bool
    gap: float
    on: bool
    top: float
    penalty: Floats
    terms: Floats


class Table(NamedTuple):
    """A family table, `counts[j, k, c]` of parent configuration j, child state k and class c; room for N_jk and N_jc.

    Functions take it with the number of configurations in use, the first ones.
    """

    counts: Ints
    n_states: Ints
    n_classes: Ints
