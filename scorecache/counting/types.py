"""The argument groups of the joint kernels: named tuples of arrays, so that a signature says what it reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


class Lattice(NamedTuple):
    """The level: all sets P + {x} of `size` variables out of `n_vars`, x below P; `order` tells their data numbers.

    Only x from `x_from` on are looked at. Nothing is kept for a next level if this one `is_top`.
    """

    size: int
    n_vars: int
    x_from: int
    is_top: bool
    binom: Ints
    step: Ints
    kinds: Ints
    arities: Ints
    order: Ints


class Terms(NamedTuple):
    """One-count terms in fixed point: an integer times `unit`, so that sums do not depend on their order.

    A joint table of shape h reads `table[cell_start[h] + n]`; counts from `cap` on are log (prior[h])_n, evaluated.
    """

    table: Ints
    unit: float
    cell_start: Ints
    marginal_start: int
    parent_start: Ints
    bound_start: Ints
    cap: int
    prior: Floats


class Values(NamedTuple):
    """What counting yields for joint sets of a level, those of ranks `first`, `first` + 1, and so on.

    `joint` is the sum of the cell terms, `bound[k]` that of the bound terms of a child of kind k (no rows: no bound),
    `parent_value[k]` the parents' part of the score of a child of kind k (one row where it does not depend on k).
    `counted` marks the sets that were counted. `counts` are what the bitmap kernels keep for the levels above; they
    stand in the columns of the level's counts from `counts_at` on.
    """

    first: int
    joint: Ints
    bound: Ints
    parent_value: Ints
    counted: NDArray[np.bool_]
    counts: Counts
    counts_at: int


class Rules(NamedTuple):
    """Scoring and pruning of families, indexed by the kind of the child and the shape of its parents.

    `pair_price` is the price of a free parameter where the pair rule is used, otherwise 0; `q` the product of arities.

    `has_charge` is false if every penalty and constant is 0, `restricted` if any variables may be the parents of any.
    """

    penalty: Floats
    constant: Floats
    bound_penalty: Floats
    bound_top: Floats
    is_allowed: NDArray[np.bool_]
    limits: Ints
    has_charge: bool
    restricted: bool
    pair_price: float
    q: Floats
    prune: bool
    gap: float


class Slab(NamedTuple):
    """What a level hands to the next one, for the joint sets of ranks `first`, `first` + 1, and so on.

    `best[i, s]` is about the family whose child is the i-th smallest variable of joint set s and whose parents are the
    other variables: the best score among it and the families with fewer of these parents, or +inf where the child may
    have neither these parents nor any superset. `entropy[i, s]` is N H(child | parents) for the pair rule (+inf:
    not known; no rows: the rule is off). `parent_value` and `counted` are those of `Values`.
    """

    first: int
    parent_value: Ints
    best: Floats
    entropy: Floats
    counted: NDArray[np.bool_]
