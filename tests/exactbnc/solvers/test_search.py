"""The rule of `auto` beyond dynamic programming: who searches, who takes over, and that the answer is the same."""

import pytest

import exactbnc.solvers.search as search
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.run.solver import Run
from exactbnc.solvers.costs.table import cost_table
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


@pytest.mark.parametrize(
    ("sparse", "first_nodes", "most_states", "method"),
    [(0, 100, 10**6, "order"), (10**9, 10**6, 10**6, "ilp"), (10**9, 1, 10**6, "order"), (10**9, 1, 1, "ilp")],
)
def test_searches_take_turns_and_agree(monkeypatch, sparse, first_nodes, most_states, method):
    problem = open_at_the_root()
    for name, value in (("SPARSE", sparse), ("FIRST_NODES", first_nodes), ("MOST_STATES", most_states)):
        monkeypatch.setattr(search, name, value)

    solution = search.solve_by_search(problem, Run.of())

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(solve(problem, solver="dp").score, abs=1e-6)
    assert problem.check(solution.dag) == []
    assert solution.method == method


def test_a_node_limit_of_the_caller_is_kept(monkeypatch):
    monkeypatch.setattr(search, "SPARSE", 0)

    solution = search.solve_by_search(open_at_the_root(), Run.of(Limits(nodes=1)))

    assert solution.stop_reason == "nodes"
    assert solution.statistics.states <= 256


def test_the_tolerance_is_a_unit_per_variable():
    solution = search.solve_by_search(open_at_the_root(), Run.of())

    assert 0 < solution.tolerance <= 12e-8 + 1e-6
