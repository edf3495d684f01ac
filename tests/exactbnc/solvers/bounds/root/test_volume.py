"""The volume algorithm against enumeration, dynamic programming and the LP."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts, facet_cuts, no_cuts, reduced_costs
from exactbnc.solvers.bounds.root import root as root_module
from exactbnc.solvers.bounds.root import volume as volume_module
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.root import ascent_cuts, find_root
from exactbnc.solvers.bounds.root.separation import Separators
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.bounds.root.state import Hooks
from exactbnc.solvers.bounds.root.volume import solve_root_by_volume
from exactbnc.solvers.costs.table import cost_table
from exactbnc.solvers.local_search.orders import families, improve
from exactbnc.solvers.solve import solve
from tests.exactbnc.solvers.bounds.root.test_lp import (
    NOTHING,
    SEEDS,
    all_networks,
    is_acyclic,
    literal_bound,
    network_of_order,
    random_problem,
    random_table,
)
from tests.strategies import examples


@examples(12)
@given(SEEDS, st.booleans())
def test_bound_and_families_left_against_all_networks(seed, has_cuts):
    table = random_table(seed, 5, 4)
    networks = sorted(all_networks(table))
    best = networks[0][0]
    start = network_of_order(table, np.random.default_rng(seed).permutation(5))
    cuts, multipliers = ascent_cuts(table, Run.of(seed=seed)) if has_cuts else (no_cuts(1), NOTHING)

    root = solve_root_by_volume(table, cuts, multipliers, start, Run.of(seed=seed))

    assert best <= root.incumbent.cost <= start.cost
    assert is_acyclic(table, root.incumbent.chosen)
    better = [chosen for cost, chosen in networks if cost < root.incumbent.cost]
    assert all(root.is_alive[list(chosen)].all() for chosen in better)
    assert root.is_closed <= (not better)
    if better:
        assert root.bound <= best


@examples(25)
@given(SEEDS, st.integers(6, 9))
def test_bound_against_dynamic_programming(seed, n_vars):
    problem = random_problem(seed, n_vars, 12)
    table = cost_table(problem)
    best_scores = math.fsum(problem.families.scores[problem.families.child_start[:-1]])
    best = round((best_scores - solve(problem, solver="dp").score) * 10**table.digits)
    start = network_of_order(table, np.random.default_rng(seed).permutation(n_vars))

    root = solve_root_by_volume(table, *ascent_cuts(table, Run.of(seed=seed)), start, Run.of(seed=seed))

    assert reduced_costs(table, root.cuts, root.multipliers).bound <= best  # over all families, whatever was fixed
    assert min(root.bound, root.incumbent.cost) <= best <= root.incumbent.cost
    assert root.is_closed <= (root.incumbent.cost == best)


@examples(25)
@given(SEEDS, st.sampled_from([3, 8, 12]), st.booleans())
def test_the_bound_never_falls_and_rests_on_whole_multipliers(seed, digits, is_ascended):
    table = random_table(seed, 8, 12, digits=digits)
    start = network_of_order(table, range(8))
    cuts, multipliers = ascent_cuts(table, Run.of(seed=seed))
    if not is_ascended:
        multipliers = multipliers * 3  # far from good: a bound far below
    given_bound = reduced_costs(table, cuts, multipliers).bound

    root = solve_root_by_volume(table, cuts, multipliers, start, Run.of(seed=seed))

    assert root.bound >= given_bound
    assert root.multipliers.dtype == np.int64
    assert (root.multipliers > 0).all()
    assert root.bound == literal_bound(table, root.is_alive, root.cuts, root.multipliers)


def test_ascent_closes_most_of_the_gap_between_dual_ascent_and_the_lp():
    settings = RootSettings(tail=LONG, separators=Separators(use_facets=False))
    shares = []
    for seed in range(3):
        table = random_table(seed, 15, 60)
        cuts, multipliers = ascent_cuts(table, Run.of(seed=0))
        first = reduced_costs(table, cuts, multipliers).bound
        start = network_of_order(table, range(15))
        start = solve_root(table, cuts, multipliers, start, Run.of(), settings=settings).incumbent
        by_lp = solve_root(table, cuts, multipliers, start, Run.of(), settings=settings)
        by_ascent = solve_root_by_volume(table, cuts, multipliers, start, Run.of())
        most = by_lp.incumbent.cost
        shares.append((min(by_ascent.bound, most) - first) / (min(by_lp.bound, most) - first))

    assert np.mean(shares) > 0.5
    assert min(shares) > 0.2


def test_two_words_of_variables():
    table = random_table(2, 70, 8)
    start = network_of_order(table, improve(families(table.child_start, table.masks, table.cost), np.arange(70))[0])
    cuts, multipliers = ascent_cuts(table, Run.of(seed=0))

    root = solve_root_by_volume(table, cuts, multipliers, start, Run.of())

    assert root.bound > reduced_costs(table, cuts, multipliers).bound
    assert root.bound == literal_bound(table, root.is_alive, root.cuts, root.multipliers)


def test_runs_can_be_repeated():
    table = random_table(4, 12, 40)
    start = network_of_order(table, range(12))
    first, second = (
        solve_root_by_volume(table, *ascent_cuts(table, Run.of(seed=1)), start, Run.of(seed=1)) for _ in range(2)
    )

    assert first.bound == second.bound
    assert first.multipliers.tolist() == second.multipliers.tolist()


def test_a_run_without_time_stops_and_the_root_keeps_its_network():
    table = random_table(1, 7, 10)
    start = network_of_order(table, range(7))
    cuts = cluster_cuts(np.array([[3]], dtype=np.uint64), 1)

    with pytest.raises(Stopped, match="time"):
        solve_root_by_volume(table, cuts, np.array([5]), start, Run.of(Limits(seconds=0)))
    root = find_root(table, np.arange(7), Run.of(Limits(seconds=0)), settings=RootSettings())

    assert root.stop_reason == "time"
    assert root.incumbent.cost == start.cost


def test_facets_are_refused():
    table = random_table(1, 7, 10)
    facets = facet_cuts(np.array([[0, 1, 2, 3]]), np.array([0]), 1)

    with pytest.raises(ValueError, match="takes clusters, got 1 facets"):
        solve_root_by_volume(table, facets, np.array([5]), network_of_order(table, range(7)), Run.of())


def test_steps_on_few_families_still_raise_a_bound_over_all(monkeypatch):
    monkeypatch.setattr(volume_module, "LEAST_ACTIVE", 5)
    for seed in range(3):
        table = random_table(seed, 15, 60)
        start = network_of_order(table, improve(families(table.child_start, table.masks, table.cost), np.arange(15))[0])
        cuts, multipliers = ascent_cuts(table, Run.of(seed=0))

        root = solve_root_by_volume(table, cuts, multipliers, start, Run.of())

        assert root.bound > reduced_costs(table, cuts, multipliers).bound
        assert root.bound == literal_bound(table, root.is_alive, root.cuts, root.multipliers)


def test_the_volume_algorithm_comes_before_the_lp_where_there_are_many_families(monkeypatch):
    table = random_table(5, 15, 60)
    first = reduced_costs(table, *ascent_cuts(table, Run.of(seed=0))).bound
    given_bounds = []

    def noted(table, cuts, multipliers, incumbent, run, **options):
        given_bounds.append(reduced_costs(table, cuts, multipliers).bound)
        return solve_root(table, cuts, multipliers, incumbent, run, **options)

    monkeypatch.setattr(root_module, "solve_root", noted)
    for many in (table.n_families, table.n_families - 1):
        monkeypatch.setattr(root_module, "MANY_FAMILIES", many)
        root = find_root(table, np.arange(15), Run.of(), settings=RootSettings())
        assert root.bound == literal_bound(table, root.is_alive, root.cuts, root.multipliers)
        assert root.bound >= given_bounds[-1]

    assert given_bounds[0] == first
    assert given_bounds[1] > first


def test_no_lp_follows_where_the_volume_algorithm_closes_the_gap(monkeypatch):
    # one parent each: clusters describe the arborescences completely (Edmonds)
    table = random_table(3, 10, 8, max_size=1)
    monkeypatch.setattr(root_module, "MANY_FAMILIES", 0)
    monkeypatch.setattr(root_module, "solve_root", None)

    root = find_root(table, np.arange(10), Run.of(), settings=RootSettings())

    assert root.is_closed


def test_an_interrupt_between_rounds_reaches_the_caller():
    table = random_table(5, 20, 100)

    def interrupt(bound, incumbent):
        raise KeyboardInterrupt

    start = network_of_order(table, range(20))
    hooks = Hooks(on_round=interrupt)
    with pytest.raises(KeyboardInterrupt):
        solve_root_by_volume(table, *ascent_cuts(table, Run.of(seed=0)), start, Run.of(), hooks=hooks)
