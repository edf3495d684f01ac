"""Pruning is the literal filter "no subset in the domain scores as well", keeps an optimum, and its bounds hold."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.counting.table_rows import _score_labels, new_room
from scorecache.data.dataset import Dataset
from scorecache.data.rows import all_rows, distinct_rows
from scorecache.domain import STRUCTURES, Domain
from scorecache.scores import CellScore, make_score
from scorecache.scoring import alone as family_build
from scorecache.scoring.build import build_cache, plan_build
from scorecache.scoring.pruning import likelihood_ceilings, most_parents
from scorecache.scoring.survivors import Pruning
from tests import oracles
from tests.scorecache.literal import (
    KERNELS,
    ONE_OF_EACH,
    TOL,
    VARIANTS,
    assert_same_up_to_ties,
    families,
    near,
    parent_sets,
    replace_everywhere,
    rows_of,
    set_kernel,
    split_by_dominance,
    title,
)
from tests.strategies import datasets, examples, feasible_domains

CELL_SCORES = [score for score in VARIANTS if isinstance(score, CellScore)]
PRUNED_FAMILIES = [family for family in STRUCTURES if family != "tan"]

every_variant = pytest.mark.parametrize("score", VARIANTS, ids=title)
every_score = pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)


def built(dataset, score, domain, **options):
    return families(build_cache(dataset, score, domain=domain, n_jobs=1, **options))


@st.composite
def problems(draw, score, families=STRUCTURES, min_vars=3, max_vars=5):
    """A data set and a domain in which the score can be built."""
    dataset = draw(datasets(min_vars=min_vars, max_vars=max_vars))
    domain = draw(feasible_domains(dataset.names, draw(st.sampled_from(families))))
    if score.needs_bound and domain.max_parents is None:
        domain = dataclasses.replace(domain, max_parents=dataset.n_vars - 1)
    return dataset, domain


@every_variant
@examples(12)
@given(data=st.data())
def test_pruned_cache_is_the_literal_filter_of_the_whole_one(score, data):
    dataset, domain = data.draw(problems(score, PRUNED_FAMILIES))

    for pruned, whole in zip(built(dataset, score, domain), built(dataset, score, domain, prune=False), strict=True):
        assert_same_up_to_ties(pruned, whole)


@every_score
@examples(8)
@given(data=st.data())
def test_prune_gap_keeps_exactly_the_sets_within_the_gap(score, data):
    dataset, domain = data.draw(problems(score, PRUNED_FAMILIES))
    gap = data.draw(st.floats(1e-3, 20))

    pruned = built(dataset, score, domain, prune_gap=gap)

    for kept, whole in zip(pruned, built(dataset, score, domain, prune=False), strict=True):
        assert_same_up_to_ties(kept, whole, gap)


@every_score
@examples(3)
@given(data=st.data())
def test_nothing_is_dropped_from_a_tree(score, data):
    dataset, domain = data.draw(problems(score, ["tan"]))

    cache = build_cache(dataset, score, domain=domain, n_jobs=1)

    assert cache.record.pruning == "none"
    assert [set(table) for table in families(cache)] == [
        set(parent_sets(domain, child)) for child in range(domain.n_vars)
    ]


@every_score
@examples(8)
@given(data=st.data())
def test_best_network_is_kept(score, data):
    dataset, domain = data.draw(problems(score, max_vars=4))
    pruned, whole = built(dataset, score, domain), built(dataset, score, domain, prune=False)

    expected = oracles.best_structure_score(whole, domain.structure, domain.class_index, domain.k)

    assert near(oracles.best_structure_score(pruned, domain.structure, domain.class_index, domain.k), expected)


@every_score
@examples(4)
@given(data=st.data())
def test_best_network_of_five_variables_is_kept(score, data):
    dataset, domain = data.draw(problems(score, ["general", "anb", "kdb", "fan"], min_vars=5))
    pruned, whole = built(dataset, score, domain), built(dataset, score, domain, prune=False)

    assert near(oracles.best_dag_score(pruned), oracles.best_dag_score(whole))


@pytest.mark.parametrize("score", [make_score(name) for name in ("ll", "bic", "k2", "fnml")], ids=title)
@examples(10)
@given(dataset=datasets(min_vars=2, max_vars=4))
def test_a_copied_or_a_constant_column_beside_its_source_is_dropped(score, dataset):
    """Sets that tie in exact arithmetic tie in the fixed-point sums of the joint kernels, so the larger one goes."""
    n_vars = dataset.n_vars
    codes = np.vstack([dataset.codes, dataset.codes[0], np.zeros_like(dataset.codes[0])])
    arities = [*dataset.arities.tolist(), int(dataset.arities[0]), 1]
    doubled = Dataset.from_codes(codes, arities, names="abcdefghij"[: n_vars + 2], weights=dataset.weights)

    tables = built(doubled, score, Domain.of(doubled.names, max_parents=n_vars))

    for table in tables:
        assert not any({0, n_vars} <= parents or n_vars + 1 in parents for parents in table)


def superset_bounds(dataset, score, domain, child):
    """The bound of every parent set of the child (the class left out of the keys where the score looks at it)."""
    rows, arities = distinct_rows(dataset), dataset.arities
    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, "BOUNDS_FROM", 0)
        limit = domain.limits[child]
        alone = family_build.prepare(rows, domain, arities, child, limit, score, Pruning(True), plain=False)
    table = new_room(np.arange(0), 0, alone.search, alone.model).table
    search, position = alone.search, {int(v): i for i, v in enumerate(alone.order)}
    marginal = [np.bincount(c, weights=rows.weights, minlength=a) for c, a in zip(rows.codes, arities, strict=True)]
    found = {}
    for parents in parent_sets(domain, child):
        # the class is no part of the labels where class-wise tables are counted
        own = sorted(parents - {alone.class_index})
        configurations, labels = np.unique(rows.codes[own], axis=1, return_inverse=True)
        n_labels = configurations.shape[1] if own else 1
        labels = labels.ravel() if own else np.zeros(rows.n_distinct)
        prior = np.ones(n_labels)
        for parent, states in zip(own, configurations, strict=True):
            prior *= marginal[parent][states] / dataset.total_weight
        shape = 0
        for parent in own:
            if parent in position:
                shape = search.step[shape, search.kinds[position[parent]]]
        plain, classed, bound = _score_labels(
            labels.astype(np.int32), n_labels, prior, int(shape), search, alone.model, alone.bounds, table
        )
        holds_class = alone.class_index in parents
        found[parents] = (classed if holds_class else plain), bound
    return found


@every_variant
@examples(8)
@given(data=st.data())
def test_bound_exceeds_every_superset(score, data):
    family = "anb" if score.needs_class else data.draw(st.sampled_from(["general", "anb"]))
    dataset, domain = data.draw(problems(score, [family]))
    whole = built(dataset, score, domain, prune=False)

    for child, scored in enumerate(whole):
        bounds = superset_bounds(dataset, score, domain, child)
        assert bounds.keys() == scored.keys()
        for parents, (value, bound) in bounds.items():
            assert near(value, scored[parents])
            above = [other for superset, other in scored.items() if superset > parents]
            assert max(above, default=-np.inf) <= bound + TOL * max(1.0, abs(bound)), (child, sorted(parents))


@pytest.mark.parametrize("score", [score for score in ONE_OF_EACH if score.name not in ("ll", "acll")], ids=title)
def test_bounds_close_sets_of_a_small_sample(score):
    """With few rows every score but the two that grow or float has a set whose supersets need no look."""
    random = np.random.default_rng(1)
    dataset = Dataset.from_codes(random.integers(0, 3, (6, 14)), [3] * 6, names="abcdef")
    domain = Domain.of(dataset.names, "anb", class_name="f", max_parents=5)
    whole = built(dataset, score, domain, prune=False)

    closed = 0
    for child in range(5):
        for parents, (_, bound) in superset_bounds(dataset, score, domain, child).items():
            best = max(value for subset, value in whole[child].items() if subset <= parents)
            closed += len(parents) < 5 and best >= bound

    assert closed > 0


@every_score
@examples(8)
@given(data=st.data())
def test_bounds_change_nothing_in_the_pruned_cache_of_a_child_alone(score, data):
    dataset, domain = data.draw(problems(score, ["anb", "general"]))
    gap = data.draw(st.sampled_from([0.0, 0.5]))
    whole = built(dataset, score, domain, prune=False)

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, "BOUNDS_FROM", 0)
        replace_everywhere(patch, "ALONE_COSTS", 0)
        pruned = built(dataset, score, domain, prune_gap=gap)

    for kept, scored in zip(pruned, whole, strict=True):
        assert_same_up_to_ties(kept, scored, gap)


@pytest.mark.parametrize("score", CELL_SCORES, ids=title)
@examples(8)
@given(data=st.data())
def test_bounds_change_nothing_in_the_pruned_cache_of_joint_sets(score, data):
    dataset, domain = data.draw(problems(score, ["anb", "general"]))
    gap = data.draw(st.sampled_from([0.0, 0.5]))
    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, "ALONE_COSTS", 1e9)
        set_kernel(patch, data.draw(st.sampled_from(sorted(KERNELS))))
        replace_everywhere(patch, "bounds_pay", lambda *_: False)
        without = built(dataset, score, domain, prune_gap=gap)
        replace_everywhere(patch, "bounds_pay", lambda *_: True)
        replace_everywhere(patch, "CLOSED_FOR_BOUNDS", data.draw(st.sampled_from([0.0, 0.01])))
        bounded = built(dataset, score, domain, prune_gap=gap)

    whole = built(dataset, score, domain, prune=False)

    for mine, theirs, scored in zip(bounded, without, whole, strict=True):
        assert_same_up_to_ties(mine, scored, gap)
        assert_same_up_to_ties(theirs, scored, gap)


@pytest.mark.parametrize("kernel", ["bitmaps", "bitmaps of small sets, labels of large ones", "labels"])
@pytest.mark.parametrize("family", ["general", "anb"])
@pytest.mark.parametrize("score", [score for score in CELL_SCORES if not score.needs_class], ids=title)
def test_bounds_change_nothing_where_they_close_most_sets(score, family, kernel, monkeypatch):
    """Few rows and eight variables: closed sets leave holes in every level."""
    random = np.random.default_rng(7)
    arities = [2, 3, 4, 2, 3, 4, 2, 2]
    codes = np.array([random.integers(0, arity, 25) for arity in arities])
    codes[3] = codes[0] ^ (random.random(25) < 0.1)
    dataset = Dataset.from_codes(codes, arities, names="abcdefgh")
    domain = Domain.of(dataset.names, family, class_name="h", max_parents=5, forbidden_arcs=[("a", "b")])
    whole = built(dataset, score, domain, prune=False)

    set_kernel(monkeypatch, kernel)
    replace_everywhere(monkeypatch, "bounds_pay", lambda *_: True)
    pruned = built(dataset, score, domain)

    for mine, scored in zip(pruned, whole, strict=True):
        assert_same_up_to_ties(mine, scored)


@every_variant
@examples(5)
@given(data=st.data())
def test_limit_read_off_the_penalties_cuts_no_survivor(score, data):
    dataset, domain = data.draw(problems(score, PRUNED_FAMILIES))
    gap = data.draw(st.sampled_from([0.0, 2.0]))
    groups = plan_build(dataset, score, domain=domain, prune_gap=gap).groups
    limits = dict(pair for group in groups for pair in zip(group.children, group.free_limits, strict=True))

    for child, scored in enumerate(built(dataset, score, domain, prune=False)):
        kept, tied = split_by_dominance(scored, gap)
        n_free = max(map(len, kept - tied), default=0) - len(domain.required[child])
        assert n_free <= limits[child] <= domain.limits[child] - len(domain.required[child])


def test_limit_read_off_the_penalties_of_a_fair_coin():
    """BIC, 100 rows, binary: log 100 / 2 * (2^j - 1) reaches 100 log 2 = 69.3 at j = 5 (71.4), so j <= 4."""
    counts = np.array([50, 50])

    assert most_parents(make_score("bic"), counts, (), (2,) * 20, 20, 0.0) == 4
    assert most_parents(make_score("bic"), counts, (), (2,) * 20, 3, 0.0) == 3
    # a gap of 3 nats pays for 72.3 nats: still below 2^5 - 1 = 31 parameters (71.4) and above 15 (34.5)
    assert most_parents(make_score("bic"), counts, (), (2,) * 20, 20, 3.0) == 5
    # one required parent doubles the price: 2.30 * 2 * (2^j - 1) passes 69.3 at j = 4 (69.08 falls just short)
    assert most_parents(make_score("bic"), counts, (2,), (2,) * 20, 20, 0.0) == 4
    assert most_parents(make_score("ll"), counts, (), (2,) * 20, 20, 0.0) == 20


@examples(20)
@given(dataset=datasets(min_vars=1, max_vars=5, max_rows=40))
def test_likelihood_ceiling_is_the_likelihood_given_all_other_variables(dataset):
    ceilings = likelihood_ceilings(distinct_rows(dataset), range(dataset.n_vars))
    of_all_rows = likelihood_ceilings(all_rows(dataset), range(dataset.n_vars))

    assert all(map(near, of_all_rows, ceilings))
    for child, ceiling in enumerate(ceilings):
        others = [index for index in range(dataset.n_vars) if index != child]
        family = oracles.Family(rows_of(dataset), dataset.arities.tolist(), child, tuple(others))
        assert near(ceiling, float(oracles.ll(family)))


def optimum(tables):
    return oracles.best_structure_score(tables, "anb", class_index=2)


@pytest.mark.parametrize("score", [make_score("bic"), make_score("bdeu")], ids=title)
def test_cache_of_general_networks_can_leave_no_augmented_naive_bayes(score):
    """c = a xor b: alone, c says nothing about a or b, so the general cache drops {c}, and with it every ANB."""
    rows = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)] * 3
    dataset = Dataset.from_codes(np.array(rows).T, names="abc")
    general = built(dataset, score, Domain.of("abc"))
    for_anb = built(dataset, score, Domain.of("abc", "anb", class_name="c"))
    whole = built(dataset, score, Domain.of("abc"), prune=False)

    assert frozenset({2}) not in general[0]
    assert optimum(general) == -np.inf
    assert near(optimum(for_anb), optimum(whole))


@pytest.mark.parametrize("score", [make_score("bic"), make_score("bdeu")], ids=title)
def test_cache_of_general_networks_can_make_augmented_naive_bayes_silently_worse(score):
    """b copies a, and c copies it four times in five: {c} stays, but {a} drops {a, c}, the best set of b in an ANB."""
    rows = [(0, 0, 0)] * 8 + [(0, 0, 1)] * 2 + [(1, 1, 1)] * 8 + [(1, 1, 0)] * 2
    dataset = Dataset.from_codes(np.array(rows).T, names="abc")
    general = built(dataset, score, Domain.of("abc"))
    for_anb = built(dataset, score, Domain.of("abc", "anb", class_name="c"))
    whole = built(dataset, score, Domain.of("abc"), prune=False)

    assert -np.inf < optimum(general) < optimum(whole) - 1
    assert near(optimum(for_anb), optimum(whole))


@pytest.mark.parametrize("score", [make_score("bic"), make_score("bdeu"), make_score("fcll")], ids=title)
@examples(10)
@given(dataset=datasets(min_vars=4, max_vars=4))
def test_cache_of_augmented_naive_bayes_is_safe_for_its_special_cases(score, dataset):
    """As the record of such a cache says: a subset with the class has fewer feature parents still."""
    domain = Domain.of(dataset.names, "anb", class_name="d", max_parents=3)
    pruned, whole = built(dataset, score, domain), built(dataset, score, domain, prune=False)

    for family, k in [("anb", None), ("kdb", 1), ("kdb", 2), ("fan", None), ("naive_bayes", None)]:
        expected = oracles.best_structure_score(whole, family, 3, k)
        assert near(oracles.best_structure_score(pruned, family, 3, k), expected)
