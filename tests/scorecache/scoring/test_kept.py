"""Kept families come out sorted, whatever their number, their order and the spread of their scores."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.cache import ScoreCache
from scorecache.errors import MemoryLimitError
from scorecache.scoring.kept import Kept
from tests.strategies import examples

NAMES = "abcdefghi"
ARRAYS = ["child_start", "scores", "parent_start", "parents"]

SPREADS = {
    "far apart": lambda random, n: random.normal(-100.0, 30.0, n),
    "of both signs": lambda random, n: random.normal(0.0, 1e-3, n),
    "many ties": lambda random, n: random.integers(-3, 3, n).astype(np.float64),
    "zeros of both signs": lambda random, n: random.choice([0.0, -0.0, 1.0], n),
    "all close to each other but one": lambda random, n: (
        -1.0 - 1e-12 * random.random(n) - 1e9 * (np.arange(n) == n // 2)
    ),
    "rising": lambda random, n: np.arange(n) - 0.5,
}


def collected(pieces, base=()):
    kept = Kept(np.inf)
    for piece in pieces:
        kept.add(piece, base)
    cache = kept.cache(NAMES)
    return {name: getattr(cache, name) for name in ARRAYS}


def assert_same_arrays(arrays, cache):
    for name in ARRAYS:
        assert arrays[name].dtype == getattr(cache, name).dtype
        assert arrays[name].tolist() == getattr(cache, name).tolist()


def families_of(pieces, base=()):
    """Per child, the (score, parents) pairs of all pieces."""
    listed = [[] for _ in NAMES]
    for children, scores, free in pieces:
        for child, score, parents in zip(children.tolist(), scores.tolist(), free.tolist(), strict=True):
            listed[child].append((score, (*parents, *base)))
    return listed


@examples(40)
@given(data=st.data())
def test_pieces_of_any_sizes_are_collected_as_a_cache_sorts_them(data):
    base = data.draw(st.sampled_from([(), (0,), (4,), (8, 2)]))
    others = [variable for variable in range(9) if variable not in base]
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    pieces = []
    for size in data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)):
        n = data.draw(st.integers(0, 60))
        free = np.array([random.choice(others, size, replace=False) for _ in range(n)]).reshape(n, size)
        pieces.append((random.integers(0, 9, n), random.integers(-2, 2, n).astype(np.float64), free))

    arrays = collected(pieces, base)

    assert_same_arrays(arrays, ScoreCache.from_families(NAMES, families_of(pieces, base)))


@pytest.mark.parametrize("n", [2, 3000])
@pytest.mark.parametrize("spread", SPREADS)
def test_scores_are_sorted_however_they_are_spread(spread, n):
    random = np.random.default_rng(n)
    sets = np.array(list(combinations(range(30), 3)))[random.permutation(4060)[:n]]
    pieces = [(np.where(np.arange(n) % 7, 3, 8), SPREADS[spread](random, n), sets)]

    arrays = collected(pieces)

    assert_same_arrays(arrays, ScoreCache.from_families(NAMES, families_of(pieces)))


def test_nothing_kept_is_a_cache_without_families():
    assert_same_arrays(collected([]), ScoreCache.from_families(NAMES, [[] for _ in NAMES]))


def test_families_that_outgrow_the_memory_are_refused():
    piece = (np.zeros(1000, np.int64), np.zeros(1000), np.zeros((1000, 2), np.int32))
    kept = Kept(3 * 1000 * (24 + 4 * 2))

    kept.add(piece, ())

    with pytest.raises(MemoryLimitError, match="the families kept so far need"):
        kept.add(piece, ())
