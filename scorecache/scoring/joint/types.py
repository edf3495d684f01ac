"""The argument groups of the joint kernels: named tuples of arrays, so that a signature says what it reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


class Lattice(NamedTuple):
    """The level: all sets P + {x} of `size` variables out of `n_vars`, x below P; `order` tells their data numbers."""

    size: int
    n_vars: int
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
    """What counting yields for the joint sets of a run of rows, the first of which has rank `first`.

    `joint` is the sum of the cell terms, `bound[k]` that of the bound terms of a child of kind k (no rows: no bound).
    """

    first: int
    joint: Ints
    bound: Ints


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


class State(NamedTuple):
    """What one level hands to the next.

    `parent_value[k, rank(W)]` is the parents' part of the score of a child of kind k (one row where it does not depend
    on k); `best` holds, for child c and parent set W, the best score among W and its subsets, or +inf where c may have
    neither W nor any superset of it. Both orders of the indices are kept, for runs over either. `entropy` holds
    N H(c | W) for the pair rule (+inf: not known; no rows: the rule is off). `counted` tells the joint sets of the
    level that have a parent value.
    """

    parent_value: Ints
    best_by_child: Floats
    best_by_set: Floats
    entropy: Floats
    counted: NDArray[np.bool_]
