"""Local search over orders, against literal evaluation and all orders."""

import threading
import time
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.run.limits import Clock
from exactbnc.solvers.local_search.orders import Effort, LongSearch, families, improve, search_orders
from tests.strategies import examples


def arrays_of(listed):
    """The arrays of, per child, (cost, members) pairs, cheapest first."""
    n_words = (len(listed) + 63) // 64
    flat = [family for own in listed for family in sorted(own)]
    masks = np.zeros((len(flat), n_words), dtype=np.uint64)
    for row, (_, members) in enumerate(flat):
        for member in members:
            masks[row, member // 64] |= np.uint64(1) << np.uint64(member % 64)
    child_start = np.concatenate([[0], np.cumsum([len(own) for own in listed])]).astype(np.int64)
    return child_start, masks, np.array([cost for cost, _ in flat], dtype=np.int64)


def cost_of(listed, order):
    """The cost of an order, by the definition; None if a child has no family there."""
    total, before = 0, set()
    for v in order:
        fitting = [cost for cost, members in listed[v] if set(members) <= before]
        if not fitting:
            return None
        total += min(fitting)
        before.add(v)
    return total


def insertions(order, v):
    """The orders with v at every place."""
    rest = [u for u in order if u != v]
    return [[*rest[:place], v, *rest[place:]] for place in range(len(order))]


def random_families(n_vars, n_families, seed, *, has_empty=True, max_members=3):
    """Random families; costs come in few sizes, so that ties occur."""
    random = np.random.default_rng(seed)
    listed = []
    for v in range(n_vars):
        others = [u for u in range(n_vars) if u != v]
        own = {}
        for _ in range(n_families):
            size = random.integers(1, min(max_members, len(others)) + 1) if others else 0
            members = tuple(sorted(random.choice(others, size, replace=False).tolist())) if others else ()
            own[members] = int(random.integers(0, 50))
        if has_empty:
            own[()] = 60
        least = min(own.values())
        listed.append([(cost - least, members) for members, cost in own.items()])
    return listed


def small_tables(*, has_empty):
    return st.builds(
        random_families,
        st.integers(1, 6),
        st.integers(1, 8),
        st.integers(0, 2**32 - 1),
        has_empty=st.just(has_empty),
    )


@examples(60)
@given(small_tables(has_empty=True) | small_tables(has_empty=False), st.integers(0, 5))
def test_the_search_finds_the_best_of_all_orders(listed, seed):
    costs = [cost for order in permutations(range(len(listed))) if (cost := cost_of(listed, order)) is not None]

    found = search_orders(families(*arrays_of(listed)), seed=seed, effort=Effort(n_chains=4))

    if not costs:
        assert found is None
        return
    assert found.cost == min(costs)
    assert found.cost == cost_of(listed, found.order.tolist())


@examples(60)
@given(small_tables(has_empty=True) | small_tables(has_empty=False), st.integers(0, 5))
def test_the_families_chosen_are_those_of_the_order(listed, seed):
    child_start, masks, cost = arrays_of(listed)

    found = search_orders(families(child_start, masks, cost), seed=seed, effort=Effort(n_chains=1, kicks_per_var=1))

    if found is None:
        return
    assert found.cost == cost[found.chosen].sum()
    assert all(first <= row < end for row, (first, end) in zip(found.chosen, pairwise(child_start), strict=True))
    before = 0
    for v in found.order.tolist():
        assert int(masks[found.chosen[v], 0]) & ~before == 0
        before |= 1 << v


@pytest.mark.parametrize("n_vars", [2, 7, 12, 64, 65, 70])
@pytest.mark.parametrize("seed", range(3))
def test_no_insertion_improves_what_improve_returns(n_vars, seed):
    listed = random_families(n_vars, 12, seed)
    start = np.random.default_rng(seed).permutation(n_vars)

    order, cost = improve(families(*arrays_of(listed)), start, seed=seed)

    assert sorted(order.tolist()) == list(range(n_vars))
    assert cost == cost_of(listed, order.tolist())
    assert cost <= cost_of(listed, start.tolist())
    some = range(n_vars) if n_vars < 64 else [0, 31, n_vars - 1]
    for v in some:
        assert min(cost_of(listed, neighbour) for neighbour in insertions(order.tolist(), v)) == cost


@examples(30)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_walks_by_random_moves_keep_costs_and_local_optimality(n_vars, seed):
    """After any moves the queue holds every variable with an improving insertion, so the climb ends in an optimum."""
    listed = random_families(n_vars, 10, seed)
    found = search_orders(families(*arrays_of(listed)), seed=seed, effort=Effort(n_chains=2, kicks_per_var=2))

    assert found.cost == cost_of(listed, found.order.tolist())
    for v in range(n_vars):
        assert min(cost_of(listed, neighbour) for neighbour in insertions(found.order.tolist(), v)) == found.cost


@pytest.mark.parametrize("n_vars", [64, 65, 130])
def test_word_boundaries_are_none(n_vars):
    """Every v wants v + 1 before it: the only order of cost 0 is from last to first."""
    listed = [[(0, (v + 1,)), (1, ())] for v in range(n_vars - 1)] + [[(0, ())]]

    found = search_orders(families(*arrays_of(listed)), target=0)

    assert found.cost == 0
    assert found.order.tolist() == list(range(n_vars))[::-1]


@pytest.mark.parametrize("n_vars", [3, 66])
def test_a_start_without_families_is_repaired(n_vars):
    """Only the order from first to last gives every child a family."""
    listed = [[(0, ())]] + [[(0, tuple(range(v)))] for v in range(1, n_vars)]
    backwards = np.arange(n_vars)[::-1].copy()
    table = families(*arrays_of(listed))

    found = search_orders(table, start=backwards)

    assert found.order.tolist() == list(range(n_vars))
    assert found.cost == 0


def test_there_is_no_order_where_two_need_each_other():
    table = families(*arrays_of([[(0, (1,))], [(0, (0,))]]))

    assert search_orders(table) is None
    assert improve(table, np.array([0, 1]))[1] is None


def test_large_costs_do_not_overflow():
    """Two children want each other; the penalty of having no family is above both."""
    large = 1 << 58
    listed = [[(0, (1,)), (large, (2,))], [(0, (0,)), (large - 1, (2,))], [(0, ())]]

    found = search_orders(families(*arrays_of(listed)))

    assert found.cost == large - 1
    assert improve(families(*arrays_of(listed)), np.array([0, 1, 2]))[1] == large - 1


def test_every_child_has_a_family_even_where_having_none_costs_less():
    """Among 64 children the penalty is at most 2**61 / 64, less than the only way out."""
    large = 1 << 57
    listed = [[(0, (1,)), (large, (2,))], [(0, (0,)), (large, (2,))]] + [[(0, ())] for _ in range(62)]

    found = search_orders(families(*arrays_of(listed)), effort=Effort(n_chains=2, kicks_per_var=2))

    assert found.cost == large == cost_of(listed, found.order.tolist())


def test_the_result_is_never_worse_than_the_start():
    listed = random_families(20, 30, seed=4)
    table = families(*arrays_of(listed))
    good = search_orders(table, seed=1)

    found = search_orders(table, seed=2, start=good.order, effort=Effort(n_chains=1, kicks_per_var=0))

    assert found.cost <= good.cost


def test_the_search_stops_at_its_target():
    listed = random_families(20, 30, seed=5)
    table = families(*arrays_of(listed))
    best = search_orders(table, seed=0)

    found = search_orders(table, seed=0, target=best.cost + 1)

    assert found.cost <= best.cost + 1
    assert found.n_kicks <= best.n_kicks


def test_the_same_seed_finds_the_same_order():
    table = families(*arrays_of(random_families(25, 30, seed=6)))
    effort = Effort(n_chains=3, kicks_per_var=5)

    first, second = (search_orders(table, seed=9, effort=effort) for _ in range(2))

    assert first.order.tolist() == second.order.tolist()
    assert (first.cost, first.n_kicks) == (second.cost, second.n_kicks)


@examples(30)
@given(small_tables(has_empty=True) | small_tables(has_empty=False), st.integers(0, 5))
def test_a_long_search_finds_the_best_of_all_orders(listed, seed):
    costs = [cost_of(listed, order) for order in permutations(range(len(listed)))]
    best = min((cost for cost in costs if cost is not None), default=None)

    search = LongSearch(families(*arrays_of(listed)), seed=seed)
    search.resume(20_000)

    if best is None:
        assert search.cost > max(cost for own in listed for cost, _ in own) * len(listed)
    else:
        assert search.cost == best == cost_of(listed, search.order.tolist())


def test_a_long_search_resumes_from_where_it_stopped():
    listed = random_families(30, 40, 5)
    search = LongSearch(families(*arrays_of(listed)), seed=1)
    costs, kicks = [], []
    for _ in range(20):
        search.resume(5_000)
        costs.append(search.cost)
        kicks.append(search.n_kicks)

        assert search.cost == cost_of(listed, search.order.tolist())

    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]
    assert kicks == sorted(kicks)
    assert kicks[-1] > kicks[0]


def test_a_long_search_begins_new_chains():
    listed = random_families(12, 10, 3)
    short, long = (LongSearch(families(*arrays_of(listed)), kicks_per_var=k) for k in (1, 10**6))
    for search in (short, long):
        search.resume(300_000)

    assert short.n_chains > long.n_chains == 1


def test_two_threads_share_a_table():
    table = families(*arrays_of(random_families(25, 30, seed=7)))
    effort = Effort(n_chains=3, kicks_per_var=10)
    alone = [search_orders(table, seed=seed, effort=effort).order.tolist() for seed in (1, 2)]
    together = {}

    def run(seed):
        together[seed] = search_orders(table, seed=seed, effort=effort).order.tolist()

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [together[1], together[2]] == alone


def test_the_time_limit_is_kept():
    table = families(*arrays_of(random_families(40, 200, seed=8)))
    endless = Effort(n_chains=1, kicks_per_var=10**9)
    search_orders(table, effort=Effort(n_chains=1, kicks_per_var=1))  # compiled
    began = time.monotonic()

    found = search_orders(table, effort=endless, clock=Clock(0.2))

    assert found is not None
    assert 0.2 <= time.monotonic() - began < 2.0  # a busy machine may take its time


def test_no_time_gives_the_greedy_order():
    listed = random_families(10, 10, seed=9)

    found = search_orders(families(*arrays_of(listed)), clock=Clock(0.0))

    assert found.n_chains == 0
    assert found.cost == cost_of(listed, found.order.tolist())
