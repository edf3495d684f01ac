"""Joint sets counted by row labels: any arity; sets that no live family needs are not counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import family_needed, parents_needed
from scorecache.counting.label import count_cells, new_lookup, refine
from scorecache.counting.row_values import first_row, new_values, shape_of
from scorecache.counting.subsets import advance, rank_without, ranks_below
from scorecache.counting.terms import count_term
from scorecache.counting.types import Ints, Lattice, Rules, Slab, Terms, Values
from scorecache.system.compiled import kernel


class Labelled(NamedTuple):
    """Distinct rows: codes by variable, weights, and the labels that rows start from.

    `roots[0]` numbers the base configurations; `roots[1]`, where a marginal is asked for, those without the class.
    """

    codes: NDArray[np.uint16]
    weights: Ints
    roots: NDArray[np.int32]
    n_roots: Ints
    dense_size: int
    hash_size: int


@kernel
def label_values(
    row_from: int,
    row_to: int,
    x_from: int,
    parents_only: bool,
    labelled: Labelled,
    lattice: Lattice,
    terms: Terms,
    rules: Rules,
    known: Slab,
    is_top: bool,
) -> Values:
    """Count the joint sets of these rows that have a live family.

    `known` is the level below. With `parents_only` it is this level, scored already, and what is counted are the sets
    that were passed over but may still be the parents of some child.
    """
    # P, and room for the sums over the cells of P + {x}
    n_row, n_vars = lattice.size - 1, lattice.n_vars
    n_rows = labelled.codes.shape[1]
    n_roots = labelled.roots.shape[0]
    row = first_row(row_from, lattice)
    values = new_values(row, row_to, x_from, parents_only, lattice, terms, rules, known, is_top)
    first, joint, bound = values.first, values.joint, values.bound
    parent_value, counted = values.parent_value, values.counted
    n_parts, n_bounds = len(terms.parent_start), len(bound)
    at_below = np.zeros(n_row + 1, np.int64)
    members = np.empty(n_row + 2, np.int64)
    # labels[root, i] numbers the configurations of the base and row[i:] that occur
    labels = np.empty((n_roots, n_row + 1, n_rows), np.int32)
    n_labels = np.zeros((n_roots, n_row + 1), np.int64)
    for root in range(n_roots):
        for i in range(n_rows):
            labels[root, n_row, i] = labelled.roots[root, i]
        n_labels[root, n_row] = labelled.n_roots[root]
    lookup = new_lookup(labelled.dense_size, labelled.hash_size)
    refined = np.empty(n_rows, np.int32)
    counts = np.empty(max(labelled.dense_size, n_rows), np.int64)

    stale = n_row - 1
    for rank in range(row_from, row_to):
        if rank > row_from:
            stale = max(stale, advance(row, n_row))
        shape_p = shape_of(row, lattice)
        at = rank_without(row, n_row, -1, -1, 1, lattice.binom) - first
        ranks_below(row, n_row, lattice.binom, at_below)
        for x in range(x_from, row[0] if n_row > 0 else n_vars):
            if parents_only:
                needed = not counted[at + x] and parents_needed(lattice, row, x, known, members)
            else:
                needed = family_needed(lattice, row, x, rules, known, at_below)
            if not needed:
                continue
            # the labels of P, from the largest variable that the last P counted did not share
            if stale >= 0:
                for root in range(n_roots):
                    for i in range(stale, -1, -1):
                        n_labels[root, i] = refine(
                            labels[root, i + 1], n_labels[root, i + 1], labelled.codes[row[i]], lattice.arities[row[i]],
                            labels[root, i], lookup,
                        )  # fmt: skip
                stale = -1
            # the cells of P + {x}: without the class first (root 1), so that the counts of the whole set remain
            shape = lattice.step[shape_p, lattice.kinds[x]]
            value = 0
            n_counts = 0
            for root in range(n_roots - 1, -1, -1):
                n_counts = count_cells(
                    labels[root, 0], n_labels[root, 0], labelled.codes[x], lattice.arities[x], labelled.weights,
                    counts, refined, lookup,
                )  # fmt: skip
                start = terms.marginal_start if root == 1 else terms.cell_start[shape]
                value += _sum_terms(terms, start, shape, counts, n_counts)
            joint[at + x] = value
            if is_top:
                continue
            # the parents' part of its supersets, and the bound on their scores
            counted[at + x] = True
            if n_parts == 0:
                parent_value[0, at + x] = -value
            for kind in range(n_parts):
                parent_value[kind, at + x] = _sum_terms(terms, terms.parent_start[kind], shape, counts, n_counts)
            for kind in range(n_bounds):
                bound[kind, at + x] = _sum_terms(terms, terms.bound_start[kind], shape, counts, n_counts)
    return values


@kernel
def _sum_terms(terms: Terms, start: int, shape: int, counts: Ints, n_counts: int) -> int:
    table, cap, total = terms.table, terms.cap, 0
    for i in range(n_counts):
        total += table[start + counts[i]] if counts[i] < cap else count_term(terms, start, shape, counts[i])
    return total
