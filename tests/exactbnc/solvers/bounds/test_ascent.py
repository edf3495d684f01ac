"""The bound of a prefix against the best of all its completions."""

import itertools

import numpy as np

from exactbnc.problem.problem import Problem
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.ascent._kernels import ascend, begin, potential
from exactbnc.solvers.bounds.ascent.layout import INFINITE, arrange, make_workspace
from exactbnc.solvers.bounds.cuts.facets import facet_tables
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts, facet_cuts, joined, reduced_costs
from exactbnc.solvers.bounds.root.root import ascent_cuts
from exactbnc.solvers.costs.table import cost_table, families_in_order
from tests.exactbnc.solvers.costs.test_table import random_cache


def random_cuts(rng, table):
    """Clusters with k = 1, 2 and facets, with random multipliers."""
    n = table.n_vars
    masks = [sum(1 << int(v) for v in rng.choice(n, size=int(rng.integers(3, n + 1)), replace=False)) for _ in range(6)]
    corners = np.array([rng.choice(n, size=4, replace=False) for _ in range(5)])
    facet = rng.integers(0, facet_tables().n_further, size=5)
    cuts = joined(
        cluster_cuts(np.array(masks[:3], dtype=np.uint64)[:, None], 1),
        cluster_cuts(np.array(masks[3:], dtype=np.uint64)[:, None], 2),
        facet_cuts(corners, facet, table.n_words),
    )
    return cuts, rng.integers(0, 10**10, size=11)


def best_completion(table, cost, placed, outside):
    """The least cost of a network that begins with the placed ones, at that cost."""
    found = []
    for order in itertools.permutations(outside):
        chosen = families_in_order(table, np.array([*placed, *order]))
        if np.all(chosen[list(order)] >= 0):
            found.append(cost + int(table.cost[chosen[list(order)]].sum()))
    return min(found, default=None)


def test_bounds_of_prefixes_hold_for_every_completion():
    rng = np.random.default_rng(5)
    n_closed = n_raised = 0
    for _ in range(60):
        table = cost_table(Problem(random_cache(rng, 5, 8)))
        cuts, multipliers = random_cuts(rng, table)
        everything = np.ones(table.n_families, dtype=np.bool_)
        arranged = arrange(table, everything, cuts, multipliers)
        workspace = make_workspace(arranged)
        placed = rng.permutation(5)[: int(rng.integers(0, 4))].tolist()
        outside = [v for v in range(5) if v not in placed]
        states = np.array([[sum(1 << v for v in placed)]])
        no_caps = np.full((1, 5), INFINITE)
        true = best_completion(table, 0, placed, outside)
        base = int(potential(arranged.children, arranged.cuts, arranged.rho, states, 0, workspace.free))
        for upper in (true * 3 // 4, true, true + 1, 2 * true + 5):
            given = np.int64(upper - 1 - base)
            left = begin(arranged, workspace, states, no_caps, 0, given) if given >= 0 else -1
            if left >= 0:
                left, n_raises = ascend(arranged, workspace, states, 0, left)
                n_raised += n_raises
            if upper > true:
                assert upper - 1 - left <= true, "the bound exceeds the best completion"
            n_closed += left < 0
    assert n_closed > 5
    assert n_raised > 50


def test_the_root_ascent_bounds_every_order():
    rng = np.random.default_rng(6)
    for seed in range(20):
        table = cost_table(Problem(random_cache(rng, 5, 8)))

        cuts, multipliers = ascent_cuts(table, Run.of(seed=seed))

        assert np.all(multipliers > 0)
        assert 0 <= reduced_costs(table, cuts, multipliers).bound <= best_completion(table, 0, [], range(5))
