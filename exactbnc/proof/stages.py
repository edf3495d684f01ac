"""Stages of a proof: multipliers on cuts, the families that they leave, and how both are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.facets import coefficient_table
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, joined, reduced_costs
from exactbnc.solvers.bounds.root._highs import ColumnLP, Solved
from exactbnc.solvers.bounds.root.root import Root
from exactbnc.solvers.bounds.root.state import LARGEST_SUM, largest_sums
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable

LEAST_DROP = 0.02
"""A stage that drops less than this share of the families is the last."""

Bools = NDArray[np.bool_]
Stage = tuple[Cuts, Ints]


def root_stages(root: Root, upper: int, run: Run) -> tuple[list[Stage], Bools, bool]:
    """Cuts with multipliers, the families that they leave, and whether nothing can be cheaper."""
    table = root.table
    stages = [(root.cuts, root.multipliers)]
    is_alive, is_closed = dropped(table, np.ones(table.n_families, dtype=np.bool_), *stages[0], upper)
    rows = joined(root.cuts, root.lp_cuts)
    while not is_closed:
        left = table.without(~is_alive)
        lp = ColumnLP(left, np.arange(left.n_families))
        lp.add_cuts(rows)
        solved = lp.solve(run.clock)
        run.check()
        if solved is None:
            break
        multipliers = in_units(lp, solved)
        n_before = is_alive.sum()
        is_alive, is_closed = dropped(table, is_alive, rows, multipliers, upper)
        stages.append((rows, multipliers))
        if is_alive.sum() > (1 - LEAST_DROP) * n_before:
            break
    return stages, is_alive, is_closed


def in_units(lp: ColumnLP, solved: Solved) -> Ints:
    """The LP's multipliers as whole numbers, of which no sum leaves 64 bits."""
    multipliers = solved.multipliers / lp.table.unit
    multipliers *= min(1.0, LARGEST_SUM / max(1.0, float(largest_sums(lp.cuts) @ multipliers)))
    return np.rint(multipliers).astype(np.int64)


def dropped(table: CostTable, is_alive: Bools, cuts: Cuts, multipliers: Ints, upper: int) -> tuple[Bools, bool]:
    """Which families the multipliers leave, taken again and again, and whether they prove that nothing is cheaper."""
    is_alive = is_alive.copy()
    while True:
        left = table.without(~is_alive)
        reduced = reduced_costs(left, cuts, multipliers)
        stays = reduced.bound + reduced.cost < upper
        if reduced.bound >= upper or len(np.unique(left.child[stays])) < table.n_vars:
            return is_alive, True
        if stays.all():
            return is_alive, False
        is_alive[np.flatnonzero(is_alive)[~stays]] = False


def written(cuts: Cuts, multipliers: Ints, variables: Sequence[int]) -> list[list[Any]]:
    """A stage as the checker reads it: cuts with members, k, table, multiplier."""
    rows: list[list[Any]] = []
    for q in np.flatnonzero(multipliers).tolist():
        if cuts.facet[q] == CLUSTER:
            rows.append([members(cuts.masks[q], variables), int(cuts.k[q]), [], int(multipliers[q])])
        else:
            corners = [variables[v] for v in cuts.corners[q].tolist()]
            rows.append([corners, 0, coefficient_table()[cuts.facet[q]].tolist(), int(multipliers[q])])
    return rows


def members(words: NDArray[Any], variables: Sequence[int]) -> list[int]:
    """The variables of a set of the component."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return [variables[v] for v in np.flatnonzero(bits).tolist()]
