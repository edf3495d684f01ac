"""Whole-number costs against decimal arithmetic, masks against the families, orders against enumeration."""

import itertools
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.solvers.costs.dominance import dominated
from exactbnc.solvers.costs.table import cost_table, families_in_order, feasible_order, order_of
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError


def random_cache(rng, n, decimals):
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = {()} | {
            tuple(sorted(rng.choice(others, size=int(rng.integers(1, min(4, n))), replace=False).tolist()))
            for _ in range(6)
        }
        families.append([(float(np.round(-rng.exponential(900.0), decimals)), parents) for parents in sets])
    return ScoreCache.from_families([f"v{i}" for i in range(n)], families)


def test_costs_of_decimals_are_exact():
    rng = np.random.default_rng(1)
    for _ in range(20):
        problem = Problem(random_cache(rng, 5, 8))

        table = cost_table(problem, keep_dominated=True)

        assert table.digits == 8
        assert not table.is_rounded
        assert table.tolerance == 0.0
        scores = [Decimal(repr(float(score))) for score in problem.families.scores]
        for v in range(5):
            first = int(problem.families.child_start[v])
            for f in range(first, int(problem.families.child_start[v + 1])):
                assert int(table.cost[f]) == int((scores[first] - scores[f]).scaleb(8))


def test_other_scores_are_rounded_once():
    rng = np.random.default_rng(2)
    problem = Problem(random_cache(rng, 5, 15))

    table = cost_table(problem, keep_dominated=True)

    assert table.is_rounded
    assert table.digits == 12
    best = problem.families.scores[problem.families.child_start[:-1]]
    exact = best[table.child] - problem.families.scores
    assert np.abs(table.cost * table.unit - exact).max() <= 1.01 * table.unit + 1e-12
    assert table.tolerance == pytest.approx(5e-12)


def test_masks_hold_parents_and_who_must_come_before():
    cache = ScoreCache.from_families("abc", [[(-1.0, ())], [(0.0, (0,)), (-1.0, ())], [(0.0, (1,)), (-1.0, ())]])
    problem = Problem(cache, Constraints(order=[("c", "a")]))

    table = cost_table(problem)

    # a cycle could run a -> b -> c and then by the order c before a
    assert [int(mask) for mask in table.masks[:, 0]] == [0b100, 0b001, 0b000, 0b010, 0b000]


def test_a_variable_beyond_the_first_word_has_its_own_bit():
    names = [f"v{i}" for i in range(70)]
    families = [[(-1.0, ()), (0.0, ((v + 1) % 70,))] for v in range(70)]

    table = cost_table(Problem(ScoreCache.from_families(names, families)))

    assert table.n_words == 2
    assert int(table.masks[table.child_start[64], 1]) == 1 << 1
    assert int(table.masks[table.child_start[63], 1]) == 1 << 0
    assert feasible_order(table) is not None


def test_dominated_families_go_and_the_best_stays():
    cache = ScoreCache.from_families("abc", [[(0.0, (1,)), (-1.0, (1, 2)), (-2.0, ())], [(0.0, ())], [(0.0, ())]])

    # b and c have no parents, so nobody is on a cycle and every family of a needs nothing before it
    assert cost_table(Problem(cache)).n_families == 3
    assert cost_table(Problem(cache), keep_dominated=True).n_families == 5


def test_orders_give_cheapest_families():
    rng = np.random.default_rng(3)
    for _ in range(10):
        table = cost_table(Problem(random_cache(rng, 4, 8)))
        for order in itertools.permutations(range(4)):
            chosen = families_in_order(table, np.array(order))
            for v in range(4):
                before = sum(1 << u for u in order[: order.index(v)])
                own = range(table.child_start[v], table.child_start[v + 1])
                fitting = [f for f in own if int(table.masks[f, 0]) & ~before == 0]
                assert chosen[v] == (fitting[0] if fitting else -1)
            found = order_of(table, chosen)
            assert np.array_equal(families_in_order(table, found) >= 0, np.ones(4))


def test_no_order_where_there_is_none():
    cache = ScoreCache.from_families("ab", [[(0.0, (1,))], [(0.0, (0,))]])

    assert feasible_order(cost_table(Problem(cache))) is None


def test_scores_too_far_apart_are_refused():
    cache = ScoreCache.from_families("ab", [[(0.0, (1,)), (-1e12, ())], [(0.0, (0,)), (-1e12, ())]])

    with pytest.raises(ParameterError, match="too far apart"):
        cost_table(Problem(cache))


def test_global_rules_are_refused():
    cache = ScoreCache.from_families("ab", [[(0.0, ())], [(0.0, ())]])

    with pytest.raises(ParameterError, match="max edges"):
        cost_table(Problem(cache, Constraints(max_edges=1)))


@pytest.mark.parametrize("seed", range(12))
def test_dominance_by_subsets_agrees_with_comparing_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n_words, largest = 1 + seed % 3, (2, 5, 9)[seed // 4]
    sizes = [0, 1, 40, 600]
    masks = np.zeros((sum(sizes), n_words), dtype=np.uint64)
    for mask in masks:
        for u in rng.integers(
            0, min(64 * n_words, 9 + 30 * (seed % 2)), rng.integers(0 if seed % 5 else 2, largest + 1)
        ):
            mask[u // 64] |= np.uint64(1) << np.uint64(u % 64)
    start = np.concatenate([[0], np.cumsum(sizes)])

    found = dominated(start, masks)

    for first, last in pairwise(start.tolist()):
        for f in range(first, last):
            assert found[f] == any(not np.any(masks[earlier] & ~masks[f]) for earlier in range(first, f))
