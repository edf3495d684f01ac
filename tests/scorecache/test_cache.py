"""Caches are sorted, compact and read-only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.record import Record
from tests.strategies import examples, score_caches

ARRAYS = ["child_start", "scores", "parent_start", "parents"]


def small(record=None):
    """Two ties in score: between sets of different sizes, and between sets of equal size."""
    return ScoreCache.from_families(
        "abcd",
        [
            [(-1.0, (3, 1)), (-1.0, (2,)), (-1.0, (1, 2)), (0.5, ()), (-1.0, (1,))],
            [(-2.0, ())],
            [],
            [(-3.0, (0,)), (-2.5, (2, 1, 0))],
        ],
        record,
    )


def test_families_are_listed_best_first_then_by_size_then_by_parents():
    cache = small()

    assert list(cache.families(0)) == [(0.5, ()), (-1.0, (1,)), (-1.0, (2,)), (-1.0, (1, 2)), (-1.0, (1, 3))]
    assert list(cache.families(2)) == []
    assert list(cache.families(3)) == [(-2.5, (0, 1, 2)), (-3.0, (0,))]
    assert [cache.n_families_of(child) for child in range(4)] == [5, 1, 0, 2]
    assert cache.n_families == 8
    assert cache.sizes.tolist() == [0, 1, 1, 2, 2, 0, 3, 1]
    assert cache.parents_of(6) == (0, 1, 2)
    assert cache.index == {"a": 0, "b": 1, "c": 2, "d": 3}


@examples(60)
@given(cache=score_caches(), data=st.data())
def test_order_of_the_families_does_not_matter(cache, data):
    families = [data.draw(st.permutations(list(cache.families(child)))) for child in range(cache.n_vars)]

    again = ScoreCache.from_families(cache.names, families)

    assert again.equals(cache)
    assert again.record is None
    for child in range(cache.n_vars):
        keys = [(-score, len(parents), parents) for score, parents in cache.families(child)]
        assert keys == sorted(keys)


@examples(40)
@given(cache=score_caches())
def test_families_by_name_give_the_same_cache(cache):
    table = {
        cache.names[child]: {
            tuple(cache.names[parent] for parent in reversed(parents)): score
            for score, parents in cache.families(child)
        }
        for child in range(cache.n_vars)
    }

    assert ScoreCache.from_families(cache.names, table).equals(cache)


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ({"a": {(): 0.0}, "c": {(): 0.0}}, "families has 'c', not in names"),
        ({"a": {(): 0.0}}, r"no family of 'b'; list at least its score without parents, \(\)"),
        ({"a": {"b": 0.0}, "b": {(): 0.0}}, "the family 'b' of 'a' must be a tuple of variables"),
        ({"a": {("x",): 0.0}, "b": {(): 0.0}}, r"the family \('x',\) of 'a' must be a tuple of variables"),
        ({"a": {("a",): 0.0}, "b": {(): 0.0}}, "its own child"),
        ({"a": {("b", "b"): 0.0}, "b": {(): 0.0}}, "has a parent twice"),
        ({"a": {(): float("nan")}, "b": {(): 0.0}}, "must have a finite score. Got nan"),
    ],
)
def test_faulty_families_by_name_are_refused(families, message):
    with pytest.raises(ParameterError, match=message):
        ScoreCache.from_families("ab", families)


@examples(40)
@given(data=st.data())
def test_flat_arrays_are_sorted_by_child_and_score(data):
    """Children come in any order, with many ties, as the kernels hand them over."""
    n_families = data.draw(st.integers(0, 40))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    children = random.integers(0, 5, n_families)
    scores = random.integers(-2, 2, n_families).astype(np.float64)
    sets = [sorted(random.choice(9, random.integers(0, 4), replace=False)) for _ in range(n_families)]
    start = np.concatenate([[0], np.cumsum([len(parents) for parents in sets])]).astype(np.int64)
    parents = np.array([parent for chosen in sets for parent in chosen], dtype=np.int32)

    cache = ScoreCache.from_arrays("abcdefghi", children, scores, start, parents)

    listed = [(child, *family) for child in range(9) for family in cache.families(child)]
    rows = [(int(c), float(s), tuple(map(int, p))) for c, s, p in zip(children, scores, sets, strict=True)]
    assert listed == sorted(rows, key=lambda row: (row[0], -row[1], len(row[2]), row[2]))


@examples(30)
@given(cache=score_caches())
def test_arrays_fit_together(cache):
    assert [getattr(cache, name).dtype for name in ARRAYS] == [np.int64, np.float64, np.int64, np.int32]
    assert cache.child_start[0] == cache.parent_start[0] == 0
    assert cache.child_start[-1] == cache.n_families == len(cache.scores)
    assert cache.parent_start[-1] == len(cache.parents)
    for family in range(cache.n_families):
        parents = cache.parents_of(family)
        assert parents == tuple(sorted(set(parents)))


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name):
    array = getattr(small(), name)

    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_caches_are_frozen():
    with pytest.raises(AttributeError):
        small().names = ("x",)


def test_equality_is_bit_for_bit_and_blind_to_the_record():
    record = Record("bic", {}, Domain.of("abcd"), "none")
    cache = small()

    assert cache.equals(small(record))
    assert not cache.equals(ScoreCache.from_families("abce", [list(cache.families(child)) for child in range(4)]))
    for change in ("scores", "parents"):
        arrays = {name: getattr(cache, name).copy() for name in ARRAYS}
        arrays[change][0] = np.nextafter(0.5, 1) if change == "scores" else 3
        assert not cache.equals(ScoreCache(cache.names, **arrays))


def test_a_cache_without_families():
    cache = ScoreCache.from_families("ab", [[], []])

    assert cache.n_families == 0
    assert cache.child_start.tolist() == [0, 0, 0]
    assert list(cache.families(1)) == []
