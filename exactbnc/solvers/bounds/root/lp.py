"""The root LP: cutting planes and column generation, with bounds that do not depend on the LP solver's rounding.

    min sum cost(v, W) x(v, W),   sum_W x(v, W) = 1 for every v,   sum a x >= rho for every cut,   x >= 0

HiGHS solves it over few families. Its duals, rounded to whole multipliers, bound and fix all families in exact
arithmetic (`exactbnc.solvers.bounds.root.state`); only these bounds count. Families of negative reduced cost enter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Bools, Floats
from exactbnc.solvers.bounds.cuts.pool import Cuts, Reduced
from exactbnc.solvers.bounds.root._highs import DUAL_TOL, ColumnLP, Solved
from exactbnc.solvers.bounds.root.separation import separate
from exactbnc.solvers.bounds.root.settings import DEFAULT_SETTINGS, LONG, RootSettings
from exactbnc.solvers.bounds.root.state import (
    LARGEST_SUM,
    NO_HOOKS,
    Hooks,
    Incumbent,
    RootResult,
    RootState,
    is_among_first,
)
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable

STEPS = (0.3, 0.6)
"""Where bounds are taken on the way from the best multipliers to the LP's: these jump, points between do not."""
PATIENCE = 10
"""Extra rounds before the bound has to leave the given one: the first LPs lack families."""
MANY_DEAD = 0.1
"""Fixed families leave the LP when they are this share of it."""
ANY_NUMBER = 1 << 62
"""Of clusters: facets are separated beside them however many there are."""


def solve_root(
    table: CostTable,
    cuts: Cuts,
    multipliers: Ints,
    incumbent: Incumbent,
    run: Run,
    *,
    settings: RootSettings = DEFAULT_SETTINGS,
    hooks: Hooks = NO_HOOKS,
) -> RootResult:
    """Raise the bound of `multipliers` on `cuts` until it is closed or the tail is flat; Stopped is raised earlier."""
    root = RootState(table, incumbent, settings, run, hooks)
    _rounds(root, cuts, multipliers)
    return root.result(root.worth_keeping())


def _rounds(root: RootState, cuts: Cuts, multipliers: Ints) -> None:
    """Bound and fix by the given multipliers, then rounds: solve, bound and fix, price, separate.

    When the tail is flat, or nothing is found, facets are separated in every round until it is flat again: greedy
    clusters may continue for long without moving a bound that facets move at once.
    """
    root.add_cuts(cuts)
    reduced = root.take(multipliers)
    if root.is_closed:
        return
    gaps, first_bound = [root.gap], root.bound
    lp = ColumnLP(root.table, _first_families(root, reduced))
    root.fix([reduced])
    lp.add_cuts(cuts)
    rows, n_slack = np.arange(cuts.n_cuts), np.zeros(cuts.n_cuts, dtype=np.int64)
    separators = root.settings.separators
    thorough = replace(separators, few_clusters=ANY_NUMBER)
    while not root.is_closed:
        root.run.check()
        solved = lp.solve(root.run.clock)
        root.run.check()
        if solved is None:
            break
        root.n_rounds, root.lp_cuts = root.n_rounds + 1, lp.cuts
        root.x[:] = 0.0
        root.x[lp.families] = solved.x
        root.look_for_network(lp.families, solved.x)
        entering = _price(root, lp.families, rows, solved.multipliers)
        _report(root, rows)
        gaps.append(root.gap)
        if root.is_closed:
            break
        root.run.check()
        if _is_flat(root, gaps, root.bound > first_bound):
            if separators == thorough:
                break
            separators, gaps = thorough, gaps[-1:]
        point = root.point(lp.families, solved.x)
        found = separate(point, root.table.n_words, separators, root.run)
        if not found.n_cuts and not len(entering) and separators != thorough:
            separators, gaps = thorough, gaps[-1:]
            found = separate(point, root.table.n_words, separators, root.run)
        if not found.n_cuts and not len(entering):
            break
        n_slack = np.where(solved.multipliers > 0.0, 0, n_slack + 1)
        is_old = n_slack > root.settings.slack_rounds
        lp.drop_cuts(is_old)
        lp.drop_families(_is_superfluous(root, lp.families, solved))
        lp.add_families(entering)
        lp.add_cuts(found)
        rows = np.concatenate([rows[~is_old], root.cuts.n_cuts + np.arange(found.n_cuts)])
        n_slack = np.concatenate([n_slack[~is_old], np.zeros(found.n_cuts, dtype=np.int64)])
        root.add_cuts(found)


def _report(root: RootState, rows: Ints) -> None:
    """Hand the cuts in use and the state of the round to the hooks."""
    if root.hooks.on_cuts is not None:
        is_used = root.multipliers > 0
        is_used[rows] = True
        root.hooks.on_cuts(root.cuts.chosen(is_used), root.multipliers[is_used])
    if root.hooks.on_round is not None:
        root.hooks.on_round(root.bound, root.incumbent)


def _price(root: RootState, families: Ints, rows: Ints, lp_multipliers: Floats) -> Ints:
    """Bound and fix by the LP's multipliers and on the way to them; the families that should enter.

    Those enter that are cheaper, at the LP's prices, than what the LP has of the same child; first the ones that
    are cheap at the best prices on the way.
    """
    table, best = root.table, root.multipliers
    target = np.zeros(root.cuts.n_cuts)
    target[rows] = lp_multipliers / table.unit
    target *= min(1.0, LARGEST_SUM / max(1.0, float(root.largest_sums @ target)))
    at_lp = root.take(np.rint(target).astype(np.int64))
    evaluated = [at_lp, *(root.take(np.rint(best + step * (target - best)).astype(np.int64)) for step in STEPS)]
    stable = max(evaluated, key=lambda reduced: reduced.bound)
    position = np.full(table.n_families, -1)
    position[root.live_index] = np.arange(len(root.live_index))
    present = position[families]
    present = present[present >= 0]
    level = np.full(table.n_vars, np.iinfo(np.int64).max)
    np.minimum.at(level, root.live.child[present], at_lp.cost[present])
    below = np.flatnonzero(at_lp.cost < level[root.live.child] - int(DUAL_TOL / table.unit))
    below = below[np.argsort(stable.cost[below], kind="stable")]
    below = below[is_among_first(root.live.child[below], table.n_vars, root.settings.more_families)]
    entering = np.union1d(root.live_index[below], np.setdiff1d(root.incumbent.chosen, families))
    root.fix(evaluated)
    return entering


def _is_superfluous(root: RootState, families: Ints, solved: Solved) -> Bools:
    """Families of the LP that are fixed and idle, if they are many. The incumbent's stay: the LP has a solution."""
    is_needed = np.zeros(root.table.n_families, dtype=np.bool_)
    is_needed[root.live_index] = True
    is_needed[root.incumbent.chosen] = True
    is_dead = solved.is_idle & ~is_needed[families]
    return is_dead if is_dead.mean() > MANY_DEAD else np.zeros_like(is_dead)


def _first_families(root: RootState, reduced: Reduced) -> Ints:
    order = np.argsort(reduced.cost, kind="stable")
    child = root.live.child[order]
    first = root.live_index[order[is_among_first(child, root.table.n_vars, root.settings.first_families)]]
    return np.union1d(first, root.incumbent.chosen)


def _is_flat(root: RootState, gaps: list[int], is_moving: bool) -> bool:
    """Did the last rounds, one gap each, close too little of it, by the bound or by the incumbent?"""
    tail = root.settings.tail
    if gaps[-1] > tail.widest * root.incumbent.cost:
        tail = LONG
    share, n_rounds = tail.share, tail.n_rounds
    if len(gaps) <= (n_rounds if is_moving else n_rounds + PATIENCE):
        return False
    return gaps[-1 - n_rounds] - gaps[-1] < share * n_rounds * gaps[-1]
