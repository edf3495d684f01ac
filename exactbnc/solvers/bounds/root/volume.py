"""Better multipliers without an LP: the volume algorithm on the cluster relaxation.

    max over lambda >= 0 of  sum_C lambda_C k_C + sum_v min_W [cost(v, W) - sum_C lambda_C a_C(v, W)]

The families x that attain the minima give a subgradient: how much each cut is violated by x. A step follows instead the
violations of a point, the moving average of all such x, from the best multipliers so far (Barahona & Anbil 2000, "The
volume algorithm: producing primal solutions with a subgradient method"). The average comes close to a solution of the
LP, so clusters that it violates join from round to round, and orders that follow it give networks.

A step looks at the families of small reduced cost only, a few hundredths of all; each round ends with a bound over all
of them. Multipliers are rounded down to whole numbers and bounds taken in exact arithmetic; the best are kept, so what
happens here can only fail to raise the bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Bools, Floats
from exactbnc.solvers.bounds.cuts.pool import (
    CLUSTER,
    Cuts,
    members_of,
    reduced_costs,
)
from exactbnc.solvers.bounds.root.separation import Separators, separate
from exactbnc.solvers.bounds.root.settings import DEFAULT_SETTINGS, RootSettings
from exactbnc.solvers.bounds.root.state import (
    LARGEST_SUM,
    NO_HOOKS,
    SMALL_SHARE,
    Hooks,
    Incumbent,
    RootResult,
    RootState,
)
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, Words

STEPS_PER_ROUND = 50
MOST_ROUNDS = 200
PATIENCE, LEAST_SHARE = 20, 0.05
"""The end: less than LEAST_SHARE of the gap closed in PATIENCE rounds."""
FIRST_STEP, ROUND_STEP, LEAST_STEP = 0.1, 0.02, 1e-4
"""Step sizes: the first one, the least at the beginning of a round, the least of all."""
LONGER, SHORTER, MOST_FAILURES = 1.1, 0.7, 8
"""The step size is changed by these factors after a success, and after so many failures."""
FIRST_WEIGHT, LEAST_WEIGHT, DECAY = 0.1, 0.02, 0.997
"""The largest weight of the new families in the average, which falls from step to step."""
ACTIVE_SHARE, LEAST_ACTIVE = 0.03, 100
"""The families that steps look at: this share, at least so many per variable."""
LEAST_VALUE, TRACE = 1e-3, 1e-5
"""What a family needs to be in the support of the point, and to stay in it at all."""
NETWORK_EVERY = 10
SEPARATORS = Separators(use_facets=False, max_clusters=100, max_exact_clusters=50, exact_nodes=5_000)


def solve_root_by_volume(
    table: CostTable,
    cuts: Cuts,
    multipliers: Ints,
    incumbent: Incumbent,
    run: Run,
    *,
    settings: RootSettings = DEFAULT_SETTINGS,
    most_rounds: int = MOST_ROUNDS,
    hooks: Hooks = NO_HOOKS,
) -> RootResult:
    """Raise the bound of `multipliers` on `cuts`, clusters all, as `solve_root` does but without an LP."""
    if not np.all(cuts.facet == CLUSTER):
        raise ValueError(f"the volume algorithm takes clusters, got {np.sum(cuts.facet != CLUSTER)} facets")
    root = RootState(table, incumbent, settings, run, hooks)
    volume = _Volume(root)
    volume.ascend(cuts, multipliers, most_rounds)
    return root.result(volume.worth_keeping())


class _Volume:
    """Clusters in use, as `rows` of all cuts at the root, multipliers before rounding, and the average of families."""

    def __init__(self, root: RootState) -> None:
        self.root = root
        self.row_of: dict[tuple[int, bytes], int] = {}
        self.rows = np.zeros(0, dtype=np.int64)
        self.values = np.zeros(0)
        self.point = np.zeros(root.table.n_families)
        self.activity = np.zeros(0)  # of the cuts in use, at the point
        self.reduced = np.zeros(0, dtype=np.int64)  # of the families that are left
        self.step_size, self.weight = FIRST_STEP, FIRST_WEIGHT
        self.first_bound = root.bound

    def ascend(self, cuts: Cuts, multipliers: Ints, most_rounds: int) -> None:
        """Rounds: steps on some families, a bound over all, separation; from time to time a network."""
        root = self.root
        self._join(cuts, multipliers.astype(np.float64))
        self.first_bound = self._bound()
        self.point[root.live_index[_first_of_each(root.live, self.reduced == 0)]] = 1.0
        self.activity = self._activity_of(self.rows)
        gaps = [root.gap]
        while not root.is_closed and root.n_rounds < most_rounds and not _is_flat(gaps):
            self._steps()
            root.n_rounds += 1
            families, x = self._support()
            if root.n_rounds % NETWORK_EVERY == 0:
                root.look_for_network(families, x)
            best = root.bound
            if self._bound() < best:
                self._restore()
            if not root.is_closed:
                self._drop_idle()
                found = separate(root.point(families, x), root.table.n_words, SEPARATORS, root.run)
                self._join(found, np.zeros(found.n_cuts))
            if root.hooks.on_round is not None:
                root.hooks.on_round(root.bound, root.incumbent)
            gaps.append(root.gap)

    def _steps(self) -> None:
        """Steps on the families of small reduced cost; the multipliers become the best ones for these."""
        root = self.root
        is_active = self._active()
        some, index = root.live.without(~is_active), root.live_index[is_active]
        cuts = root.cuts.chosen(self.rows)
        is_member = members_of(cuts.masks, root.table.n_vars).T
        k = cuts.k.astype(np.float64)
        x, activity, best_values = self.point[index], self.activity, self.values
        best = reduced_costs(some, cuts, np.floor(best_values).astype(np.int64)).bound
        n_failures = 0
        self.step_size = max(self.step_size, ROUND_STEP)
        for _ in range(STEPS_PER_ROUND):
            root.run.check()
            violation = k - activity
            violation[(best_values <= 0.0) & (violation < 0.0)] = 0.0
            square, gap = float(violation @ violation), root.least_useless - best
            if square == 0.0 or gap <= 0:
                break
            values = self._limited(np.maximum(0.0, best_values + self.step_size * gap / square * violation), cuts)
            reduced = reduced_costs(some, cuts, np.floor(values).astype(np.int64))
            chosen = _first_of_each(some, reduced.cost == 0)
            own = _is_held(some.masks[chosen], is_member, cuts).sum(axis=0).astype(np.float64)
            self.weight = max(LEAST_WEIGHT, DECAY * self.weight)
            weight = _best_weight(k, own, activity, self.weight)
            activity = (1.0 - weight) * activity + weight * own
            x *= 1.0 - weight
            x[chosen] += weight
            if reduced.bound > best:
                best, best_values, n_failures = reduced.bound, values, 0
                if (k - own) @ (k - activity) > 0.0:
                    self.step_size *= LONGER
            else:
                n_failures += 1
                if n_failures % MOST_FAILURES == 0:
                    self.step_size = max(SHORTER * self.step_size, LEAST_STEP)
        x[x < TRACE] = 0.0
        self.point[:] = 0.0
        self.point[index] = x
        self.activity, self.values = activity, best_values

    def _active(self) -> Bools:
        """Marks the families that are left and of small reduced cost, in the point, or in the best network."""
        root = self.root
        n_active = max(int(ACTIVE_SHARE * len(self.reduced)), LEAST_ACTIVE * root.table.n_vars)
        is_active = np.ones(len(self.reduced), dtype=np.bool_)
        if n_active < len(self.reduced):
            is_active = self.reduced <= np.partition(self.reduced, n_active)[n_active]
        is_active |= self.reduced == 0  # every child has such a family
        return is_active | (self.point[root.live_index] > LEAST_VALUE)

    def _join(self, cuts: Cuts, values: Floats) -> None:
        """Take up clusters, or add to the multipliers of those that are there."""
        root = self.root
        rows = np.zeros(cuts.n_cuts, dtype=np.int64)
        new: list[int] = []
        for q in range(cuts.n_cuts):
            key = (int(cuts.k[q]), cuts.masks[q].tobytes())
            if key not in self.row_of:
                self.row_of[key] = root.cuts.n_cuts + len(new)
                new.append(q)
            rows[q] = self.row_of[key]
        root.add_cuts(cuts.chosen(np.array(new, dtype=np.int64)))
        self._use(rows)
        place = np.zeros(root.cuts.n_cuts, dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        np.add.at(self.values, place[rows], values)

    def _use(self, rows: Ints) -> None:
        """More cuts of the root, with multipliers of 0, if they are not in use."""
        new = np.setdiff1d(rows, self.rows)
        self.rows = np.concatenate([self.rows, new])
        self.values = np.concatenate([self.values, np.zeros(len(new))])
        self.activity = np.concatenate([self.activity, self._activity_of(new)])

    def _activity_of(self, rows: Ints) -> Floats:
        """What the point adds up to in cuts of the root."""
        table, cuts = self.root.table, self.root.cuts.chosen(rows)
        support = np.flatnonzero(self.point)
        is_member = members_of(cuts.masks, table.n_vars).T[table.child[support]]
        return np.asarray(self.point[support] @ _is_held(table.masks[support], is_member, cuts))

    def _drop_idle(self) -> None:
        """Cuts without a multiplier that the point satisfies leave."""
        stays = (self.values >= 1.0) | (self.activity < self.root.cuts.k[self.rows])
        self.rows, self.values, self.activity = self.rows[stays], self.values[stays], self.activity[stays]

    def _restore(self) -> None:
        """Go back to the best multipliers; all clusters in use stay so, and the families of both are looked at."""
        root, reduced = self.root, self.reduced
        self._use(np.flatnonzero(root.multipliers))
        self.values = root.multipliers[self.rows].astype(np.float64)
        self._bound()
        if len(reduced) == len(self.reduced):
            self.reduced = np.minimum(reduced, self.reduced)

    def _bound(self) -> int:
        """The bound of the multipliers, rounded down; families go by it."""
        root = self.root
        everything = np.zeros(root.cuts.n_cuts)
        everything[self.rows] = self.values
        reduced = root.take(np.floor(everything).astype(np.int64))
        of_family = np.zeros(root.table.n_families, dtype=np.int64)
        of_family[root.live_index] = reduced.cost
        root.fix([reduced])
        self.reduced = of_family[root.live_index]
        return reduced.bound

    def _limited(self, values: Floats, cuts: Cuts) -> Floats:
        """Multipliers that cannot leave 64 bits."""
        return values * min(1.0, LARGEST_SUM / max(1.0, float(self.root.largest_sums[self.rows] @ values)))

    def _support(self) -> tuple[Ints, Floats]:
        """The families of the point that have more than a trace of it, and shares that add up to 1 per child."""
        root = self.root
        families = np.flatnonzero(self.point > LEAST_VALUE)
        x, child = self.point[families], root.table.child[families]
        root.x[:] = 0.0
        root.x[families] = x / np.bincount(child, weights=x, minlength=root.table.n_vars)[child]
        return families, root.x[families]

    def worth_keeping(self) -> Bools:
        """Multipliers are left out only where that keeps the given bound."""
        root = self.root
        if root.bound - self.first_bound <= SMALL_SHARE * root.gap:
            return np.asarray(root.multipliers > 0)
        return root.worth_keeping()


def _first_of_each(table: CostTable, is_free: Bools) -> Ints:
    """Per child its first free family."""
    free = np.flatnonzero(is_free)
    return free[np.unique(table.child[free], return_index=True)[1]]


def _is_held(masks: Words, is_member: NDArray[np.bool_], cuts: Cuts) -> Bools:
    """a(v, W) of families, a row each, in clusters; `is_member` marks the clusters of the family's child."""
    n_common = np.zeros((len(masks), cuts.n_cuts), dtype=np.int16)
    for w in range(masks.shape[1]):
        n_common += np.bitwise_count(masks[:, w, None] & cuts.masks[None, :, w])
    return is_member & (n_common < cuts.k)


def _best_weight(k: Floats, own: Floats, activity: Floats, most: float) -> float:
    """The weight of new families with which the average violates the cuts least, between a tenth of `most` and it."""
    change = own - activity
    square = float(change @ change)
    best = float((k - activity) @ change) / square if square > 0.0 else most
    return min(max(best, 0.1 * most), most)


def _is_flat(gaps: list[int]) -> bool:
    """Did the last rounds, one gap each, close too little of it?"""
    return len(gaps) > PATIENCE and gaps[-1 - PATIENCE] - gaps[-1] < LEAST_SHARE * gaps[-1]
