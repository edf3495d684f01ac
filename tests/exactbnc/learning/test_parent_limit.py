"""Without a limit as many parents are allowed as can be scored."""

import math
import time

import numpy as np
import pytest

from exactbnc.learning import parent_limit
from exactbnc.learning.parent_limit import affordable_parents, parents_with_rows
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import make_score


def n_families(domain, limit):
    """The families of the domain with at most that many parents, one by one."""
    total = 0
    for child in range(domain.n_vars):
        required, allowed = domain.required[child], domain.allowed[child]
        sizes = range(len(required), min(limit, domain.limits[child]) + 1)
        total += sum(math.comb(len(allowed), size - len(required)) for size in sizes)
    return total


@pytest.mark.parametrize("structure", ["general", "anb"])
@pytest.mark.parametrize("most", [1, 30, 60, 100, 250, 10**9])
def test_without_a_limit_as_many_parents_are_taken_as_are_affordable(monkeypatch, structure, most):
    monkeypatch.setattr(parent_limit, "MOST_FAMILIES", most)
    domain = Domain.of("abcdefy", structure, class_name="y", required_arcs=["ab"], forbidden_arcs=["ba", "dc"])

    found = affordable_parents(make_score("bdeu"), domain)

    largest = max(domain.limits)
    is_anb = structure == "anb"
    least = max(2 if is_anb else 1, *map(len, domain.required))
    highest = 3 if is_anb else largest
    affordable = [limit for limit in range(least, highest + 1) if limit == least or n_families(domain, limit) <= most]
    assert found == (None if max(affordable) == largest else max(affordable))


def test_no_limit_is_needed_where_one_parent_is_all_there_is():
    assert affordable_parents(make_score("bdeu"), Domain.of("xy", "anb", class_name="y")) is None
    assert affordable_parents(make_score("bdeu"), Domain.of("y", "general", class_name="y")) is None


def test_a_general_network_has_no_more_parents_than_rows_can_fill():
    """Six columns of five states, each as often as the others: BDeu ties no parents with so many that rows differ."""
    rng = np.random.default_rng(0)
    data = Dataset.from_codes([rng.permutation(np.arange(150) % 5) for _ in range(6)])

    assert parents_with_rows(data) == 3  # 5^3 <= 150 < 5^4
    learned = run_recipe(data, None, Recipe(structure="general"))
    assert learned.max_parents == 3
    assert run_recipe(data, None, Recipe(structure="general", max_parents=5)).max_parents == 5
    named = Dataset.from_codes(data.codes, names="abcdey")
    assert run_recipe(named, "y", Recipe(structure="class-minimal")).max_parents == 3


def test_many_features_are_counted_at_once_and_naive_bayes_comes_with_a_warning(monkeypatch):
    names = [f"f{i}" for i in range(720)] + ["y"]
    rng = np.random.default_rng(0)
    data = Dataset(tuple(names), ((0, 1),) * 721, rng.integers(0, 2, (721, 8)).astype(np.uint16))

    begun = time.process_time()
    assert affordable_parents(make_score("bdeu"), Domain.of(names, "anb", class_name="y")) == 2
    assert time.process_time() - begun < 2
    monkeypatch.setattr(parent_limit, "MOST_PAIRS", 500_000)
    assert affordable_parents(make_score("bdeu"), Domain.of(names, "anb", class_name="y")) == 1

    learned = run_recipe(data, "y", Recipe())
    assert learned.warning is not None
    assert "Give max_parents=2" in learned.warning
    few = data.columns([*names[:5], "y"])
    assert run_recipe(few, "y", Recipe(max_parents=1)).warning is None


@pytest.mark.parametrize("score", ["ll", "fcll", "acll"])
def test_scores_without_a_penalty_get_the_class_and_two_features(score):
    def of(*arguments, **options):
        return affordable_parents(make_score(score), Domain.of(*arguments, class_name="y", **options))

    assert of("abcdy", "anb") == 3
    assert of("aby", "general") == 2
    assert of("abcdy", "anb", required_arcs=["ab", "cb", "db"]) == 4


@pytest.mark.parametrize("structure", ["naive_bayes", "tan", "fan", "kdb"])
@pytest.mark.parametrize("score", ["ll", "bdeu"])
def test_structures_with_limits_of_their_own_get_no_other(structure, score):
    domain = Domain.of("abcdefy", structure, class_name="y", k=4 if structure == "kdb" else None)

    assert affordable_parents(make_score(score), domain) is None
