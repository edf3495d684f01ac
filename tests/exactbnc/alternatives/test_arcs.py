"""What arcs are worth, against the best network without each of them, found by enumeration."""

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exactbnc.alternatives.arcs import arc_losses
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache import build_cache
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from tests.exactbnc.random_problems import best_score, random_problem
from tests.strategies import datasets, examples

TOL = 1e-6


def without_arc(problem, parent, child):
    return problem.constraints.merged(Constraints(forbidden_arcs=((parent, child),)))


@given(st.integers(0, 10**6))
@examples(25)
def test_the_exact_loss_is_that_of_enumeration_under_any_constraints(seed):
    cache, constraints = random_problem(seed)
    problem = solvable(cache, constraints)
    dag = solve(problem).dag
    assume(dag is not None)
    best = problem.score(dag)

    losses = arc_losses(problem, dag, exact=True)

    required = set(constraints.required_arcs)
    is_of_class = constraints.class_name if constraints.is_classifier else None
    assert {(loss.parent, loss.child) for loss in losses} == {
        arc for arc in dag.arcs if arc not in required and arc[0] != is_of_class
    }
    for loss in losses:
        rest = best_score(cache, without_arc(problem, loss.parent, loss.child))
        assert loss.is_proved
        assert loss.forbidden == pytest.approx(math.inf if rest is None else best - rest, abs=TOL)
        assert 0 <= loss.forbidden <= loss.forbidden_at_most or loss.forbidden == math.inf
    assert [loss.forbidden for loss in losses] == sorted((loss.forbidden for loss in losses), reverse=True)


def solvable(cache, constraints):
    try:
        return Problem(cache, constraints, listed_families_only=True)
    except ParameterError:
        assume(False)


@given(datasets(min_vars=3, max_vars=4, min_arity=2, max_arity=3, max_rows=60), st.sampled_from(["anb", "general"]))
@examples(40)
def test_removing_costs_at_least_what_forbidding_costs_where_removing_is_allowed(dataset, family):
    class_name = dataset.names[-1] if family == "anb" else None
    cache = build_cache(dataset, "bdeu", domain=Domain.of(dataset.names, family, class_name=class_name), n_jobs=1)
    problem = Problem(cache, Constraints(structure=family, class_name=class_name))
    dag = solve(problem).dag

    quick = {(loss.parent, loss.child): loss for loss in arc_losses(problem, dag)}
    losses = arc_losses(problem, dag, exact=True)

    assert quick.keys() == {(loss.parent, loss.child) for loss in losses}
    for loss in losses:
        assert loss.removed >= loss.forbidden_at_most >= loss.forbidden >= 0
        assert quick[loss.parent, loss.child].forbidden_at_most == loss.forbidden_at_most
        assert quick[loss.parent, loss.child].forbidden is None
        assert not quick[loss.parent, loss.child].is_proved
        own = {frozenset(parents): score for score, parents in cache.families(cache.index[loss.child])}
        held = frozenset(dag.parents[cache.index[loss.child]])
        rest = held - {cache.index[loss.parent]}
        assert loss.removed == own[held] - max(score for parents, score in own.items() if parents <= rest)


def three_variables():
    """c costs 10 without a parent; with a nothing, with b 4: without the arc from a it takes b."""
    families = [[(0.0, ())], [(0.0, ()), (1.0, (0,))], [(0.0, (0,)), (-4.0, (1,)), (-10.0, ())]]
    return Problem(ScoreCache.from_families("abc", families), listed_families_only=True)


def test_losses_by_hand_the_largest_first():
    problem = three_variables()
    dag = DAG.from_arcs("abc", ["ab", "ac"])

    first, second = arc_losses(problem, dag)

    assert (first.parent, first.child, first.removed, first.forbidden_at_most) == ("a", "c", 10.0, 4.0)
    assert (second.parent, second.child, second.removed, second.forbidden_at_most) == ("a", "b", 1.0, 1.0)


def test_a_network_in_another_order_of_the_variables_is_the_same():
    problem = three_variables()

    assert arc_losses(problem, DAG.from_arcs("cab", ["ab", "ac"])) == arc_losses(
        problem, DAG.from_arcs("abc", ["ab", "ac"])
    )


def test_the_bound_of_a_network_that_is_not_the_best_is_never_below_zero():
    """Without a -> b the variable a is free to hang on c, which is worth 5: that is no loss but a gain."""
    families = [[(0.0, ()), (5.0, (2,))], [(0.0, ()), (1.0, (0,)), (3.0, (2,))], [(0.0, ())]]
    problem = Problem(ScoreCache.from_families("abc", families), listed_families_only=True)

    (loss,) = arc_losses(problem, DAG.from_arcs("abc", ["ab"]), exact=True)

    assert (loss.removed, loss.forbidden_at_most, loss.forbidden) == (1.0, 0.0, 0.0)


def test_an_arc_that_no_network_does_without_is_worth_infinitely_much():
    families = [[(0.0, ())], [(0.0, (0,))]]
    problem = Problem(ScoreCache.from_families("ab", families), listed_families_only=True)

    (loss,) = arc_losses(problem, DAG.from_arcs("ab", ["ab"]), exact=True)

    assert (loss.removed, loss.forbidden_at_most, loss.forbidden, loss.is_proved) == (None, math.inf, math.inf, True)


def test_a_tan_cannot_lose_an_arc_without_another():
    """With one tree arc between two features there is no other than its reverse, which is as good or worse."""
    families = [[(0.0, (2,)), (-1.0, (1, 2))], [(0.0, (2,)), (2.0, (0, 2))], [(0.0, ())]]
    constraints = Constraints(structure="tan", class_name="c")
    problem = Problem(ScoreCache.from_families("abc", families), constraints, listed_families_only=True)
    dag = DAG.from_arcs("abc", ["ab", "ca", "cb"])

    (loss,) = arc_losses(problem, dag, exact=True)

    assert (loss.parent, loss.child) == ("a", "b")
    assert loss.removed == 2.0
    assert loss.forbidden_at_most == math.inf
    assert loss.forbidden == pytest.approx(3.0, abs=TOL)


def test_without_time_the_loss_is_the_bound_and_not_proved(monkeypatch):
    problem = three_variables()
    dag = DAG.from_arcs("abc", ["ab", "ac"])
    worse = DAG.from_arcs("abc", [])

    def hurried(without, *, limits, seed):
        found = solve(without, seed=seed)
        score = without.score(worse)
        return replace(found, status=Status.FEASIBLE, dag=worse, score=score, stop_reason="time")

    monkeypatch.setattr("exactbnc.alternatives.arcs.solve", hurried)

    first, second = arc_losses(problem, dag, exact=True, limits=Limits(seconds=0.0))

    assert (first.forbidden, first.is_proved) == (4.0, False)  # the network found loses 11
    assert (second.forbidden, second.is_proved) == (1.0, False)


def test_a_family_that_the_problem_does_not_hold_is_named():
    with pytest.raises(ParameterError, match="the network's family of b is not among the problem's families"):
        arc_losses(three_variables(), DAG.from_arcs("abc", ["cb"]))
