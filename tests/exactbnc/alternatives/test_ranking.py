"""The k best networks against enumeration of all."""

import itertools

import numpy as np
import pytest

from exactbnc.alternatives.ranking import Wanted, rank
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.graph.equivalence import cpdag
from exactbnc.problem.problem import Problem
from exactbnc.problem.violations import violations
from exactbnc.run.limits import Limits
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.record import Record
from tests.exactbnc.random_problems import random_problem


def all_networks(problem):
    """Every network over the problem's families that satisfies the constraints, best first: (score, parents)."""
    found = []
    for choice in itertools.product(*(list(problem.families.of(v)) for v in range(problem.n_vars))):
        parents = [listed for _, listed in choice]
        if find_cycle(parents) is None:
            dag = DAG.of(problem.names, parents)
            if not list(violations(problem.constraints, dag)):
                found.append((sum(score for score, _ in choice), dag))
    return sorted(found, key=lambda pair: -pair[0])


def small_problems(n_problems):
    for seed in range(10_000):
        cache, constraints = random_problem(seed)
        try:
            problem = Problem(cache, constraints)
        except InfeasibleError:
            continue
        if np.prod(np.diff(problem.families.child_start).astype(float)) <= 3000:
            yield problem
            n_problems -= 1
        if not n_problems:
            return


def test_networks_come_in_the_order_of_enumeration():
    for problem in small_problems(60):
        expected = all_networks(problem)

        ranking = rank(problem, Wanted(count=7))

        assert [s.score for s in ranking.solutions] == pytest.approx([score for score, _ in expected[:7]], abs=1e-9)
        assert len({s.dag for s in ranking.solutions}) == len(ranking.solutions)
        assert ranking.is_complete or not expected


def test_all_networks_within_a_distance_are_listed():
    for problem in small_problems(40):
        expected = all_networks(problem)
        if not expected:
            continue

        ranking = rank(problem, Wanted(within=1.5))

        near = {dag for score, dag in expected if score >= expected[0][0] - 1.5 - 1e-9}
        assert {s.dag for s in ranking.solutions} == near
        assert ranking.is_complete


def test_equivalence_classes_are_listed_once():
    for problem in small_problems(40):
        expected = []
        for score, dag in all_networks(problem):
            if cpdag(dag) not in [cpdag(other) for _, other in expected]:
                expected.append((score, dag))

        ranking = rank(problem, Wanted(count=4, distinct_classes=True))

        assert [s.score for s in ranking.solutions] == pytest.approx([score for score, _ in expected[:4]], abs=1e-9)
        assert len({cpdag(s.dag) for s in ranking.solutions}) == len(ranking.solutions)


def test_the_count_is_a_limit_within_a_distance():
    cache = ScoreCache.from_families("ab", [[(0.0, ()), (-1.0, (1,))], [(0.0, ()), (-1.0, (0,))]])

    ranking = rank(Problem(cache), Wanted(count=2, within=5.0))

    assert len(ranking.solutions) == 2


def test_a_time_limit_ends_the_listing():
    cache = ScoreCache.from_families("ab", [[(0.0, ()), (-1.0, (1,))], [(0.0, ()), (-1.0, (0,))]])

    ranking = rank(Problem(cache), Wanted(count=3), limits=Limits(seconds=0.0))

    assert ranking.stop_reason == "time"
    assert not ranking.is_complete


def test_arcs_at_a_variable_of_one_state_do_not_tell_classes_apart():
    names, sets = "abc", [(0.0, ()), (-1.0, (1,)), (0.0, (2,))]
    families = [sets, [(0.0, ()), (-1.0, (0,)), (0.0, (2,))], [(0.0, ()), (0.0, (0,)), (0.0, (1,))]]

    def classes(*states):
        record = Record("bic", {}, Domain.of(names), "none", states=states)
        cache = ScoreCache.from_families(names, families, record)
        return [s.score for s in rank(Problem(cache), Wanted(within=0.5, distinct_classes=True)).solutions]

    assert classes(("0", "1"), ("0", "1"), ("0",)) == [0.0]
    assert len(classes(("0", "1"), ("0", "1"), ("0", "1"))) > 1


def test_every_network_that_is_listed_is_reported_and_an_interrupt_keeps_the_list():
    cache = ScoreCache.from_families("ab", [[(0.0, ()), (-1.0, (1,))], [(0.0, ()), (-1.0, (0,))]])
    seen = []

    def impatient(number, solution):
        seen.append((number, solution.score))
        if number == 2:
            raise KeyboardInterrupt

    ranking = rank(Problem(cache), Wanted(count=3), on_network=impatient)

    assert seen == [(1, 0.0), (2, -1.0)]
    assert ([s.score for s in ranking.solutions], ranking.stop_reason) == ([0.0, -1.0], "interrupted")


@pytest.mark.parametrize("given", [{"count": 0}, {"within": -1.0}])
def test_nonsense_is_refused(given):
    with pytest.raises(ParameterError, match="must be at least"):
        Wanted(**given)
