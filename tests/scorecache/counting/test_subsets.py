"""Colexicographic order against itertools."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.counting.subsets import advance, binomials, rank_without, row_chunks, unrank
from tests.strategies import examples


def colex(n, size):
    """All subsets of 0..n-1 of one size: the first in which they differ from the top decides."""
    return sorted(combinations(range(n), size), key=lambda subset: subset[::-1])


def test_binomials_are_cut_where_they_pass_sixty_two_bits():
    table = binomials(70, 40)

    assert all(table[i, j] == min(comb(i, j), 1 << 62) for i in range(71) for j in range(41))


@pytest.mark.parametrize(("n", "size"), [(1, 1), (4, 1), (5, 2), (6, 3), (7, 7), (9, 4), (100, 2)])
def test_unranking_and_advancing_walk_in_colexicographic_order(n, size):
    binom = binomials(n + 1, size + 1)
    before = None
    for rank, subset in enumerate(colex(n, size)):
        unranked = unrank(rank, size, binom)
        if rank == 0:
            walked = unrank(0, size, binom)
        else:
            changed = advance(walked, size)
            last = max(i for i in range(size) if before[i] != subset[i])
            assert changed == last
        assert tuple(unranked.tolist()) == tuple(walked.tolist()) == subset
        assert rank_without(walked, size, -1, -1, 0, binom) == rank
        before = subset


@examples(60)
@given(data=st.data())
def test_ranks_without_some_elements_are_those_of_the_smaller_set(data):
    n, size = 12, data.draw(st.integers(1, 6))
    subset = data.draw(st.sampled_from(colex(n, size)))
    skip, also = data.draw(st.integers(-1, size - 1)), data.draw(st.integers(-1, size - 1))
    rest = tuple(element for i, element in enumerate(subset) if i not in (skip, also))
    n_led = data.draw(st.integers(0, min(2, rest[0] if rest else 2)))
    leading = tuple(range(n_led))

    rank = rank_without(np.array(subset), size, skip, also, n_led, binomials(n + 1, size + 3))

    # smaller elements 0, 1, .. add binom(0, 1) = binom(1, 2) = .. = 0 to the rank
    assert rank == (colex(n, len(rest) + n_led).index(leading + rest) if rest or n_led else 0)


@pytest.mark.parametrize("n_sets", [1, 3, 10, 64, 10_000])
@pytest.mark.parametrize(("n", "size"), [(1, 1), (9, 1), (5, 2), (9, 3), (10, 4), (7, 7), (12, 5)])
def test_chunks_cover_all_rows_once_in_order(n, size, n_sets):
    binom = binomials(n + 1, size + 1)
    n_rows = comb(n, size - 1)
    from_row = 0 if size == 1 else comb(n - 2, size - 1)

    chunks = list(row_chunks(binom, size, n, from_row, n_rows, n_sets))

    edges = [chunks[0][0], *(last for _, last in chunks)]
    assert edges == sorted(set(edges))
    assert [first for first, _ in chunks] == edges[:-1]
    assert (edges[0], edges[-1]) == (from_row, n_rows if size > 1 else 1)


@pytest.mark.parametrize("n_sets", [5, 20, 100])
def test_chunks_hold_about_as_many_sets_as_asked(n_sets):
    """A row is all sets P + {x} with x below P; no chunk is larger than asked by more than its last row."""
    n, size = 14, 4
    in_row = [rows[0] for rows in colex(n, size - 1)]

    for first, last in row_chunks(binomials(n + 1, size + 1), size, n, 0, len(in_row), n_sets):
        assert sum(in_row[first:last]) - in_row[last - 1] <= n_sets
