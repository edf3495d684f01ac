"""The search over orders: exact against dynamic programming, repeatable, honest when it is cut short."""

from dataclasses import replace

import numpy as np
import pytest

from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solution import Status
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.ascent import layout
from exactbnc.solvers.bounds.ascent.layout import arrange
from exactbnc.solvers.bounds.cuts.pool import no_cuts, reduced_costs
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import ascent_cuts, find_root, incumbent_of
from exactbnc.solvers.bounds.root.settings import RootSettings, Tail
from exactbnc.solvers.costs.table import cost_table, feasible_order
from exactbnc.solvers.order import layers
from exactbnc.solvers.order import solver as order_solver
from exactbnc.solvers.order.layers import Layer, Search
from exactbnc.solvers.order.solver import OrderSolver
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from tests.exactbnc.solvers.costs.test_table import random_cache


def dense_problem(seed, n=9, n_sets=40):
    """Random scores with many conflicting parents: the root leaves a gap."""
    rng = np.random.default_rng(seed)
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = {tuple(sorted(rng.choice(others, size=3, replace=False).tolist())) for _ in range(n_sets)} | {()}
        families.append([(0.0 if not w else float(np.round(rng.uniform(5, 30), 6)), w) for w in sets])
    return Problem(ScoreCache.from_families([f"v{i}" for i in range(n)], families))


def without_lp(n_threads=None):
    """Only dual ascent at the root, so that the layers have work to do."""
    return OrderSolver(n_threads=n_threads, settings=RootSettings(tail=Tail(1.0, 1)))


def test_the_search_equals_dynamic_programming_beyond_the_root():
    n_states = 0
    for seed in range(15):
        problem = dense_problem(seed)

        solution = solve(problem, solver=without_lp(), seed=seed)

        assert solution.status is Status.OPTIMAL
        assert solution.tolerance == 0.0
        assert solution.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-9)
        assert problem.score(solution.dag) == pytest.approx(solution.score, abs=1e-9)
        n_states += solution.statistics.states
    assert n_states > 100


def test_threads_do_not_change_the_answer():
    for seed in range(5):
        problem = dense_problem(seed, n=10)
        one, two = (solve(problem, solver=OrderSolver(n_threads=k), seed=3) for k in (1, 2))

        assert one.dag == two.dag
        assert one.statistics.states == two.statistics.states


def test_orders_asked_for_are_kept():
    rng = np.random.default_rng(8)
    for _ in range(10):
        cache = random_cache(rng, 6, 8)
        problem = Problem(cache, Constraints(order=[("v3", "v0"), ("v5", "v2")]))

        solution = solve(problem, solver="order")

        assert not problem.check(solution.dag)
        assert solution.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-9)


def test_a_state_limit_leaves_a_network_and_a_bound():
    problem = dense_problem(1, n=12, n_sets=120)
    best = solve(problem, solver="dp").score

    solution = solve(problem, solver=without_lp(), limits=Limits(nodes=5))

    assert solution.status is Status.FEASIBLE
    assert solution.stop_reason == "nodes"
    assert solution.score <= best + 1e-9 <= solution.bound + 2e-9


def search_from(problem, bound):
    """A search without cuts, from the order that comes first and any bound on the cost."""
    table = cost_table(problem)
    start = incumbent_of(table, feasible_order(table))
    none = no_cuts(table.masks.shape[1])
    alive = np.ones(table.n_families, dtype=bool)
    return Search(arrange(table, alive, none, np.zeros(0, dtype=np.int64)), start.cost, bound)


def test_a_search_that_stops_since_its_bound_is_reached_is_complete():
    """The bound is the least cost: the order that reaches it ends the search, and there is nothing better."""
    n_early = 0
    for seed in range(10):
        problem = dense_problem(seed, n=7)
        full = search_from(problem, 0)
        full.search(Run.of(), 1, lambda _: False, lambda: None)
        assert full.is_complete

        search = search_from(problem, full.best)
        search.search(Run.of(), 1, lambda _, search=search: search.best <= search.bound, lambda: None)

        assert search.best == full.best
        assert search.is_complete
        n_early += search.n_states < full.n_states
    assert n_early > 0


def test_a_search_that_stops_before_its_bound_is_reached_is_not_complete():
    full = search_from(dense_problem(0, n=7), 0)
    full.search(Run.of(), 1, lambda _: False, lambda: None)
    search = search_from(dense_problem(0, n=7), 0)

    search.search(Run.of(), 1, lambda _: True, lambda: None)

    assert not search.is_complete
    assert search.bound < full.best <= search.best


def test_no_time_at_all_still_gives_a_network():
    problem = dense_problem(2)

    solution = solve(problem, solver="order", limits=Limits(seconds=0.0))

    assert solution.dag is not None
    assert solution.bound >= solution.score


def test_more_than_one_word_of_variables():
    rng = np.random.default_rng(4)
    names = [f"v{i:02}" for i in range(70)]
    families = [[(0.0, ())] for _ in names]
    for child in range(60, 70):
        others = [v for v in range(60, 70) if v != child]
        sets = {tuple(sorted(rng.choice(others, size=2, replace=False).tolist())) for _ in range(20)}
        families[child] += [(float(np.round(rng.uniform(1, 9), 6)), w) for w in sets]
    for child in range(60):
        families[child].append((1.0, ((child + 1) % 60,)))
    problem = Problem(ScoreCache.from_families(names, families))

    solution = solve(problem, solver=OrderSolver())

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(solve(problem, solver="auto").score, abs=1e-9)


def test_an_impossible_problem_is_infeasible():
    cache = ScoreCache.from_families("ab", [[(0.0, (1,))], [(0.0, (0,))]])

    assert solve(Problem(cache), solver="order").status is Status.INFEASIBLE


def layer_of(*entries):
    return Layer(*(np.array(column) for column in zip(*entries, strict=True)))


def test_merging_keeps_the_cheapest_entry_the_weakest_caps_and_the_weakest_bound_on_what_follows():
    parts = [
        layer_of(([3], 10, [9, 9, 4], 17, 0, 0), ([5], 4, [9, 1, 9], 9, 1, 2), ([5], 1, [9, 9, 9], 20, 1, 1)),
        layer_of(([3], 8, [9, 9, 6], 11, 2, 1)),
    ]

    merged = layers.merged(parts, 20)  # what costs 20 or more is of no use

    assert merged.states.tolist() == [[3], [5]]
    assert merged.cost.tolist() == [8, 4]
    assert merged.caps.tolist() == [[9, 9, 6], [9, 1, 9]]
    assert merged.bound.tolist() == [8 + 3, 9]
    assert merged.origin.tolist() == [2, 1]
    assert merged.variable.tolist() == [1, 2]


def with_ties(seed, n=9):
    """Scores out of few values: families of a child cost the same, and so do networks."""
    rng = np.random.default_rng(seed)
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = {tuple(sorted(rng.choice(others, size=k, replace=False).tolist())) for k in (1,) * 4 + (2,) * 8}
        families.append([(0.0, ()), *((float(rng.integers(1, 20)), w) for w in sorted(sets))])
    return Problem(ScoreCache.from_families([f"v{i}" for i in range(n)], families))


def wrong_answers(monkeypatch, n_problems):
    """How often a search with weak bounds for anything as cheap as the best network finds nothing."""
    monkeypatch.setattr(layout, "RAISES_PER_VARIABLE", 0)
    n_wrong, n_states = 0, 0
    for seed in range(n_problems):
        problem = with_ties(seed)
        least = incumbent_of(cost_table(problem), np.array(solve(problem, solver="dp").dag.order)).cost
        search = search_from(problem, 0)
        search.best = least + 1
        bounds = []
        search.search(Run.of(), 1, lambda _: False, lambda: bounds.append(search.bound))  # noqa: B023
        assert search.best >= least
        n_wrong += search.best > least or max(bounds) > least
        n_states += search.n_states
    assert n_states > 5 * n_problems
    return n_wrong


def test_caps_lose_no_best_network_where_many_tie(monkeypatch):
    assert wrong_answers(monkeypatch, 100) == 0


def test_caps_that_are_too_strong_at_merges_lose_some(monkeypatch):
    right = layers.merged

    def with_strongest_caps(parts, upper):
        caps = -right([replace(part, caps=-part.caps) for part in parts], upper).caps
        return replace(right(parts, upper), caps=caps)

    monkeypatch.setattr(layers, "merged", with_strongest_caps)

    assert wrong_answers(monkeypatch, 100) > 0


def open_search(problem, beside):
    """A search below dual ascent alone, from the order of a bad network, with another one beside it."""
    table = cost_table(problem)
    cuts, multipliers = ascent_cuts(table, Run.of())
    bound = reduced_costs(table, cuts, multipliers).bound
    first = incumbent_of(table, np.arange(table.n_vars))
    arranged = arrange(table, np.ones(table.n_families, dtype=np.bool_), cuts, multipliers)
    return table, Search(arranged, first.cost, bound, beside=beside)


@pytest.mark.parametrize("seed", range(4))
def test_a_better_order_found_beside_is_taken_and_the_proof_holds(seed):
    problem = dense_problem(seed, n=10)
    best = solve(problem, solver="dp").dag
    table = cost_table(problem)
    order = np.array(best.order)
    least = incumbent_of(table, order).cost
    calls = []

    def beside(n_raises):
        calls.append(n_raises)
        return least, order

    told = []
    _, helped = open_search(problem, beside)
    helped.search(Run.of(), 1, lambda n_bytes: False, lambda: told.append(helped.best))
    _, alone = open_search(problem, None)
    alone.search(Run.of(), 1, lambda n_bytes: False, lambda: None)

    assert helped.is_complete
    assert helped.best == alone.best == least
    assert incumbent_of(table, helped.order).cost == least
    assert least in told
    assert calls == sorted(calls)


def test_a_worse_order_found_beside_is_left():
    problem = dense_problem(2, n=10)
    table, search = open_search(problem, lambda n_raises: (1 << 60, np.arange(10)))
    search.search(Run.of(), 1, lambda n_bytes: False, lambda: None)

    assert search.is_complete
    assert search.best * table.unit == pytest.approx(cost_of_best(problem, table))


def cost_of_best(problem, table):
    return incumbent_of(table, np.array(solve(problem, solver="dp").dag.order)).cost * table.unit


def test_local_search_beside_the_layers_is_repeatable(monkeypatch):
    monkeypatch.setattr(order_solver, "LEAST_WORK", 1)
    problem = dense_problem(3, n=12, n_sets=60)
    one, two = (solve(problem, solver=without_lp(n_threads=k), seed=3) for k in (1, 2))

    assert one.dag == two.dag
    assert one.statistics.states == two.statistics.states > 50
    assert one.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-9)


def test_local_search_beside_the_layers_gets_less_work_later(monkeypatch):
    monkeypatch.setattr(order_solver, "MANY_RAISES", 1000)
    given = []
    monkeypatch.setattr(order_solver.LongSearch, "resume", lambda self, work, check: given.append(work))
    table = cost_table(dense_problem(0))
    beside = order_solver._Beside(table, Run.of())

    assert beside(order_solver.LEAST_WORK // order_solver.WORK_PER_RAISE // 10) is None
    for n_raises in (1000, 100_000, 200_000):
        beside(n_raises)

    assert sum(given) == 1000 * order_solver.WORK_PER_RAISE + 199_000 * order_solver.WORK_LATER


def test_a_root_that_local_search_closes_leaves_nothing_to_search():
    # the last local search at the root finds a network that rules out every family of some child
    problem = dense_problem(2, n=10)
    table = cost_table(problem)
    best = incumbent_of(table, np.array(solve(problem, solver="dp").dag.order))
    run = Run.of()
    report = Report(problem, table, run.events)
    root = find_root(table, np.arange(10), run, settings=RootSettings(tail=Tail(1e9, 0)), report=report)
    assert root.bound < best.cost

    closed = root.with_incumbent(best._replace(cost=root.bound))
    outcome = OrderSolver().finish(closed, report, run)

    assert closed.is_closed
    assert len(np.unique(table.child[closed.is_alive])) < table.n_vars
    assert (outcome.stop_reason, outcome.statistics.states) == ("proved", 0)
    assert outcome.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-9)


def test_an_order_that_is_better_by_less_than_the_least_gain_is_kept():
    problem = dense_problem(2, n=10)
    table = cost_table(problem)
    best = np.array(solve(problem, solver="dp").dag.order)
    least = incumbent_of(table, best).cost
    _, search = open_search(problem, lambda n_raises: (least, best))
    search.least_gain = search.best

    search.search(Run.of(), 1, lambda n_bytes: False, lambda: None)

    assert search.is_complete
    assert search.best == least


def test_a_round_is_cut_short_when_the_run_has_to_stop():
    run = Run.of()
    _, search = open_search(dense_problem(3, n=12, n_sets=60), None)
    run.clock.interrupt()

    with pytest.raises(Stopped, match="interrupted"):
        search.search(run, 1, lambda n_bytes: False, lambda: None)

    assert not search.is_complete
