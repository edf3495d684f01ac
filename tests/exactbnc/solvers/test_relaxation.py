"""LPs at states of the search over orders: as exact as without them, repeatable, stopped in time."""

from contextlib import closing

import numpy as np
import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solution import Status
from exactbnc.run.solver import Run
from exactbnc.solvers import search
from exactbnc.solvers.bounds.ascent import layout
from exactbnc.solvers.bounds.ascent.layout import arrange
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts, no_cuts
from exactbnc.solvers.bounds.root.root import ascent_cuts, incumbent_of
from exactbnc.solvers.costs.table import cost_table
from exactbnc.solvers.order import solver as order_solver
from exactbnc.solvers.order.layers import Search
from exactbnc.solvers.order.relaxation import Priced, Relaxation, without
from exactbnc.solvers.solve import solve
from scorecache import ScoreCache
from tests.exactbnc.random_problems import best_score, random_problem
from tests.exactbnc.solvers.test_order import dense_problem, with_ties, without_lp
from tests.exactbnc.solvers.test_search import both_searches

N_PROBLEMS, N_BATCHES, N_SHORT = 2000, 20, 2


@pytest.fixture
def always(monkeypatch):
    """An LP at every state, from the first layer on; counts them."""
    monkeypatch.setattr(order_solver, "LARGE_LAYER", 0)
    monkeypatch.setattr(order_solver, "MUCH_WORK", -1.0)
    monkeypatch.setattr(order_solver, "WORK_BEFORE_LPS", 1000)
    relaxed, relax = [], Relaxation.relax

    def counted(*arguments):
        relaxed.append(relax(*arguments))
        return relaxed[-1]

    monkeypatch.setattr(Relaxation, "relax", counted)
    return relaxed


BATCHES = [pytest.param(b, marks=() if b < N_SHORT else pytest.mark.extended) for b in range(N_BATCHES)]


@pytest.mark.parametrize("batch", BATCHES)
def test_with_an_lp_at_every_state_random_problems_agree_with_enumeration(always, batch):
    n_solved = 0
    for seed in range(batch * N_PROBLEMS // N_BATCHES, (batch + 1) * N_PROBLEMS // N_BATCHES):
        cache, constraints = random_problem(seed)
        try:
            problem = Problem(cache, constraints)
        except InfeasibleError:
            continue
        if without_lp().refusal(problem, Limits()) is not None:
            continue
        expected, solution = best_score(cache, constraints), solve(problem, solver=without_lp(n_threads=1))
        assert (solution.status is Status.INFEASIBLE) is (expected is None), f"seed {seed}"
        if expected is not None:
            assert solution.score == pytest.approx(expected, abs=1e-9), f"seed {seed}"
            assert not problem.check(solution.dag)
            n_solved += 1
    assert n_solved > 10


def coarse(seed, n):
    """A dense problem with few values, so that families and networks tie."""
    listed = dense_problem(seed, n=n).cache
    families = [
        [(float(np.round(listed.scores[f] / 4)), listed.parents_of(f)) for f in range(*listed.child_start[v : v + 2])]
        for v in range(n)
    ]
    return Problem(ScoreCache.from_families(listed.names, families))


@pytest.mark.parametrize("make", [dense_problem, coarse])
def test_with_an_lp_at_every_state_the_search_equals_dynamic_programming(always, make):
    for seed in range(15):
        problem = make(seed, n=10)

        solution = solve(problem, solver=without_lp(n_threads=1), seed=seed)

        assert solution.status is Status.OPTIMAL
        assert solution.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-9)
        assert problem.score(solution.dag) == pytest.approx(solution.score, abs=1e-9)
    assert sum(one.priced is not None for one in always) > 15


def relaxed_search(problem, cuts, multipliers, best):
    """A search for what costs less than `best`, with an LP at every state and these multipliers at the root."""
    table = cost_table(problem)
    arranged = arrange(table, np.ones(table.n_families, dtype=bool), cuts, multipliers)
    relaxation = Relaxation(table, arranged, Priced(cuts, multipliers), Run.of())
    return Search(arranged, best, 0, relaxation=relaxation)


def cost_of_best(problem):
    return incumbent_of(cost_table(problem), np.array(solve(problem, solver="dp").dag.order)).cost


def test_a_search_for_anything_as_cheap_as_the_best_finds_it_and_its_bounds_hold(monkeypatch):
    monkeypatch.setattr(layout, "RAISES_PER_VARIABLE", 0)  # weak bounds: every state is open
    n_better = 0
    for seed in range(60):
        problem = with_ties(seed)
        least = cost_of_best(problem)
        own = relaxed_search(problem, no_cuts(1), np.zeros(0, dtype=np.int64), least + 1 + seed % 3)
        bounds = []
        own.search(Run.of(), 1, lambda _: False, lambda: bounds.append(own.bound))  # noqa: B023

        assert own.best == least
        assert max(bounds) <= least
        assert incumbent_of(cost_table(problem), own.order).cost == least
        n_better += own.n_relaxed > 0
    assert n_better > 30


def test_lps_take_fewer_states():
    n_with, n_alone = 0, 0
    for seed in range(5):
        problem = dense_problem(seed, n=12, n_sets=60)
        least, (cuts, multipliers) = cost_of_best(problem), ascent_cuts(cost_table(problem), Run.of())
        own = relaxed_search(problem, cuts, multipliers, least)
        own.search(Run.of(), 1, lambda _: False, lambda: None)
        assert own.is_complete
        assert own.best == least
        n_with += own.n_states
        own = relaxed_search(problem, cuts, multipliers, least)
        own.relaxation, own.n_states = None, 0
        own.search(Run.of(), 1, lambda _: False, lambda: None)
        n_alone += own.n_states
    assert n_with < 0.5 * n_alone


def test_the_clusters_left_after_a_set_hold_in_every_network_that_begins_with_it():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = 6
        masks = np.array([[int(rng.integers(1, 1 << n))] for _ in range(5)], dtype=np.uint64)
        sizes = np.bitwise_count(masks)[:, 0].astype(np.int64)
        cuts = cluster_cuts(masks, 1)._replace(k=np.minimum(sizes, rng.integers(1, 3, size=5)))
        order = rng.permutation(n)
        n_placed = int(rng.integers(0, n))
        placed = np.array([sum(1 << int(v) for v in order[:n_placed])], dtype=np.uint64)

        left, prices = without(cuts, np.arange(1, 6), placed)

        assert np.all(prices[np.isin(left.masks[:, 0], masks[:, 0], invert=True)] == 0)
        for mask, k in zip(left.masks[:, 0].tolist(), left.k.tolist(), strict=True):
            assert mask & int(placed[0]) == 0
            # the densest network: everybody after S has all before it as parents
            inside = [sum(mask >> int(u) & 1 for u in order[n_placed:i]) for i in range(n_placed, n)]
            members = [i for i, v in enumerate(order[n_placed:]) if mask >> int(v) & 1]
            assert sum(inside[i] < k for i in members) >= k


def test_an_lp_search_stops_when_the_run_has_to():
    problem = dense_problem(3, n=12, n_sets=60)
    run = Run.of()
    own = relaxed_search(problem, no_cuts(1), np.zeros(0, dtype=np.int64), 1 << 60)
    own.relaxation._run = run
    run.clock.interrupt()

    with pytest.raises(Stopped, match="interrupted"):
        own.search(run, 1, lambda _: False, lambda: None)

    assert not own.is_complete


def test_a_search_with_lps_is_repeatable(always):
    problem = dense_problem(5, n=12, n_sets=60)
    one, two = (solve(problem, solver=without_lp(n_threads=k), seed=3) for k in (1, 2))

    assert one.dag == two.dag
    assert one.statistics.states == two.statistics.states


def test_layers_begin_again_with_lps_where_they_explode_and_families_are_few(monkeypatch):
    layers, _ = both_searches(dense_problem(1, n=12, n_sets=90), Run.of())
    with closing(layers):
        layers.advance(0.0)
        own = layers._search
        for sizes, expected in (
            ([1, 10, 100, 6000], True),
            ([1, 10, 100, 4000], False),
            ([900, 9000, 8000, 6000], False),  # they shrink
        ):
            own.sizes[:] = sizes
            assert layers._explodes(own) is expected
        own.sizes[:] = [1, 10, 100, 6000]
        layers._may_relax = False
        assert not layers._explodes(own)
        layers._may_relax = True
        monkeypatch.setattr(order_solver, "MOST_FAMILIES", 1)
        assert not layers._explodes(own)


@pytest.mark.parametrize(("sparse", "expected"), [(0, True), (10**9, False)])
def test_auto_takes_lps_at_states_of_dense_problems_only(monkeypatch, always, sparse, expected):
    for name, value in (("SPARSE", sparse), ("UNTRIED_LAYERS", 0.0), ("UNTRIED_TREE", 1e3), ("LEAST_TURN", 0.0)):
        monkeypatch.setattr(search, name, value)
    problem = dense_problem(1, n=12, n_sets=90)

    solution = search.solve_by_search(problem, Run.of())

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-6)
    assert any(one.priced is not None for one in always) is expected


def test_layers_that_begin_again_forecast_from_what_they_do_with_lps(always):
    layers, _ = both_searches(dense_problem(1, n=12, n_sets=90), Run.of())
    with closing(layers):
        layers.advance(0.0)
        own = layers._search
        assert own.relaxation is not None
        layers._before = layers.work - 3.0, own.n_states - 6
        own.sizes[:] = [1, 10, 40, 80]  # four times as many, then twice, now as many, half as many, ...
        assert layers.forecast() == pytest.approx(0.5 * 80 * (1 + 1 + 0.5 + 0.125 + 0.5**6), rel=0.05)
