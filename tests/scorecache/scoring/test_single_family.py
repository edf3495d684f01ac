"""One child at a time: large tables in batches, many survivors, and scores that other scores foretell."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import make_score
from scorecache.scoring.build import build_cache
from scorecache.scoring.plan import make_groups
from tests.oracles import count_cells
from tests.scorecache.literal import assert_same_up_to_ties, families, near, replace_everywhere, title
from tests.strategies import datasets, examples

CELL_SCORES = [make_score(name) for name in ("ll", "aic", "bic", "bdeu", "k2", "bd", "fnml", "qnml", "mit")]


def alone(dataset, score, **options):
    """The families of a build that scores every child by itself."""
    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(
            patch,
            "make_groups",
            lambda *arguments: [dataclasses.replace(group, together=False) for group in make_groups(*arguments)],
        )
        return families(build_cache(dataset, score, n_jobs=1, **options))


def large_table():
    """A child of 1000 states and 1800 parent configurations: more cells than are scored at a time."""
    random = np.random.default_rng(2)
    arities = [1000, 60, 60]
    return Dataset.from_codes(np.array([random.integers(0, a, 2500) for a in arities]), arities, names="abc")


@pytest.mark.parametrize("score", CELL_SCORES, ids=title)
def test_tables_too_large_for_one_batch_are_scored_in_parts(score):
    dataset = large_table()

    own = alone(dataset, score, max_parents=2, prune=False)
    together = families(build_cache(dataset, score, max_parents=2, prune=False, n_jobs=1))

    for mine, theirs in zip(own, together, strict=True):
        assert mine.keys() == theirs.keys()
        assert all(near(value, theirs[parents]) for parents, value in mine.items())


@pytest.mark.parametrize("score", ["bds", "bde"])
def test_pruning_of_tables_too_large_for_one_batch_is_the_literal_filter(score, monkeypatch):
    dataset = large_table()
    replace_everywhere(monkeypatch, "BOUNDS_FROM", 0)

    pruned = alone(dataset, make_score(score), max_parents=2)

    for kept, whole in zip(pruned, alone(dataset, make_score(score), max_parents=2, prune=False), strict=True):
        assert_same_up_to_ties(kept, whole)


@examples(25)
@given(dataset=datasets(max_vars=4, max_rows=40), ess=st.sampled_from([0.1, 1.0, 30.0]))
def test_sparse_prior_is_the_uniform_prior_with_more_rows(dataset, ess):
    """BDs with ESS is BDeu with ESS q / q+, q+ of the q parent configurations occurring."""
    weights = None if dataset.weights is None else dataset.weights.tolist()
    sparse = families(build_cache(dataset, make_score("bds", ess=ess), prune=False, n_jobs=1))

    for child, table in enumerate(sparse):
        for parents, value in table.items():
            observed = len(count_cells(dataset.codes.T.tolist(), sorted(parents), weights))
            q = int(np.prod(dataset.arities[sorted(parents)], initial=1))
            uniform = build_cache(dataset, make_score("bdeu", ess=ess * q / observed), prune=False, n_jobs=1)
            assert near(value, families(uniform)[child][parents])


def test_every_set_is_listed_where_survivors_outgrow_their_first_room():
    """Thirteen candidates have 1,093 sets of up to four, more than the 256 that a kernel makes room for at first."""
    random = np.random.default_rng(4)
    dataset = Dataset.from_codes(random.integers(0, 2, (14, 30)), names=[f"x{v}" for v in range(14)])

    tables = families(build_cache(dataset, "bds", max_parents=4, prune=False, n_jobs=1))

    assert [len(table) for table in tables] == [1 + 13 + 78 + 286 + 715] * 14


@pytest.mark.parametrize("score", ["fcll", "acll"])
def test_class_wise_scores_of_general_networks_hold_sets_with_and_without_the_class(score):
    random = np.random.default_rng(5)
    dataset = Dataset.from_codes(random.integers(0, 2, (5, 40)), names="abcde")
    domain = Domain.of("abcde", class_name="c", max_parents=2, forbidden_arcs=[("c", "a")], required_arcs=[("c", "b")])

    tables = families(build_cache(dataset, score, domain=domain, prune=False, n_jobs=1))

    assert not any(2 in parents for parents in tables[0])
    assert all(2 in parents for parents in tables[1])
    assert [len(table) for table in tables] == [7, 4, 11, 11, 11]
