"""The rule of `auto` beyond dynamic programming: who searches, who takes over, and that the answer is the same."""

import math
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import exactbnc.solvers.ilp.solver as branching
import exactbnc.solvers.search as search
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import find_root, incumbent_of
from exactbnc.solvers.bounds.root.settings import RootSettings
from exactbnc.solvers.costs.table import cost_table, feasible_order
from exactbnc.solvers.ilp.solver import TreeSearch
from exactbnc.solvers.order import layers
from exactbnc.solvers.order.solver import LayerSearch
from exactbnc.solvers.solve import solve
from tests.exactbnc.solvers.test_order import dense_problem


def open_at_the_root():
    """A problem that neither root closes, with about 70 families per variable."""
    return dense_problem(1, n=12, n_sets=90)


def test_sparse_means_fewer_families_per_variable_than_stated(monkeypatch):
    table = cost_table(open_at_the_root())
    per_variable = table.n_families / table.n_vars

    for limit, expected in ((per_variable - 1, False), (per_variable + 1, True)):
        monkeypatch.setattr(search, "SPARSE", limit)
        assert search.is_sparse(table) is expected


@pytest.mark.parametrize(("sparse", "method"), [(0, "order"), (10**9, "ilp")])
def test_the_search_that_suits_ends_what_is_short(monkeypatch, sparse, method):
    problem = open_at_the_root()
    for name, value in (("SPARSE", sparse), ("UNTRIED_LAYERS", 1e3), ("UNTRIED_TREE", 1e3)):
        monkeypatch.setattr(search, name, value)

    solution = search.solve_by_search(problem, Run.of())

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-6)
    assert problem.check(solution.dag) == []
    assert solution.method == method
    assert (solution.statistics.nodes is None) == (method == "order")
    assert (solution.statistics.states is None) == (method == "ilp")


def in_short_turns(monkeypatch, problem, sparse):
    """Solved with turns as short as they can be, each search asked at once."""
    monkeypatch.setattr(search, "SPARSE", sparse)
    for name in ("LEAST_TURN", "SHARE_OF_TURN", "UNTRIED_LAYERS", "UNTRIED_TREE"):
        monkeypatch.setattr(search, name, 0.0)
    monkeypatch.setattr(branching, "FEW_NODES", 1)
    monkeypatch.setattr(layers, "STATES_PER_TASK", 1)
    return search.solve_by_search(problem, Run.of())


@pytest.mark.parametrize("sparse", [0, 10**9])
@pytest.mark.parametrize("seed", range(3))
def test_searches_take_turns_and_agree(monkeypatch, sparse, seed):
    problem = dense_problem(seed, n=12, n_sets=90)

    one, two = (in_short_turns(monkeypatch, problem, sparse) for _ in range(2))

    assert one.status is Status.OPTIMAL
    assert one.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-6)
    assert problem.check(one.dag) == []
    counted = one.statistics.states, one.statistics.nodes, one.statistics.lp_iterations
    assert None not in counted
    assert counted == (two.statistics.states, two.statistics.nodes, two.statistics.lp_iterations)


def both_searches(problem, run):
    """The two searches below one root."""
    table = cost_table(problem)
    report = Report(problem, table, run.events)
    root = find_root(table, feasible_order(table), run, settings=RootSettings(least_gain=12), report=report)
    return LayerSearch(root, report, run), TreeSearch(root, report, problem, run)


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_better_network_of_the_other_search_is_taken(has_begun):
    problem = open_at_the_root()
    table = cost_table(problem)
    best = incumbent_of(table, np.array(solve(problem, solver="dp").dag.order))
    for own in both_searches(problem, Run.of()):
        with closing(own):
            own.incumbent = own.incumbent._replace(cost=own.incumbent.cost + 10**9)
            own.root = replace(own.root, incumbent=own.incumbent)
            if has_begun:
                assert own.advance(0.0) is None
            own.offer(best)
            assert own.incumbent.cost == best.cost
            reason = own.advance()
            outcome = own.outcome(reason)

        assert reason == "proved"
        assert outcome.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-6)


def test_layers_are_forecast_from_the_sizes_of_the_last_three():
    layers_of_order, _ = both_searches(open_at_the_root(), Run.of())
    with closing(layers_of_order) as own:
        own.advance()
        own._search.sizes[:] = [1, 10, 40, 80]  # four times as many, then twice, now 5/8 of that, ...
        n_states = 80 * (1 + 1.25 + 1.25 * 0.78125 + 1.25 * 0.78125 * 0.48828125)
        assert own.forecast() == pytest.approx(own.work * n_states / own._search.n_states, rel=0.1)
        own._search.sizes[:] = [1, 10, 100, 1000]
        assert own.forecast() == math.inf


def test_branch_and_cut_is_forecast_from_the_share_of_the_gap_that_it_closed():
    _, tree = both_searches(open_at_the_root(), Run.of())
    with closing(tree) as own:
        own.advance()
        assert own.forecast() == pytest.approx(0.0, abs=1e-6)
        gap = (own.incumbent.cost - own.root.bound) * own.root.table.unit
        own._search._context.cost_bound_when_stopped = own.root.bound * own.root.table.unit + gap / 3
        assert own.forecast() == pytest.approx((3**1.5 - 1) * own.work)


class Scripted:
    """A search that does as it is told."""

    def __init__(self, name, forecasts, reasons):
        self.name, self.work, self.incumbent = name, 0.0, name
        self.forecasts, self.reasons, self.offered = iter(forecasts), iter(reasons), []

    def forecast(self):
        return next(self.forecasts)

    def advance(self, work=math.inf):
        self.work += 1.0
        return next(self.reasons)

    def offer(self, incumbent):
        self.offered.append(incumbent)

    def outcome(self, reason):
        return Outcome(self.name, reason)

    def counted(self):
        return {}

    def close(self):
        self.is_closed = True


@pytest.mark.parametrize(
    ("one", "other", "untried", "ends"),
    [
        (([9.0, 9.0], [None, None, "proved"]), ([], []), 15.0, ("one", "proved")),  # has less to do than is expected
        (([99.0], [None]), ([], ["proved"]), 15.0, ("other", "proved")),
        (([99.0, 99.0], [None, "proved"]), ([200.0], [None]), 15.0, ("one", "proved")),
        (([99.0, 99.0], [None]), ([50.0], [None, "time"]), 15.0, ("other", "time")),
        (([99.0], [None, "proved"]), ([], []), math.inf, ("one", "proved")),
        (([], ["memory"]), ([], ["proved"]), math.inf, ("other", "proved")),
    ],
)
def test_turns_go_to_the_search_with_less_to_do(one, other, untried, ends):
    first, second = Scripted("one", *one), Scripted("other", *other)

    outcome = search._in_turns(first, second, untried)

    assert (outcome.method, outcome.stop_reason) == ends
    assert set(second.offered) <= {"one"}
    assert set(first.offered) <= {"other"}


def test_a_search_that_falls_behind_has_a_turn(monkeypatch):
    first, second = Scripted("one", [99.0] + 9 * [5.0], 9 * [None]), Scripted("other", 9 * [50.0], [None, "proved"])

    assert search._in_turns(first, second, 15.0).method == "other"
    assert first.work == 6.0


def test_a_node_limit_of_the_caller_is_kept(monkeypatch):
    monkeypatch.setattr(search, "SPARSE", 0)

    solution = search.solve_by_search(open_at_the_root(), Run.of(Limits(nodes=1)))

    assert solution.stop_reason == "nodes"
    assert solution.statistics.states <= 256


def test_the_tolerance_is_a_unit_per_variable(monkeypatch):
    for name, value in (("SPARSE", 10**9), ("UNTRIED_LAYERS", 1e3)):
        monkeypatch.setattr(search, name, value)
    solution = search.solve_by_search(open_at_the_root(), Run.of())

    assert 0 < solution.tolerance <= 12e-8 + 1e-6
