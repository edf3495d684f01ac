"""Plans: every child in one group, limits inside the domain, bitmaps for a prefix that never grows with the size."""

from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import make_score
from scorecache.scoring import sampled
from scorecache.scoring.build import plan_build
from scorecache.scoring.estimate import SMALL_BUILD
from scorecache.scoring.plan import bitmap_prefix, make_groups, n_subsets
from tests.scorecache.literal import ONE_OF_EACH, title
from tests.strategies import datasets, examples, feasible_domains


@pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)
@examples(15)
@given(data=st.data())
def test_every_child_stands_in_the_group_of_its_required_parents(score, data):
    names = "abcdef"[: data.draw(st.integers(2, 6))]
    domain = data.draw(feasible_domains(names))
    limits = [limit - len(needed) for limit, needed in zip(domain.limits, domain.required, strict=True)]

    groups = make_groups(domain, score, limits)

    assert sorted(child for group in groups for child in group.children) == list(range(domain.n_vars))
    assert len({group.base for group in groups}) == len(groups)
    for group in groups:
        assert not set(group.base) & set(group.universe)
        for child, limit in zip(group.children, group.free_limits, strict=True):
            assert set(group.base) == domain.required[child]
            assert domain.allowed[child] | {child} <= set(group.universe)
            assert limit == limits[child] <= group.max_free


def test_class_wise_scores_are_counted_jointly_only_beside_the_class():
    domain = Domain.of("abcde", "anb", class_name="e", max_parents=3, required_arcs=[("a", "b")])
    limits = [2, 1, 2, 2, 0]

    groups = {group.children: group.together for group in make_groups(domain, make_score("fcll"), limits)}

    assert groups == {(0, 2, 3): True, (1,): False, (4,): False}
    assert not any(group.together for group in make_groups(domain, make_score("acll"), limits))


def test_one_child_with_candidates_among_many_without_is_scored_alone():
    """All arcs run to the last of twenty variables: 1,351 joint sets of up to three would serve 210 families."""
    names = [f"x{v}" for v in range(20)]
    arcs = [(parent, child) for child in names[:19] for parent in names if parent != child]
    domain = Domain.of(names, forbidden_arcs=arcs)

    (group,) = make_groups(domain, make_score("bic"), [0] * 19 + [2])

    assert group.n_joint_sets == 1 + 20 + 190 + 1140
    assert not group.together


@pytest.mark.parametrize(("n", "most"), [(0, 0), (5, 0), (5, 2), (5, 5), (5, 9), (30, 4)])
def test_number_of_subsets(n, most):
    assert n_subsets(n, most) == sum(comb(n, size) for size in range(most + 1))


@examples(60)
@given(
    arities=st.lists(st.integers(1, 12) | st.integers(1, 1000), min_size=1, max_size=12).map(sorted),
    n_distinct=st.integers(1, 5000),
    n_base=st.integers(1, 100),
)
@example(arities=[1, 9, 27], n_distinct=243, n_base=1)
def test_prefix_of_the_bitmaps_never_grows_with_the_size(arities, n_distinct, n_base):
    arities = np.array(arities)

    prefixes = [bitmap_prefix(arities, size, n_distinct, n_base) for size in range(1, 10)]

    assert prefixes == sorted(prefixes, reverse=True)
    assert 0 <= prefixes[-1] <= prefixes[0] <= len(arities)


@examples(40)
@given(arities=st.lists(st.integers(1, 12), min_size=1, max_size=7).map(sorted), n_distinct=st.integers(1, 5000))
def test_tables_counted_by_bitmaps_are_small(arities, n_distinct):
    """At most one cell for each distinct row or 64, so that no kernel allocates more than the data are worth."""
    for size in range(1, 5):
        prefix = bitmap_prefix(np.array(arities), size, n_distinct, 2)
        largest = max((prod(chosen) for chosen in combinations(arities[:prefix], size)), default=0)
        assert 2 * largest <= max(64, n_distinct)


@examples(30)
@given(data=st.data())
def test_binary_variables_are_counted_by_bitmaps_all_or_not_at_all(data):
    """The kernel of binary tiles stores its counts as if the same variables took part in every level."""
    n_binary = data.draw(st.integers(1, 9))
    larger = data.draw(st.lists(st.integers(3, 2000), max_size=2).map(sorted))
    n_distinct, n_base = data.draw(st.integers(1, 5000)), data.draw(st.integers(1, 100))
    arities = np.array([2] * n_binary + larger)
    prefixes = [bitmap_prefix(arities, size, n_distinct, n_base) for size in range(1, n_binary + 1)]

    if np.all(arities[: prefixes[0]] == 2):
        for size, prefix in enumerate(prefixes, start=1):
            assert prefix in (0, n_binary) or prefix < size


@examples(20)
@given(dataset=datasets(max_vars=5))
def test_a_plan_builds_nothing_but_can_be_run(dataset):
    plan = plan_build(dataset, "bic", max_parents=1)

    first, second = plan.run(n_jobs=1), plan.run(n_jobs=1)

    assert first.equals(second)
    assert plan.domain == Domain.of(dataset.names, max_parents=1)


def test_a_plan_refuses_options_that_it_does_not_have():
    with pytest.raises(TypeError, match="unexpected keyword argument 'threads'"):
        plan_build(Dataset.from_codes([[0, 1], [0, 1]]), "bic").run(threads=2)


def test_samples_stay_small_where_parents_have_no_limit(monkeypatch):
    sizes, make = [], sampled._samples

    def noted(group, n_vars, n_samples):
        sizes.append(n_vars)
        return make(group, n_vars, n_samples)

    monkeypatch.setattr(sampled, "_samples", noted)
    codes = np.random.default_rng(0).integers(0, 2, size=(20, 60))
    plan = plan_build(Dataset.from_codes(codes), "bdeu")

    assert plan.most.memory_bytes > SMALL_BUILD
    assert plan.estimate.memory_bytes < plan.most.memory_bytes
    assert n_subsets(max(sizes), 20) <= sampled.MOST_SETS
