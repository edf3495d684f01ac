"""Better multipliers without an LP: block-coordinate ascent on the smoothed dual of the cluster relaxation.

At a temperature T the least reduced cost of a child is replaced by a soft minimum,

    max over lambda >= 0 of  sum_C lambda_C k_C - T sum_v log sum_W exp(-reduced(v, W) / T)

one multiplier at a time: the best change of lambda_C is T log z with  sum_{v in C} B_v z / (A_v + B_v z) = k, where A_v
and B_v are the weights exp(-reduced / T) of the families of v that hit C and that miss it (Meshi, Jaakkola & Globerson
2012, "Convergence rate analysis of MAP coordinate minimization algorithms"; clusters and their dual: Jaakkola et al.
2010). T falls from round to round. In between, clusters that the soft minimum's point violates join, and dual ascent
continues from the best multipliers. Multipliers are rounded down to whole numbers and their bounds taken in exact
arithmetic; the best are kept, so what happens here can only fail to raise the bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.solver import Run
from exactbnc.run.worker import Worker
from exactbnc.solvers.bounds.ascent._kernels import ascend_from
from exactbnc.solvers.bounds.ascent.layout import MEMBERS, RAISED, arrange, make_workspace
from exactbnc.solvers.bounds.cuts.cluster import Bools, Floats
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, cluster_cuts
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
from exactbnc.solvers.costs.bits import members_of
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, Words
from scorecache.system.compiled import kernel, popcount

Flags = NDArray[np.uint8]

FIRST_TEMPERATURE = 1 / 200
"""As a share of the gap; at higher ones nothing is gained."""
COOLING = 0.95
LAST_TEMPERATURE = 1 / 60
"""As a share of the first one."""
REHEATING, QUENCHING = 1.5, 0.4
"""After a collapse; quenching before the first success: the incumbent is poor and the first temperature too high."""
COLLAPSE = 0.3
"""A bound that is this share of the gap below the best one is given up."""
ACTIVE = 30.0
"""Families with a reduced cost of more than this multiple of T weigh nothing."""
N_SWEEPS = 15
MOST_ROUNDS = 150
PATIENCE, LEAST_SHARE = 15, 0.01
"""The end: less than LEAST_SHARE of the gap closed in PATIENCE rounds."""
ASCENT_EVERY, TIDY_EVERY = 3, 5
MOST_ASCENT_VARIABLES = 128
"""With more of them a dual ascent takes seconds."""
TINY = 1e-6
"""Multipliers of less than this share of the incumbent's cost leave."""
LEAST_VALUE = 1e-3
"""What a family needs to be in the support of a point."""
SEPARATORS = Separators(use_facets=False, max_clusters=100, max_exact_clusters=50, exact_nodes=5_000)
LARGEST_STEP = 20.0
"""No step multiplies weights by more: steps on other clusters come in between."""
SMALLEST_STEP = 1e-20
LARGEST_WEIGHT = 1e100
N_NEWTON = 30
NEWTON_TOL = 1e-6
SMALL_STEP = 1e-3
"""Sweeps end when no weight changed by more than this share."""


def solve_root_by_ascent(
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
        raise ValueError(f"block-coordinate ascent takes clusters, got {np.sum(cuts.facet != CLUSTER)} facets")
    root = RootState(table, incumbent, settings, run, hooks)
    ascent = _BlockAscent(root, run.seed)
    ascent.ascend(cuts, multipliers, most_rounds)
    return root.result(ascent.worth_keeping())


class _BlockAscent:
    """Clusters in use, as `rows` of all cuts at the root, and their multipliers before rounding."""

    def __init__(self, root: RootState, seed: int) -> None:
        self.root = root
        self.random = np.random.default_rng(seed)
        self.row_of: dict[tuple[int, bytes], int] = {}
        self.rows = np.zeros(0, dtype=np.int64)
        self.values = np.zeros(0)
        self.reduced = np.zeros(0, dtype=np.int64)  # of the families that are left
        self.first_bound = self.root.bound

    def ascend(self, cuts: Cuts, multipliers: Ints, most_rounds: int) -> None:
        """Rounds: bound and fix, sweep, separate, cool; every few rounds a dual ascent and a network."""
        root = self.root
        self._join(cuts, multipliers.astype(np.float64))
        self.first_bound = self._bound()
        temperature = FIRST_TEMPERATURE * max(0, root.gap)
        coldest = LAST_TEMPERATURE * temperature
        gaps, has_helped = [root.gap], False
        while not root.is_closed and temperature > 0.0 and root.n_rounds < most_rounds and not _is_flat(gaps):
            root.run.check()
            point = self._sweep(temperature)
            root.n_rounds += 1
            if root.n_rounds % TIDY_EVERY == 0:
                root.look_for_network(*_support(point))
                self._drop_tiny()
            best = root.bound
            bound = self._bound()
            has_helped |= bound > best
            if bound < root.bound - COLLAPSE * root.gap:
                self._restore()
                self._bound()
                temperature *= REHEATING if has_helped else QUENCHING
            elif not root.is_closed:
                found = separate(root.point(*_support(point)), root.table.n_words, SEPARATORS, root.run)
                self._join(found, np.zeros(found.n_cuts))
            if root.n_rounds % ASCENT_EVERY == 0 and root.table.n_vars <= MOST_ASCENT_VARIABLES:
                self._dual_ascent()
            if root.hooks.on_round is not None:
                root.hooks.on_round(root.bound, root.incumbent)
            gaps.append(root.gap)
            temperature = max(COOLING * temperature, coldest)

    def _join(self, cuts: Cuts, values: Floats) -> None:
        """Take up clusters, or add to the multipliers of those that are there."""
        rows = np.zeros(cuts.n_cuts, dtype=np.int64)
        new: list[int] = []
        for q in range(cuts.n_cuts):
            key = (int(cuts.k[q]), cuts.masks[q].tobytes())
            if key not in self.row_of:
                self.row_of[key] = self.root.cuts.n_cuts + len(new)
                new.append(q)
            rows[q] = self.row_of[key]
        self.root.add_cuts(cuts.chosen(np.array(new, dtype=np.int64)))
        everything = self._spread()
        np.add.at(everything, rows, values)
        self.rows = np.union1d(self.rows, rows)
        self.values = everything[self.rows]

    def _spread(self) -> Floats:
        """Multipliers on all of the state's cuts."""
        everything = np.zeros(self.root.cuts.n_cuts)
        everything[self.rows] = self.values
        return everything

    def _drop_tiny(self) -> None:
        is_kept = self.values >= TINY * self.root.incumbent.cost
        self.rows, self.values = self.rows[is_kept], self.values[is_kept]

    def _restore(self) -> None:
        """Go back to the best multipliers; all clusters in use stay so."""
        best = self.root.multipliers
        self.rows = np.union1d(self.rows, np.flatnonzero(best))
        self.values = best[self.rows].astype(np.float64)

    def _bound(self) -> int:
        """The bound of the multipliers, rounded down; families go by it."""
        root = self.root
        everything = self._spread()
        everything *= min(1.0, LARGEST_SUM / max(1.0, float(root.largest_sums @ everything)))
        reduced = root.take(np.floor(everything).astype(np.int64))
        of_family = np.zeros(root.table.n_families, dtype=np.int64)
        of_family[root.live_index] = reduced.cost
        root.fix([reduced])
        self.reduced = of_family[root.live_index]
        return reduced.bound

    def _sweep(self, temperature: float) -> Floats:
        """Set the multipliers to the best ones at a temperature; the soft minimum's point over all families."""
        root = self.root
        cuts = root.cuts.chosen(self.rows)
        active = np.flatnonzero(self.reduced <= ACTIVE * temperature)
        child = root.live.child[active]
        child_start = np.searchsorted(child, np.arange(root.table.n_vars + 1))
        weight = np.exp(-self.reduced[active] / temperature)
        pairs = pairs_of(child_start, np.ascontiguousarray(root.live.masks[active]), cuts)
        values = self.values.copy()
        sweep(child_start, cuts.k, pairs, temperature, N_SWEEPS, values, weight)
        self.values = values
        share = weight / np.add.reduceat(weight, child_start[:-1])[child]
        share[share < LEAST_VALUE] = 0.0
        share /= np.add.reduceat(share, child_start[:-1])[child]
        point = np.zeros(root.table.n_families)
        point[root.live_index[active]] = share
        root.x[:] = point
        return point

    def _dual_ascent(self) -> None:
        """Dual ascent from the best multipliers, which become the current ones."""
        root = self.root
        if root.is_closed:
            return
        root.run.check()
        arranged = arrange(root.live, np.ones(root.live.n_families, dtype=np.bool_), root.cuts, root.multipliers)
        workspace = make_workspace(arranged)
        nothing = np.zeros((1, root.table.n_words), dtype=np.int64)
        order = self.random.permutation(root.table.n_vars)
        with Worker(root.run, workspace.stop) as worker:
            _, n_raises = worker(lambda: ascend_from(arranged, workspace, nothing, root.gap, order))
        if n_raises == 0:
            return
        raises = workspace.raises[:n_raises]
        self._restore()
        self._join(_clusters(raises[:, MEMBERS:]), raises[:, RAISED].astype(np.float64))
        self._bound()

    def worth_keeping(self) -> Bools:
        """Multipliers are left out only where that keeps the given bound."""
        root = self.root
        if root.bound - self.first_bound <= SMALL_SHARE * root.gap:
            return np.asarray(root.multipliers > 0)
        return root.worth_keeping()


def _clusters(masks: Ints) -> Cuts:
    words: Words = np.ascontiguousarray(masks).view(np.uint64)
    return cluster_cuts(words, 1)


def _support(point: Floats) -> tuple[Ints, Floats]:
    families = np.flatnonzero(point)
    return families, point[families]


def _is_flat(gaps: list[int]) -> bool:
    """Did the last rounds, one gap each, close too little of it?"""
    return len(gaps) > PATIENCE and gaps[-1 - PATIENCE] - gaps[-1] < LEAST_SHARE * gaps[-1]


class Pairs(NamedTuple):
    """Pairs of a cluster and a member: `members[start[q]:start[q + 1]]` are the members of cluster q.

    Pair p has one flag for every family of its member, from `misses[flag_start[p]]` on: is it missed by the family?
    """

    start: Ints
    members: Ints
    flag_start: Ints
    misses: Flags


def pairs_of(child_start: Ints, families: Words, cuts: Cuts) -> Pairs:
    """The pairs of some clusters, with the flags of some families."""
    start, members = members_of(cuts.masks)
    return Pairs(start, members, *_missing_flags(child_start, families, cuts.masks, cuts.k, start, members))


@kernel
def _missing_flags(
    child_start: Ints, families: Words, clusters: Words, k: Ints, pair_start: Ints, members: Ints
) -> tuple[Ints, Flags]:
    """Per cluster and member v one flag for every family of v: does it have fewer than k members inside?"""
    flag_start = np.zeros(len(members) + 1, dtype=np.int64)
    for p in range(len(members)):
        flag_start[p + 1] = flag_start[p] + child_start[members[p] + 1] - child_start[members[p]]
    misses = np.zeros(flag_start[-1], dtype=np.uint8)
    for q in range(len(k)):
        for p in range(pair_start[q], pair_start[q + 1]):
            at = flag_start[p]
            for f in range(child_start[members[p]], child_start[members[p] + 1]):
                n_inside = np.int64(0)
                for w in range(families.shape[1]):
                    n_inside += np.int64(popcount(families[f, w] & clusters[q, w]))
                misses[at] = n_inside < k[q]
                at += 1
    return flag_start, misses


@kernel
def sweep(
    child_start: Ints, k: Ints, pairs: Pairs, temperature: float, n_sweeps: int, multipliers: Floats, weight: Floats
) -> None:
    """Sweeps over the clusters: set each multiplier to the best given the others, and change the weights with it."""
    pair_start, members, flag_start, misses = pairs
    hitting = np.empty(len(child_start))
    missing = np.empty(len(child_start))
    for _ in range(n_sweeps):
        largest = 0.0
        for q in range(len(k)):
            first, n_members = pair_start[q], pair_start[q + 1] - pair_start[q]
            # A_v and B_v: the weights of v's families that hit and that miss the cluster
            for i in range(n_members):
                v = members[first + i]
                total, missed = 0.0, 0.0
                at = flag_start[first + i]
                for f in range(child_start[v], child_start[v + 1]):
                    if misses[at]:
                        missed += weight[f]
                    else:
                        total += weight[f]
                    at += 1
                hitting[i], missing[i] = total, missed
            # z: the factor on the weights of families that miss cluster q; the multiplier stays >= 0
            lowest = max(np.exp(-multipliers[q] / temperature), SMALLEST_STEP)
            z = min(max(best_factor(hitting, missing, n_members, float(k[q])), lowest), LARGEST_STEP)
            if z == 1.0:
                continue
            multipliers[q] = max(0.0, multipliers[q] + temperature * np.log(z))  # weights follow below
            largest = max(largest, abs(z - 1.0))
            for i in range(n_members):
                v = members[first + i]
                after = hitting[i] + z * missing[i]
                # only ratios within a child matter
                scale = 1.0 if 1.0 / LARGEST_WEIGHT < after < LARGEST_WEIGHT else 1.0 / after
                at = flag_start[first + i]
                for f in range(child_start[v], child_start[v + 1]):
                    weight[f] *= scale * (z if misses[at] else 1.0)
                    at += 1
        if largest < SMALL_STEP:
            break


@kernel
def best_factor(hitting: Floats, missing: Floats, n_members: int, k: float) -> float:
    """z with  sum_v B_v z / (A_v + B_v z) = k  for A hitting and B missing; 0 or LARGEST_STEP where there is none.

    The sum is concave in z and Newton's method starts where it is below k, so it rises to the solution.
    """
    # the start: z k / n at the least A_v / B_v, where every term is at most k / n; members without A_v count 1 each
    z, n_able = np.inf, 0
    for i in range(n_members):
        if missing[i] > 0.0:
            if hitting[i] > 0.0:
                n_able += 1
                z = min(z, hitting[i] / missing[i])
            else:
                k -= 1.0  # misses the cluster whatever z is
    if k <= 0.0:
        return 0.0
    if n_able <= k:
        return LARGEST_STEP
    z *= k / n_members
    # Newton: the value and the slope of the sum less k
    for _ in range(N_NEWTON):
        value, slope = -k, 0.0
        for i in range(n_members):
            if missing[i] > 0.0 and hitting[i] > 0.0:
                total = hitting[i] + missing[i] * z
                value += missing[i] * z / total
                slope += missing[i] / total * (hitting[i] / total)
        if slope <= 0.0 or z > LARGEST_STEP:
            break
        step = -value / slope
        z += step
        if step <= NEWTON_TOL * z:
            break
    return z
