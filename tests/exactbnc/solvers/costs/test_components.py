import numpy as np
import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Stopped
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.costs.components import assemble, components
from exactbnc.solvers.solve import solve
from exactbnc.solvers.split import solve_split
from scorecache.cache import ScoreCache
from tests.exactbnc.random_problems import best_score, random_cache


def split_problem(seed):
    """Six variables in two groups that offer each other parents one way only, and sometimes an order."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(6)]
    cache = random_cache(rng, names, "general")
    families = [
        [(score, parents) for score, parents in cache.families(v) if v >= 3 or max(parents, default=0) < 3]
        or [(-9.0, ())]
        for v in range(6)
    ]
    order = [tuple(rng.choice(names, size=2, replace=False).tolist())] if rng.random() < 0.5 else []
    return ScoreCache.from_families(names, families), Constraints(order=order)


def reachable(problem, source):
    """Everything that a walk over possible parents and precedence pairs leads to."""
    found, waiting = set(), [source]
    while waiting:
        v = waiting.pop()
        following = {b for a, b in problem.precedence if a == v}
        following |= {c for c in range(problem.n_vars) if any(v in parents for _, parents in problem.families.of(c))}
        waiting.extend(following - found)
        found |= following
    return found


@pytest.mark.parametrize("batch", range(4))
def test_components_are_where_cycles_can_run_and_their_best_networks_make_the_best(batch):
    for seed in range(batch * 15, (batch + 1) * 15):
        cache, constraints = split_problem(seed)
        try:
            problem = Problem(cache, constraints)
        except InfeasibleError:
            continue
        parts = list(components(problem, lambda: None))
        reach = [reachable(problem, v) | {v} for v in range(6)]

        assert sorted(v for part in parts for v in part.variables) == list(range(6))
        for part in parts:
            for v in part.variables:
                assert set(part.variables) == {u for u in range(6) if u in reach[v] and v in reach[u]}

        expected = best_score(cache, constraints)
        networks = [solve(part.problem, solver="dp") for part in parts]
        if expected is None:
            assert any(network.dag is None for network in networks)
        else:
            dag = assemble(problem, [(part, network.dag) for part, network in zip(parts, networks, strict=True)])
            assert problem.check(dag) == []
            assert problem.score(dag) == pytest.approx(expected, abs=1e-9)


def test_parents_from_outside_come_along():
    families = [[(-1.0, ())], [(-1.0, (0, 2)), (-3.0, (0,)), (-5.0, ())], [(-1.0, (0, 1)), (-4.0, ())]]
    problem = Problem(ScoreCache.from_families("ABC", families))
    first, second = sorted(components(problem, lambda: None), key=lambda part: part.variables)

    assert (first.variables, second.variables) == ((0,), (1, 2))
    assert list(second.problem.families.of(0)) == [(-1.0, (1,)), (-3.0, ())]
    dag = assemble(problem, [(first, DAG.from_arcs("A", [])), (second, DAG.from_arcs("BC", ["BC"]))])
    assert set(dag.arcs) == {("A", "B"), ("A", "C"), ("B", "C")}


def test_an_interrupt_without_a_network_does_not_wait_for_the_other_components():
    problem = Problem(ScoreCache.from_families("abc", [[(-1.0, ())]] * 3))
    solved = []

    def interrupted(part, run):
        solved.append(part)
        return Outcome("none", "interrupted")

    with pytest.raises(Stopped, match="interrupted"):
        solve_split(problem, interrupted, Run.of())

    assert len(solved) == 1


def test_components_for_which_no_time_is_left_get_some_network():
    problem = Problem(ScoreCache.from_families("abc", [[(-1.0, ())], [(-2.0, ())], [(-3.0, ())]]))

    outcome = solve_split(problem, lambda part, run: Outcome("none", "time"), Run.of())

    assert (outcome.stop_reason, outcome.score) == ("time", -6.0)
    assert problem.check(outcome.dag) == []


def test_a_problem_of_one_component_is_solved_as_it_is(monkeypatch):
    cache = ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]])
    problem, given = Problem(cache), []
    monkeypatch.setattr("exactbnc.solvers.split.components", None)  # families are not listed to find that out

    def solve_part(part, run):
        given.append(part)
        return Outcome("none", "time")

    solve_split(problem, solve_part, Run.of())

    assert given == [problem]
