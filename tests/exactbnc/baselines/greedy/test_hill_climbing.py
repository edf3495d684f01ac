from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.greedy import Climb, HillClimbing, LocalScores, ghc2, hill_climb
from exactbnc.baselines.greedy._ascent import SMALLEST_GAIN
from exactbnc.baselines.greedy._steps import start_of
from exactbnc.graph.dag import DAG
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scoring.build import build_cache
from tests import oracles
from tests.exactbnc.baselines.greedy.literal import neighbours_in
from tests.strategies import datasets, examples, feasible_domains

PENALISED = ("bdeu", "bic", "aic", "fnml")


@st.composite
def problems(draw):
    """A data set with enough rows for several arcs, a domain over it (the class is last) and a score."""
    dataset = draw(datasets(min_vars=3, max_vars=5, max_arity=3, max_rows=60))
    domain = draw(feasible_domains(list(dataset.names)))
    return LocalScores(dataset, draw(st.sampled_from(PENALISED)), dataset.names[-1]), domain


def total(scores, parents):
    return sum(scores(child, chosen) for child, chosen in enumerate(parents))


@given(problems(), st.integers(0, 3), st.integers(0, 2))
@examples(60)
def test_the_result_is_a_local_optimum_of_the_domain_and_not_below_the_start(problem, tabu, restarts):
    scores, domain = problem

    found = hill_climb(scores, domain, Climb(tabu=tabu, restarts=restarts, seed=1))

    parents = tuple(map(frozenset, found.dag.parents))
    assert all(domain.contains(child, chosen) for child, chosen in enumerate(parents))
    assert found.score == pytest.approx(total(scores, parents), abs=1e-9)
    assert found.score >= total(scores, start_of(domain, None)) - 1e-9
    best_nearby = max((total(scores, other) for other in neighbours_in(domain, parents)), default=-np.inf)
    assert found.score >= best_nearby - 2 * SMALLEST_GAIN


@given(problems())
@examples(40)
def test_every_step_is_the_best_one(problem):
    scores, domain = problem
    path = [start_of(domain, None)]

    hill_climb(scores, domain, on_move=lambda parents, score: path.append(parents))

    for before, after in pairwise(path):
        best = max(total(scores, other) for other in neighbours_in(domain, before))
        assert total(scores, after) == pytest.approx(best, abs=1e-9)


@given(problems(), st.integers(1, 5), st.integers(0, 3), st.integers(0, 10))
@examples(40)
def test_tabu_and_restarts_never_make_it_worse(problem, tabu, restarts, seed):
    scores, domain = problem
    plain = hill_climb(scores, domain)

    with_tabu = hill_climb(scores, domain, Climb(tabu=tabu))
    with_both = hill_climb(scores, domain, Climb(tabu=tabu, restarts=restarts, seed=seed))

    assert plain.score <= with_tabu.score <= with_both.score
    assert with_both == hill_climb(scores, domain, Climb(tabu=tabu, restarts=restarts, seed=seed))


def exclusive_or():
    """y = a xor b: no single arc helps, so plain climbing stays at the empty network."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 200))
    return Dataset.from_codes([a, b, a ^ b], names=["a", "b", "y"])


@pytest.mark.parametrize("settings", [{"tabu": 10}, {"restarts": 10}])
def test_tabu_and_restarts_leave_a_local_optimum(settings):
    scores, domain = LocalScores(exclusive_or(), "bic"), Domain.of("aby")
    best = oracles.best_dag_score(
        [
            {frozenset(parents): score for score, parents in cache_families}
            for cache_families in map(build_cache(exclusive_or(), "bic", prune=False).families, range(3))
        ]
    )

    plain, found = hill_climb(scores, domain), hill_climb(scores, domain, Climb(**settings))

    assert plain.dag.n_arcs == 0
    assert found.score == pytest.approx(best)
    assert found.score > plain.score + 100


@given(datasets(min_vars=4, max_vars=5), st.sampled_from(["tan", "fan", "kdb", "anb"]))
@examples(30)
def test_class_rooted_families_keep_the_class_at_the_root(dataset, structure):
    method = HillClimbing("bic", structure, k=2 if structure == "kdb" else None)

    dag = method.search(dataset, dataset.names[-1]).dag

    target = dataset.n_vars - 1
    most = {"tan": 2, "fan": 2, "kdb": 3, "anb": dataset.n_vars}[structure]
    assert dag.parents[target] == ()
    assert all(target in chosen and len(chosen) <= most for chosen in dag.parents[:-1])


@given(datasets(min_vars=3, max_vars=5), st.integers(0, 2))
@examples(20)
def test_the_limit_of_the_domain_is_kept(dataset, limit):
    found = hill_climb(LocalScores(dataset, "ll"), Domain.of(dataset.names, max_parents=limit))

    assert max(map(len, found.dag.parents)) <= limit


def test_a_start_is_kept_where_nothing_improves_it():
    """A complete network has the highest likelihood; only reversals are left, and they change nothing."""
    start = DAG.from_modelstring("[b][a|b][y|a:b]", ["a", "b", "y"])
    scores = LocalScores(exclusive_or(), "ll")

    assert hill_climb(scores, Domain.of("aby", max_parents=2), start=start).dag == start


@pytest.mark.parametrize("criterion", ["ll", "fcll"])
@given(dataset=datasets(min_vars=3, max_vars=5))
@examples(20)
def test_ghc2_has_two_parents_the_class_among_them_and_reverses_nothing(criterion, dataset):
    """Weka's defaults: naive Bayes first, additions and deletions only."""
    class_name, target = dataset.names[-1], dataset.n_vars - 1
    scores = LocalScores(dataset, criterion, class_name)
    domain = Domain.of(dataset.names, class_name=class_name, max_parents=2)
    path = [tuple(frozenset({target} - {v}) for v in range(dataset.n_vars))]

    result = ghc2(criterion).search(dataset, class_name, on_move=lambda parents, score: path.append(parents))

    assert ghc2(criterion).climb.operators == ("add", "delete")
    assert tuple(map(frozenset, result.dag.parents)) == path[-1]
    for before, after in pairwise(path):
        others = neighbours_in(domain, before, ("add", "delete"))
        assert after in others
        assert total(scores, after) == pytest.approx(max(total(scores, other) for other in others), abs=1e-9)


def test_time_ends_a_search():
    rng = np.random.default_rng(3)
    dataset = Dataset.from_codes(rng.integers(0, 2, (12, 100)))

    found = hill_climb(LocalScores(dataset, "aic"), Domain.of(dataset.names), Climb(restarts=10**6), time_limit=0.05)

    assert found.stop_reason == "time"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tabu": -1}, "the tabu of a hill climb must be at least 0. Got -1 instead"),
        ({"restarts": -2}, "the restarts of a hill climb must be at least 0. Got -2 instead"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        Climb(**settings)


def test_a_time_limit_of_nothing_is_refused():
    with pytest.raises(ParameterError, match=r"the time limit must be above 0 seconds\. Got 0 instead"):
        hill_climb(LocalScores(exclusive_or(), "bic"), Domain.of("aby"), time_limit=0)


def test_unknown_starts_and_operators_are_refused():
    with pytest.raises(ParameterError, match=r"the start must be one of empty, naive_bayes\. Got 'tan' instead"):
        HillClimbing(start="tan")
    with pytest.raises(ParameterError, match=r"the operators are add, delete, reverse\. Got swap instead"):
        Climb(operators=("swap",))


@pytest.mark.parametrize("score", ["ll", "fcll", "acll"])
def test_scores_without_penalty_need_a_bound(score):
    with pytest.raises(ParameterError, match="needs a limit: max_parents"):
        HillClimbing(score).search(exclusive_or(), "y")
