"""The root LP against networks by enumeration and dynamic programming, and its bound in Python's own integers."""

import math
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.facets import coefficient_table, rho_table
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Reduced, cluster_cuts, joined, no_cuts, reduced_costs
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.separation import Separators
from exactbnc.solvers.bounds.root.settings import LONG, SHORT, RootSettings, Tail
from exactbnc.solvers.bounds.root.state import Hooks, Incumbent, RootState
from exactbnc.solvers.costs.table import cost_table
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from tests.strategies import examples

SEEDS = st.integers(0, 2**32 - 1)
NOTHING = np.zeros(0, dtype=np.int64)
FEW = RootSettings(first_families=1, more_families=1)


def random_table(seed, n_vars, n_sets, max_size=3, digits=4):
    return cost_table(random_problem(seed, n_vars, n_sets, max_size, digits))


def random_problem(seed, n_vars, n_sets, max_size=3, digits=4):
    """Larger sets tend to score better, so that the best families form cycles."""
    random = np.random.default_rng(seed)
    families = []
    for child in range(n_vars):
        others = np.delete(np.arange(n_vars), child)
        sets = {()}
        for _ in range(n_sets):
            sets.add(tuple(sorted(random.choice(others, random.integers(1, max_size + 1), replace=False).tolist())))
        listed = [(round(-random.exponential(3.0) - 4.0 / (1 + len(w)), digits), w) for w in sorted(sets)]
        families.append(listed)
    return Problem(ScoreCache.from_families([f"v{i}" for i in range(n_vars)], families))


def members(masks, row):
    return {64 * w + b for w, word in enumerate(masks[row].tolist()) for b in range(64) if word >> b & 1}


def network_of_order(table, order):
    """The best families of an order, by the book."""
    chosen, before = np.zeros(table.n_vars, dtype=np.int64), set()
    for v in order:
        fitting = range(table.child_start[v], table.child_start[v + 1])
        chosen[v] = next(f for f in fitting if members(table.masks, f) <= before)
        before.add(v)
    return Incumbent(chosen, int(table.cost[chosen].sum()))


def is_acyclic(table, chosen):
    placed = set()
    while len(placed) < len(chosen):
        ready = [v for v in range(len(chosen)) if v not in placed and members(table.masks, chosen[v]) <= placed]
        if not ready:
            return False
        placed.update(ready)
    return True


def all_networks(table):
    """Cost and families of every acyclic choice."""
    for chosen in product(*(range(table.child_start[v], table.child_start[v + 1]) for v in range(table.n_vars))):
        if is_acyclic(table, chosen):
            yield sum(table.cost[list(chosen)].tolist()), chosen


def literal_bound(table, is_alive, cuts, multipliers):
    """sum lambda rho + sum_v min_W [cost - sum lambda a], family by family."""
    total = 0
    for q, price in enumerate(multipliers.tolist()):
        total += price * (cuts.k[q].item() if cuts.facet[q] == CLUSTER else rho_table()[cuts.facet[q], 0].item())
    clusters = [members(cuts.masks, q) for q in range(len(multipliers))]
    for v in range(table.n_vars):
        reduced = []
        for f in range(table.child_start[v], table.child_start[v + 1]):
            if is_alive[f]:
                before = members(table.masks, f)
                cost = table.cost[f].item()
                for q, price in enumerate(multipliers.tolist()):
                    if v in clusters[q]:
                        cost -= price * literal_coefficient(cuts, q, v, before, clusters[q])
                reduced.append(cost)
        total += min(reduced)
    return total


def literal_coefficient(cuts, q, v, before, cluster):
    if cuts.facet[q] == CLUSTER:
        return int(len(before & cluster) < cuts.k[q])
    corners = cuts.corners[q].tolist()
    inside = sum(1 << i for i, u in enumerate(corners) if u in before)
    return int(coefficient_table()[cuts.facet[q], corners.index(v), inside])


@examples(60)
@given(SEEDS, st.sampled_from([FEW, RootSettings(), RootSettings(tail=SHORT)]), st.booleans())
def test_bound_and_families_left_against_all_networks(seed, settings, is_poor):
    table = random_table(seed, 5, 4)
    networks = sorted(all_networks(table))
    best = networks[0][0]
    orders = [np.random.default_rng(seed + i).permutation(5) for i in range(1 if is_poor else 30)]
    start = min((network_of_order(table, order) for order in orders), key=lambda network: network.cost)

    root = solve_root(table, no_cuts(table.n_words), NOTHING, start, Run.of(), settings=settings)

    assert best <= root.incumbent.cost <= start.cost
    assert root.incumbent.cost == sum(table.cost[root.incumbent.chosen].tolist())
    assert is_acyclic(table, root.incumbent.chosen)
    better = [chosen for cost, chosen in networks if cost < root.incumbent.cost]
    assert all(root.is_alive[list(chosen)].all() for chosen in better)
    if better:
        assert root.bound <= best
        assert not root.is_closed
    if root.bound >= root.incumbent.cost:
        assert root.is_closed


@examples(25)
@given(SEEDS, st.integers(6, 9), st.sampled_from([FEW, RootSettings()]))
def test_bound_against_dynamic_programming(seed, n_vars, settings):
    problem = random_problem(seed, n_vars, 12)
    table = cost_table(problem)
    optimum = solve(problem, solver="dp").score
    best_scores = math.fsum(problem.families.scores[problem.families.child_start[:-1]])
    best = round((best_scores - optimum) * 10**table.digits)
    start = network_of_order(table, np.random.default_rng(seed).permutation(n_vars))

    root = solve_root(table, no_cuts(table.n_words), NOTHING, start, Run.of(), settings=settings)

    assert best <= root.incumbent.cost
    assert min(root.bound, root.incumbent.cost) <= best
    assert root.is_closed <= (root.incumbent.cost == best)


@examples(25)
@given(SEEDS, st.sampled_from([3, 8, 12]), st.booleans())
def test_multipliers_give_the_bound_in_plain_integers(seed, digits, use_facets):
    table = random_table(seed, 8, 12, digits=digits)
    start = network_of_order(table, range(8))
    settings = RootSettings(separators=Separators(use_facets=use_facets, few_clusters=1000))

    root = solve_root(table, no_cuts(table.n_words), NOTHING, start, Run.of(), settings=settings)

    assert root.bound == literal_bound(table, root.is_alive, root.cuts, root.multipliers)
    assert (root.multipliers > 0).all()
    assert use_facets or not (root.cuts.facet != CLUSTER).any()


@examples(20)
@given(SEEDS, st.sampled_from([6, 70]))
def test_clusters_of_any_k_across_words_are_priced_by_the_book(seed, n_vars):
    table = random_table(seed, n_vars, 6)
    random = np.random.default_rng(seed)
    masks = np.zeros((9, table.n_words), dtype=np.uint64)
    for row in masks:
        for u in random.choice(n_vars, min(n_vars, 40), replace=False).tolist():
            row[u // 64] |= np.uint64(1 << u % 64)
    cuts = joined(*(cluster_cuts(masks[3 * k - 3 : 3 * k], k) for k in (1, 2, 3)))
    multipliers = random.integers(0, 10**8, 9)
    everything = np.ones(table.n_families, dtype=bool)

    reduced = reduced_costs(table, cuts, multipliers)

    assert reduced.bound == literal_bound(table, everything, cuts, multipliers)
    assert (np.minimum.reduceat(reduced.cost, table.child_start[:-1]) == 0).all()


def test_two_bounds_that_leave_a_child_no_family_are_a_proof():
    table = random_table(2, 4, 4)
    root = RootState(table, network_of_order(table, range(4)), RootSettings(), math.inf, None)
    root.bound = 0
    odd = (np.arange(table.n_families) % 2) * root.incumbent.cost
    mu = np.zeros(4, dtype=np.int64)

    root.fix([Reduced(odd, mu, 0), Reduced(root.incumbent.cost - odd, mu, 0)])

    assert root.is_closed
    assert len(root.live_index) == table.n_families


def test_facets_and_two_clusters_are_used_and_raise_the_bound():
    bounds = []
    for separators in (Separators(False, False), Separators(True, False), Separators(True, True)):
        total = 0
        for seed in range(12):
            table = random_table(seed, 8, 14)
            start = network_of_order(table, range(8))
            settings = RootSettings(tail=Tail(1e-4, 20), separators=separators)
            root = solve_root(table, no_cuts(table.n_words), NOTHING, start, Run.of(), settings=settings)
            assert separators.use_two_clusters or not (root.cuts.k == 2).any()
            total += min(root.bound, root.incumbent.cost)
        bounds.append(total)

    assert bounds[0] < bounds[1] < bounds[2]


@examples(20)
@given(SEEDS)
def test_given_multipliers_are_never_made_worse(seed):
    table = random_table(seed, 7, 10)
    start = network_of_order(table, range(7))
    random = np.random.default_rng(seed)
    cuts = cluster_cuts(random.integers(3, 2**7, (5, 1)).astype(np.uint64), 1)
    given_multipliers = random.integers(0, 10**8, 5)
    first = literal_bound(table, np.ones(table.n_families, dtype=bool), cuts, given_multipliers)

    bounds = []
    hooks = Hooks(on_round=lambda bound, _: bounds.append(bound))
    solve_root(table, cuts, given_multipliers, start, Run.of(), hooks=hooks)

    assert bounds == sorted(bounds)
    assert all(bound >= first for bound in bounds)


def test_forests_close_at_the_root():
    # one parent each: clusters with k = 1 describe the arborescences completely (Edmonds)
    for seed in range(10):
        problem = random_problem(seed, 10, 8, max_size=1)
        table = cost_table(problem)

        root = solve_root(table, no_cuts(1), NOTHING, network_of_order(table, range(10)), Run.of())

        assert root.is_closed
        best_scores = math.fsum(problem.families.scores[problem.families.child_start[:-1]])
        score = best_scores - root.incumbent.cost * table.unit
        assert score == pytest.approx(solve(problem, solver="dp").score, abs=1e-9)


def test_costs_on_a_grid_close_as_soon_as_the_bound_is_within_it():
    table = random_table(3, 8, 10, digits=1)
    assert table.grain == 10**7
    start = network_of_order(table, range(8))

    root = solve_root(table, no_cuts(1), NOTHING, start, Run.of())
    coarse = solve_root(table, no_cuts(1), NOTHING, start, Run.of(), settings=RootSettings(least_gain=start.cost))

    assert root.is_closed == (root.bound > root.incumbent.cost - table.grain)
    assert coarse.is_closed
    assert coarse.n_rounds <= 1


def test_more_than_64_variables():
    table = random_table(5, 130, 8)
    start = network_of_order(table, range(130))

    root = solve_root(table, no_cuts(table.n_words), NOTHING, start, Run.of(), settings=replace(FEW, tail=LONG))

    assert table.n_words == 3
    assert root.n_rounds > 1
    assert 0 < root.bound == literal_bound(table, root.is_alive, root.cuts, root.multipliers)
    assert (root.cuts.masks[:, 1:] != 0).any()
    assert is_acyclic(table, root.incumbent.chosen)
    assert root.incumbent.cost < start.cost


def test_a_run_that_is_interrupted_stops_after_the_round():
    table = random_table(6, 12, 30)
    start, run, bounds = network_of_order(table, range(12)), Run.of(), []

    def interrupt(bound, incumbent):
        bounds.append(bound)
        run.clock.interrupt()

    with pytest.raises(Stopped, match="interrupted"):
        solve_root(table, no_cuts(1), NOTHING, start, run, hooks=Hooks(on_round=interrupt))

    assert len(bounds) == 1


def test_without_time_there_is_no_round():
    table = random_table(1, 7, 10)

    with pytest.raises(Stopped, match="time"):
        solve_root(table, no_cuts(1), NOTHING, network_of_order(table, range(7)), Run.of(Limits(seconds=0)))


def test_an_order_may_be_improved_before_it_is_tried():
    table = random_table(7, 8, 10)
    start = network_of_order(table, range(8))
    tried = []

    hooks = Hooks(improve=lambda order: tried.append(order) or order)
    solve_root(table, no_cuts(1), NOTHING, start, Run.of(), hooks=hooks)

    assert tried
    assert all(sorted(order.tolist()) == list(range(8)) for order in tried)


def test_importing_the_package_leaves_highs_out():
    script = "import sys, exactbnc, exactbnc.solvers.bounds.root.lp; print('highspy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_facets_are_tried_before_a_flat_tail_ends_the_loop():
    never = Separators(few_clusters=-1)
    n_raised = 0
    for seed in range(10):
        table = random_table(seed, 12, 40)
        start = network_of_order(table, range(12))
        results = [
            solve_root(
                table, no_cuts(1), NOTHING, start, Run.of(), settings=RootSettings(tail=SHORT, separators=separators)
            )
            for separators in (never, replace(never, use_facets=False))
        ]
        with_facets, without = results
        n_raised += with_facets.bound > without.bound and (with_facets.lp_cuts.facet != CLUSTER).any()

    assert n_raised > 0


def test_a_wide_gap_makes_the_tail_long():
    wide, narrow = (Tail(0.9, 1, widest=share) for share in (0.0, math.inf))
    n_rounds = []
    for tail in (wide, narrow):
        table = random_table(5, 14, 60)
        start = network_of_order(table, range(14))
        n_rounds.append(
            solve_root(table, no_cuts(1), NOTHING, start, Run.of(), settings=RootSettings(tail=tail)).n_rounds
        )

    assert n_rounds[0] > n_rounds[1]
