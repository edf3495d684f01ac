"""The best network of numbers and states is the best of all networks, from a pruned cache as from all families."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc import Problem, Status, solve
from exactbnc.problem.constraints import Constraints
from scorecache import Domain, build_cache
from tests import oracles
from tests.scorecache.scores.test_number_scores import mixed, table
from tests.strategies import examples


def best_of_all(cache):
    families = [{parents: value for value, parents in cache.families(child)} for child in range(cache.n_vars)]
    return max(
        sum(own.get(tuple(sorted(parents)), -math.inf) for own, parents in zip(families, dag, strict=True))
        for dag in oracles.all_dags(cache.n_vars)
    )


@pytest.mark.parametrize("score", ["bic-cg", "aic-cg", "bge-cg"])
@examples(10)
@given(seed=st.integers(0, 10_000), n_rows=st.sampled_from([8, 30, 80]), is_weighted=st.booleans())
def test_the_best_mixed_network_is_the_best_of_all(score, seed, n_rows, is_weighted):
    rng = np.random.default_rng(seed)
    dataset = mixed(n_rows, seed, rng.uniform(0.5, 2.0, n_rows) if is_weighted else None)

    solution = solve(Problem(build_cache(dataset, score)))

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(best_of_all(build_cache(dataset, score, prune=False)), abs=1e-8)
    assert all(dataset.names[child] in "xy" or name not in "xy" for name, child in solution_arcs(solution, dataset))


def solution_arcs(solution, dataset):
    return [(dataset.names[p], child) for child, parents in enumerate(solution.dag.parents) for p in parents]


@pytest.mark.parametrize("score", ["bic-g", "bge"])
@examples(10)
@given(seed=st.integers(0, 10_000))
def test_the_best_network_of_numbers_is_the_best_of_all(score, seed):
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.normal(size=(4, 20))
    dataset = table({"a": a, "b": a + b, "c": b - 0.5 * c, "d": d})
    was_set = {"b": rng.random(20) < 0.4}

    for interventions in (None, was_set):
        cache = build_cache(dataset, score, interventions=interventions)
        whole = build_cache(dataset, score, prune=False, interventions=interventions)
        assert solve(Problem(cache)).score == pytest.approx(best_of_all(whole), abs=1e-8)


@pytest.mark.parametrize("structure", ["naive_bayes", "tan", "fan", "anb"])
def test_the_best_classifier_of_numbers_and_states_is_the_best_of_all(structure):
    dataset = mixed(60, seed=11)
    domain = Domain.of(dataset.names, structure, class_name="v")

    solution = solve(Problem(build_cache(dataset, "bge-cg", domain=domain), Constraints(structure, class_name="v")))

    whole = build_cache(dataset, "bge-cg", domain=domain, prune=False)
    assert solution.score == pytest.approx(best_of_all(whole), abs=1e-8)
