"""Branches on families and on arcs: what child v has, or has not.

    a family W:   x(v, W) = 1   or   x(v, W) = 0
    an arc u -> v:   y(u, v) = sum over W with u in W' of x(v, W) = 1   or   = 0

One side excludes some families of v, the other side the rest of them. A family that is excluded hardly moves the bound
where many are alike, an arc moves it on both sides; where few families count it is the other way round. Of each kind
those are compared that gained most before, per unit of x or y; those that were seldom tried are tried by short LPs.
"""

from __future__ import annotations

import numpy as np
from pyscipopt import Branchrule
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from exactbnc.solvers.bounds.cuts.cluster import Bools
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.ilp.model.context import Context, guarded
from exactbnc.solvers.ilp.model.model import Floats

NAME = "arc"
PRIORITY = 1_000_000
"""Above SCIP's own rules."""
FRACTIONAL = 1e-4
MOST_TRIED = 6
"""Families, and arcs, that are compared at a node."""
RELIABLE = 4
"""What was tried so often is not tried again."""
ITERATIONS = 30
"""Of a trial's LP."""
LEAST_GAIN = 1e-6
ABSENT, PRESENT = 0, 1
"""The sides."""


class ArcBranching(Branchrule):
    """Keeps the gains per unit of all arcs, u n + v, and then of all families, by side."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.n_arcs = context.columns.n_vars**2
        n = self.n_arcs + context.columns.n_columns
        self.gain = np.zeros((2, n))
        self.n_tried = np.zeros(n, dtype=np.int64)

    @guarded(SCIP_RESULT.DIDNOTRUN)
    def branchexeclp(self, allowaddcons: bool) -> dict[str, int]:
        """Branch on what gains most on both sides, by the product."""
        values = self.context.lp_values()
        share = np.concatenate([self.context.columns.arcs(values).ravel(), values])
        open_ones = np.flatnonzero((share > FRACTIONAL) & (share < 1.0 - FRACTIONAL))
        if not len(open_ones):
            return {"result": SCIP_RESULT.DIDNOTRUN}
        is_possible = self.context.is_possible()
        best, most = -1, -1.0
        for own in (open_ones[open_ones < self.n_arcs], open_ones[open_ones >= self.n_arcs]):
            expected = self._expected(own, share[own])
            for i in np.argsort(-expected, kind="stable")[:MOST_TRIED].tolist():
                which, product = int(own[i]), float(expected[i])
                if self.n_tried[which] < RELIABLE:
                    gains = [self._try(side, which, float(share[which]), is_possible) for side in (ABSENT, PRESENT)]
                    if None in gains:  # nothing better is on that side
                        return self._exclude(self._excluded(1 - gains.index(None), which, is_possible))
                    self.n_tried[which] += 1
                    product = float(np.prod([max(gain or 0.0, LEAST_GAIN) for gain in gains]))
                if product > most:
                    best, most = which, product
        estimate = self.model.getLocalEstimate()
        for side in (ABSENT, PRESENT):
            child = self.model.createChild(0.0, estimate)
            for column in self._excluded(side, best, is_possible):
                self.model.chgVarUbNode(child, self.context.transformed[column], 0.0)
        return {"result": SCIP_RESULT.BRANCHED}

    def branchexecps(self, allowaddcons: bool) -> dict[str, int]:
        """Without an LP solution SCIP's rules branch."""
        return {"result": SCIP_RESULT.DIDNOTRUN}

    def _expected(self, which: Ints, share: Floats) -> Floats:
        """The product of what both sides are expected to gain; what was never tried counts as the mean of its kind."""
        product = np.ones(len(which))
        if not len(which):
            return product
        n_tried = self.n_tried[which]
        kind = slice(None, self.n_arcs) if which[0] < self.n_arcs else slice(self.n_arcs, None)
        for side, distance in ((ABSENT, share), (PRESENT, 1.0 - share)):
            known = self.n_tried[kind] > 0
            mean = float((self.gain[side, kind][known] / self.n_tried[kind][known]).mean()) if known.any() else 1.0
            per_unit = np.where(n_tried > 0, self.gain[side, which] / np.maximum(n_tried, 1), mean)
            product *= np.maximum(per_unit * distance, LEAST_GAIN)
        return product

    def _excluded(self, side: int, which: int, is_possible: Bools) -> list[int]:
        """The possible families that a side excludes."""
        columns = self.context.columns
        if which < self.n_arcs:
            u, v = divmod(which, columns.n_vars)
            own = np.array(columns.of(v))
            is_present = columns.holds(u, own)
        else:
            own = np.array(columns.of(int(columns.child[which - self.n_arcs])))
            is_present = own == which - self.n_arcs
        return [int(column) for column in own[is_possible[own] & (is_present if side == ABSENT else ~is_present)]]

    def _try(self, side: int, which: int, share: float, is_possible: Bools) -> float | None:
        """By how much a short LP rises on one side; None if nothing better is there."""
        before = self.model.getLPObjVal()
        self.model.startProbing()
        try:
            self.model.newProbingNode()
            for column in self._excluded(side, which, is_possible):
                self.model.chgVarUbProbing(self.context.transformed[column], 0.0)
            is_error, is_cut_off = self.model.solveProbingLP(ITERATIONS)
            after = self.model.getLPObjVal() if not is_error and not is_cut_off else before
        finally:
            self.model.endProbing()
        if is_cut_off and not is_error:
            return None
        gain = max(0.0, float(after - before))
        self.gain[side, which] += gain / (share if side == ABSENT else 1.0 - share)
        return gain

    def _exclude(self, columns: list[int]) -> dict[str, int]:
        """Exclude families at this node, without a branch."""
        for column in columns:
            is_infeasible, _ = self.model.tightenVarUb(self.context.transformed[column], 0.0)
            if is_infeasible:
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.REDUCEDDOM}


def include(context: Context) -> None:
    """Add the rule to the model."""
    context.model.includeBranchrule(
        ArcBranching(context), NAME, "families and arcs", priority=PRIORITY, maxdepth=-1, maxbounddist=1.0
    )
