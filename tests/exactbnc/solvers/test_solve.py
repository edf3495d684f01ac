"""The one verb: which method `auto` takes, what is refused, what a start and a limit do."""

import pytest

from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import make_solver, solve
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError

NAMES = "ABCDEF"


def knot(*variables, beyond=()):
    """Families of three variables, each with the two others as parents, or one, or none."""
    listed = []
    for v in variables:
        p, q = (u for u in variables if u != v)
        listed.append([(-1.0 - v / 8, (p, q)), (-2.0, (p,)), (-2.5 - v / 8, (q,)), (-4.0, ()), *beyond])
    return listed


def one_knot(**constraints):
    return Problem(ScoreCache.from_families("ABC", knot(0, 1, 2)), Constraints(**constraints))


def two_knots(**constraints):
    """D, E, F may have A as a parent, never the other way."""
    families = [*knot(0, 1, 2), *knot(3, 4, 5, beyond=[(-3.5, (0,))])]
    return Problem(ScoreCache.from_families(NAMES, families), Constraints(**constraints))


def test_auto_takes_the_tree_where_it_applies():
    chain = ScoreCache.from_families("AB", [[(-1.0, (1,)), (-3.0, ())], [(-1.0, (0,)), (-2.0, ())]])

    assert solve(Problem(chain)).method == "tree"
    assert solve(one_knot(max_parents=1)).method == "tree"


def test_auto_takes_dynamic_programming_for_a_small_component():
    assert solve(one_knot()).method == "dp"


def test_auto_takes_the_integer_program_for_rules_that_see_the_whole_network():
    assert solve(one_knot(max_edges=2)).method == "ilp"


def test_auto_takes_the_integer_program_where_memory_is_short():
    assert solve(one_knot(), limits=Limits(memory=300)).method == "ilp"


def test_auto_splits_and_agrees_with_every_method():
    problem = two_knots()

    solution = solve(problem)

    assert solution.statistics.n_components == 2
    assert solution.status is Status.OPTIMAL
    assert problem.check(solution.dag) == []
    assert problem.score(solution.dag) == pytest.approx(solution.score, abs=1e-9)
    for method in ("dp", "ilp"):
        assert solve(problem, solver=method).score == pytest.approx(solution.score, abs=1e-9)


@pytest.mark.parametrize(
    ("method", "constraints", "message"),
    [
        (
            "sat",
            {},
            "the solver must be one of auto, tree, dp, order, ilp. Got 'sat' instead.",
        ),
        (
            "dp",
            {"max_edges": 2},
            "the solver 'dp' cannot solve this problem: dynamic programming takes constraints on single families and "
            "orders only, not max edges",
        ),
        (
            "tree",
            {"min_edges": 1},
            "the solver 'tree' cannot solve this problem: a best tree does not take account of min edges",
        ),
        (
            "tree",
            {},
            "the solver 'tree' cannot solve this problem: a best tree needs at most one free parent per child, but A "
            "may have 2 parents at once that could be its descendants",
        ),
    ],
)
def test_refusals_word_for_word(method, constraints, message):
    with pytest.raises(ParameterError) as caught:
        solve(one_knot(**constraints), solver=method)

    assert str(caught.value) == message


def test_the_integer_program_refuses_nothing():
    assert make_solver("ilp").refusal(one_knot(max_edges=2, required_ancestors=["AB"]), Limits()) is None


def test_no_time_leaves_nothing_known_to_dynamic_programming():
    solution = solve(one_knot(), solver="dp", limits=Limits(seconds=0))

    assert solution.status is Status.UNKNOWN
    assert (solution.dag, solution.score, solution.stop_reason) == (None, None, "time")
    assert solution.bound >= solve(one_knot()).score


@pytest.mark.parametrize("method", ["order", "ilp"])
def test_no_time_leaves_a_network_and_a_bound(method):
    start = DAG.from_arcs("CAB", ["AB"])

    for given in (None, start):
        solution = solve(one_knot(), solver=method, limits=Limits(seconds=0), start=given)

        assert one_knot().check(solution.dag) == []
        assert solution.score >= one_knot().score(start) or given is None
        assert solution.bound >= solve(one_knot()).score


@pytest.mark.parametrize("method", ["dp", "auto"])
def test_no_time_leaves_the_start_with_its_gap(method):
    start = DAG.from_arcs("CAB", ["AB"])

    solution = solve(one_knot(), solver=method, limits=Limits(seconds=0), start=start)

    assert solution.status is Status.FEASIBLE
    assert set(solution.dag.arcs) == {("A", "B")}
    assert solution.score == one_knot().score(start)
    assert solution.bound >= solve(one_knot()).score


def test_no_time_leaves_the_start_of_a_problem_in_parts():
    start = DAG.from_arcs(NAMES, ["AB", "DE"])

    solution = solve(two_knots(), limits=Limits(seconds=0), start=start)

    assert solution.status is Status.FEASIBLE
    assert {("A", "B"), ("D", "E")} <= set(solution.dag.arcs)
    assert solution.score >= two_knots().score(start)


def test_a_start_that_breaks_a_constraint_changes_nothing():
    start = DAG.from_arcs("ABC", ["AB"])

    for method in ("dp", "ilp"):
        solution = solve(one_knot(forbidden_arcs=["AB"]), solver=method, start=start)
        assert solution.status is Status.OPTIMAL
        assert ("A", "B") not in solution.dag.arcs


@pytest.mark.parametrize("method", ["auto", "ilp"])
def test_a_solver_finds_out_that_there_is_no_network(method):
    problem = Problem(ScoreCache.from_families("AB", [[(-1.0, (1,))], [(-1.0, (0,))]]))

    solution = solve(problem, solver=method)

    assert solution.status is Status.INFEASIBLE
    assert (solution.dag, solution.score, solution.stop_reason) == (None, None, "infeasible")


def test_a_part_without_network_leaves_none_for_the_whole():
    families = [[(-1.0, (1, 2))], [(-1.0, (0, 2))], [(-1.0, (0, 1))], *knot(3, 4, 5)]

    solution = solve(Problem(ScoreCache.from_families(NAMES, families)))

    assert solution.status is Status.INFEASIBLE
    assert (solution.dag, solution.score, solution.stop_reason) == (None, None, "infeasible")


class Heard:
    """A listener that remembers."""

    def __init__(self):
        self.incumbents = []

    def on_progress(self, progress):
        pass

    def on_incumbent(self, dag, score):
        self.incumbents.append((dag, score))


def test_listener_of_a_split_problem_hears_of_whole_networks():
    problem, listener = two_knots(), Heard()

    solution = solve(problem, listener=listener)

    assert solution.statistics.n_components == 2
    dag, score = listener.incumbents[-1]
    assert dag == solution.dag
    assert score == pytest.approx(solution.score, rel=1e-12)


def test_start_in_another_order_of_the_variables_is_kept():
    start = DAG.from_arcs("FEDCBA", ["AB", "DE"])

    solution = solve(two_knots(), limits=Limits(seconds=0), start=start)

    assert {("A", "B"), ("D", "E")} <= set(solution.dag.arcs)


def test_a_cache_in_place_of_a_problem_is_told_the_way():
    cache = ScoreCache.from_families(["a"], [[(0.0, ())]])

    with pytest.raises(ParameterError, match=r"^solve takes a Problem, such as Problem\(cache\)\. Got ScoreCache"):
        solve(cache)
