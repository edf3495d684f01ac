"""What counting by labels and by nested tables share: where a piece begins, and room for its values."""

from __future__ import annotations

import numpy as np

from scorecache.counting.subsets import rank_without, sets_before, unrank
from scorecache.counting.types import Ints, Lattice, Rules, Slab, Terms, Values
from scorecache.system.compiled import kernel


@kernel
def first_row(row_from: int, lattice: Lattice) -> Ints:
    """The parents P of rank `row_from` in the level; none in level 1."""
    n_row = lattice.size - 1
    row = np.zeros(max(n_row, 1), np.int64)
    if n_row > 0:
        unrank(row_from, n_row, lattice.n_vars, lattice.binom, row)
    return row


@kernel
def new_values(
    row: Ints,
    row_to: int,
    x_from: int,
    parents_only: bool,
    lattice: Lattice,
    terms: Terms,
    rules: Rules,
    known: Slab,
    is_top: bool,
) -> Values:
    """Room for the sets P + {x} from the first `row` to `row_to`, x from `x_from` on, with nothing counted.

    With `parents_only` what the level has counted already, in `known`, is taken over.
    """
    n_row = lattice.size - 1
    first = rank_without(row, n_row, -1, -1, 1, lattice.binom) + x_from
    n_values = sets_before(row_to, n_row, lattice.n_vars, lattice.binom) - first
    # bounds serve the pruning of supersets: there are none at the top, and sets passed over have been pruned already
    n_bounds = len(terms.bound_start) if rules.prune and not is_top and not parents_only else 0
    n_stored = 0 if is_top else n_values
    parent_value = np.zeros((max(1, len(terms.parent_start)), n_stored), np.int64)
    counted = np.zeros(n_stored, np.bool_)
    if parents_only:
        for i in range(n_values):
            counted[i] = known.counted[first + i]
            for kind in range(parent_value.shape[0]):
                parent_value[kind, i] = known.parent_value[kind, first + i]
    joint, bound = np.zeros(n_values, np.int64), np.zeros((n_bounds, n_values), np.int64)
    return Values(first, joint, bound, parent_value, counted, np.empty((1, 0), np.int32), 0)


@kernel
def shape_of(row: Ints, lattice: Lattice) -> int:
    """The shape of the parents P, from which that of P + {x} is one step."""
    shape = 0
    for i in range(lattice.size - 1):
        shape = lattice.step[shape, lattice.kinds[row[i]]]
    return shape
