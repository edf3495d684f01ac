"""LPs at states of the search over orders: as exact as without them, repeatable, stopped in time."""

import numpy as np
import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solution import Status
from exactbnc.run.solver import Run
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
        search = relaxed_search(problem, no_cuts(1), np.zeros(0, dtype=np.int64), least + 1 + seed % 3)
        bounds = []
        search.search(Run.of(), 1, lambda _: False, lambda: bounds.append(search.bound))  # noqa: B023

        assert search.best == least
        assert max(bounds) <= least
        assert incumbent_of(cost_table(problem), search.order).cost == least
        n_better += search.n_relaxed > 0
    assert n_better > 30


def test_lps_take_fewer_states():
    n_with, n_alone = 0, 0
    for seed in range(5):
        problem = dense_problem(seed, n=12, n_sets=60)
        least, (cuts, multipliers) = cost_of_best(problem), ascent_cuts(cost_table(problem), Run.of())
        search = relaxed_search(problem, cuts, multipliers, least)
        search.search(Run.of(), 1, lambda _: False, lambda: None)
        assert search.is_complete
        assert search.best == least
        n_with += search.n_states
        search = relaxed_search(problem, cuts, multipliers, least)
        search.relaxation, search.n_states = None, 0
        search.search(Run.of(), 1, lambda _: False, lambda: None)
        n_alone += search.n_states
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
    search = relaxed_search(problem, no_cuts(1), np.zeros(0, dtype=np.int64), 1 << 60)
    search.relaxation._run = run
    run.clock.interrupt()

    with pytest.raises(Stopped, match="interrupted"):
        search.search(run, 1, lambda _: False, lambda: None)

    assert not search.is_complete


def test_a_search_with_lps_is_repeatable(always):
    problem = dense_problem(5, n=12, n_sets=60)
    one, two = (solve(problem, solver=without_lp(n_threads=k), seed=3) for k in (1, 2))

    assert one.dag == two.dag
    assert one.statistics.states == two.statistics.states
