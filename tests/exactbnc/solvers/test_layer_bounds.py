"""Bounds in the middle of a layer hold, and come before its end."""

from exactbnc.run import events
from exactbnc.solvers.order import layers
from exactbnc.solvers.solve import solve
from tests.exactbnc.solvers.test_order import dense_problem, without_lp


class Bounds:
    def __init__(self):
        self.heard = []

    def on_progress(self, progress):
        self.heard.append((progress.nodes, progress.bound))

    def on_incumbent(self, dag, score):
        pass


def test_no_bound_is_below_the_best_score_however_small_the_rounds(monkeypatch):
    monkeypatch.setattr(layers, "TASKS_PER_ROUND", 1)
    monkeypatch.setattr(layers, "STATES_PER_TASK", 1)
    monkeypatch.setattr(events, "SECONDS_BETWEEN", 0.0)
    n_layers, n_bounds = 0, 0
    for seed in range(3):
        problem, bounds = dense_problem(seed), Bounds()
        best = solve(problem, solver="dp").score

        solution = solve(problem, solver=without_lp(n_threads=1), listener=bounds)

        assert abs(solution.score - best) < 1e-6
        assert all(bound >= best - 1e-6 for _, bound in bounds.heard)
        n_layers += problem.n_vars
        n_bounds += len({bound for n_states, bound in bounds.heard if n_states})
    assert n_bounds > n_layers / 2
