"""The LP over some families and some cuts, in HiGHS.

    min sum cost(v, W) x(v, W),   sum_W x(v, W) = 1 for every v,   sum a x >= rho for every cut,   x >= 0

A cut stands in the form with fewer entries: sum a x >= rho or, since the families of v sum to 1,
sum (amax - a) x <= sum_v amax(v) - rho. Its multiplier is the absolute value of the dual either way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.limits import Clock
from exactbnc.solvers.bounds.cuts.cluster import Bools, Floats
from exactbnc.solvers.bounds.cuts.facets import coefficient_table
from exactbnc.solvers.bounds.cuts.pool import Cuts, cut_value, joined, misses, no_cuts, right_hand_sides
from exactbnc.solvers.costs.bits import has
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, Words
from scorecache.system.compiled import kernel, trailing_zeros

DUAL_TOL = 1e-7
"""HiGHS's tolerance on reduced costs, in score units."""
LONGEST_RUN = 1e9
"""Seconds; HiGHS takes no infinite limit."""


class Solved(NamedTuple):
    """x of the LP's families, which of them are at 0 and may leave, and multipliers of its cuts."""

    x: Floats
    is_idle: Bools
    multipliers: Floats


class ColumnLP:
    """The LP over some families and cuts, in HiGHS. Row v is the convexity of v, row n_vars + i is cut i."""

    def __init__(self, table: CostTable, families: Ints) -> None:
        import highspy

        self.table = table
        self.families = np.zeros(0, dtype=np.int64)
        self.cuts = no_cuts(table.n_words)
        self.is_complement = np.zeros(0, dtype=np.bool_)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex"), ("simplex_strategy", 1),
        ):  # fmt: skip
            self._highs.setOptionValue(name, value)
        ones, none = np.ones(table.n_vars), np.zeros(0)
        start = np.zeros(table.n_vars, dtype=np.int32)
        self._highs.addRows(table.n_vars, ones, ones, 0, start, none.astype(np.int32), none)
        self.add_families(families)

    def add_families(self, families: Ints) -> None:
        """More columns."""
        if not len(families):
            return
        table = self.table
        start, rows, values = _columns(
            table.masks, table.child, families, self.cuts, self.is_complement, coefficient_table()
        )
        n = len(families)
        cost = table.cost[families] * table.unit
        self._highs.addCols(n, cost, np.zeros(n), np.full(n, np.inf), len(rows), start[:-1], rows, values)
        self.families = np.concatenate([self.families, families])

    def drop_families(self, which: Bools) -> None:
        """Fewer columns; the marks are in the order of `families`."""
        if not which.any():
            return
        columns = np.flatnonzero(which).astype(np.int32)
        self._highs.deleteCols(len(columns), columns)
        self.families = self.families[~which]

    def add_cuts(self, cuts: Cuts) -> None:
        """More rows, each in the form with fewer entries."""
        if not cuts.n_cuts:
            return
        table = self.table
        rho = right_hand_sides(cuts)
        start, columns, values, is_complement, most = _rows(
            table.masks, table.child, self.families, cuts, coefficient_table()
        )
        n = cuts.n_cuts
        lower = np.where(is_complement, -np.inf, rho)
        upper = np.where(is_complement, most - rho, np.inf)
        self._highs.addRows(n, lower, upper, len(columns), start[:-1], columns, values)
        self.cuts = joined(self.cuts, cuts)
        self.is_complement = np.concatenate([self.is_complement, is_complement])

    def drop_cuts(self, which: Bools) -> None:
        """Fewer rows; the marks are in the order of `cuts`."""
        if not which.any():
            return
        rows = (self.table.n_vars + np.flatnonzero(which)).astype(np.int32)
        self._highs.deleteRows(len(rows), rows)
        self.cuts = self.cuts.chosen(~which)
        self.is_complement = self.is_complement[~which]

    def solve(self, clock: Clock) -> Solved | None:
        """None if there is no optimum: HiGHS failed, or the clock says that the run has to stop."""

        def stop_if_asked(event: Any) -> None:
            if clock.stop_reason() is not None:
                event.interrupt()

        left = clock.seconds_left()
        self._highs.setOptionValue("time_limit", min(self._highs.getRunTime() + left, LONGEST_RUN))
        self._highs.cbSimplexInterrupt += stop_if_asked  # Python also hears Ctrl-C there
        self._highs.run()
        self._highs.cbSimplexInterrupt -= stop_if_asked
        if self._highs.getModelStatus() != self._optimal:
            return None
        solution = self._highs.getSolution()
        x, reduced = np.array(solution.col_value), np.array(solution.col_dual)
        dual = np.array(solution.row_dual)[self.table.n_vars :]
        return Solved(x, (x <= 0.0) & (reduced > DUAL_TOL), np.maximum(0.0, np.where(self.is_complement, -dual, dual)))


@kernel
def _largest(cuts: Cuts, q: int, v: int, facets: NDArray[np.int8]) -> int:
    """amax of member v: its largest coefficient in cut q."""
    if cuts.facet[q] < 0:
        return 1
    largest = 0
    for c in range(4):
        if cuts.corners[q, c] == v:
            for inside in range(16):
                largest = max(largest, int(facets[cuts.facet[q], c, inside]))
    return largest


@kernel
def _rows(
    masks: Words, child: Ints, families: Ints, cuts: Cuts, facets: NDArray[np.int8]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, Bools, Ints]:
    """The cuts over these families in compressed rows, which of them are complements, and sum_v amax(v)."""
    cut_masks, cut_k = cuts.masks, cuts.k
    n_cuts, n_columns, n_vars = len(cut_k), len(families), child[-1] + 1
    is_complement = np.zeros(n_cuts, dtype=np.bool_)
    most = np.zeros(n_cuts, dtype=np.int64)
    start = np.zeros(n_cuts + 1, dtype=np.int32)
    columns = np.empty(1024, dtype=np.int32)
    values = np.empty(1024)
    # the columns child by child, as a cut has few members
    first = np.zeros(n_vars + 1, dtype=np.int64)
    for i in range(n_columns):
        first[child[families[i]] + 1] += 1
    for v in range(n_vars):
        first[v + 1] += first[v]
    own, n_placed = np.empty(n_columns, dtype=np.int64), first[:-1].copy()
    for i in range(n_columns):
        v = child[families[i]]
        own[n_placed[v]] = i
        n_placed[v] += 1
    listed, direct, complement = np.empty(n_columns, dtype=np.int32), np.empty(n_columns), np.empty(n_columns)
    n = 0
    for q in range(n_cuts):
        # a(v, W) and amax(v) - a(v, W) of the members' families, and how many of each are not 0
        n_listed, n_direct, n_complement, is_cluster = 0, 0, 0, cuts.facet[q] < 0
        for w in range(masks.shape[1]):
            members = cut_masks[q, w]
            while members:
                v = 64 * w + trailing_zeros(members)
                members &= members - np.uint64(1)
                largest = _largest(cuts, q, v, facets)
                most[q] += largest
                for place in range(first[v], first[v + 1]):
                    f = families[own[place]]
                    a = misses(masks, f, cut_masks, cut_k, q) if is_cluster else cut_value(masks, f, v, cuts, q, facets)
                    listed[n_listed], direct[n_listed], complement[n_listed] = own[place], a, largest - a
                    n_listed += 1
                    n_direct += a > 0
                    n_complement += a < largest
        # the entries that are not 0, in the form that has fewer
        is_complement[q] = n_complement < n_direct
        entries = complement if is_complement[q] else direct
        if n + n_listed > len(columns):
            more_columns = np.empty(2 * (n + n_listed), dtype=np.int32)
            more_values = np.empty(2 * (n + n_listed))
            more_columns[:n], more_values[:n] = columns[:n], values[:n]
            columns, values = more_columns, more_values
        for i in range(n_listed):
            if entries[i] > 0:
                columns[n], values[n] = listed[i], entries[i]
                n += 1
        start[q + 1] = n
    return start, columns[:n].copy(), values[:n].copy(), is_complement, most


@kernel
def _columns(
    masks: Words, child: Ints, families: Ints, cuts: Cuts, is_complement: Bools, facets: NDArray[np.int8]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """These families as compressed columns: the convexity row of the child, then the cuts."""
    # room: one entry for the convexity row, and one for every cut that the child is in
    cut_masks, cut_k, cut_facet = cuts.masks, cuts.k, cuts.facet
    n_vars = child[-1] + 1
    n_entries = len(families)
    n_cuts_of = np.zeros(n_vars, dtype=np.int64)
    for v in range(n_vars):
        for q in range(len(cut_k)):
            n_cuts_of[v] += has(cut_masks, q, v)
    for family in families:
        n_entries += n_cuts_of[child[family]]
    start = np.zeros(len(families) + 1, dtype=np.int32)
    rows = np.empty(n_entries, dtype=np.int32)
    values = np.empty(n_entries)
    n = 0
    for i in range(len(families)):
        # row v, then a(v, W) in the rows of the cuts, or amax(v) - a(v, W) in those of complements
        v = child[families[i]]
        rows[n], values[n] = v, 1.0
        n += 1
        for q in range(len(cut_k)):
            if not has(cut_masks, q, v):
                continue
            if cut_facet[q] < 0:
                value = misses(masks, families[i], cut_masks, cut_k, q)
                value = 1 - value if is_complement[q] else value
            else:
                value = cut_value(masks, families[i], v, cuts, q, facets)
                value = _largest(cuts, q, v, facets) - value if is_complement[q] else value
            if value > 0:
                rows[n], values[n] = n_vars + q, value
                n += 1
        start[i + 1] = n
    return start, rows[:n].copy(), values[:n].copy()
