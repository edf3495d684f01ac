"""Indicator bitmaps against a Counter."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.counting.bitmap import indicator_bitmaps
from scorecache.counting.label import base_labels
from scorecache.data.rows import Rows, distinct_rows
from tests.strategies import datasets, examples


def n_bits(words):
    return int(np.unpackbits(np.ascontiguousarray(words).view(np.uint8)).sum())


def weighted(bitmaps, words):
    """The weight of the marked rows in each base configuration."""
    totals = Counter()
    for segment, (base, shift) in enumerate(zip(bitmaps.segment_base, bitmaps.segment_shift, strict=True)):
        begin, end = bitmaps.segment_start[segment : segment + 2]
        totals[int(base)] += n_bits(words[begin:end]) << int(shift)
    return +totals


@examples(40)
@given(data=st.data())
def test_population_counts_weigh_the_rows_of_each_state_and_base(data):
    dataset = data.draw(
        datasets(max_arity=6, max_rows=150, weights=st.none() | st.integers(1, 3) | st.integers(1, 10**6))
    )
    rows = distinct_rows(dataset)
    variables = data.draw(st.permutations(range(dataset.n_vars)))
    labels, n_base = base_labels(rows, data.draw(st.sampled_from([[], [dataset.n_vars - 1]])), dataset.arities)

    bitmaps = indicator_bitmaps(rows, variables, dataset.arities, labels.astype(np.int64), n_base)

    assert len(bitmaps.words) == bitmaps.first[-1] == sum(dataset.arities - 1)
    for position, variable in enumerate(variables):
        for state in range(1, int(dataset.arities[variable])):
            expected = Counter()
            for label, code, weight in zip(labels, rows.codes[variable], rows.weights, strict=True):
                expected[int(label)] += int(weight) * bool(code == state)
            assert weighted(bitmaps, bitmaps.words[bitmaps.first[position] + state - 1]) == +expected


@examples(20)
@given(data=st.data())
def test_anded_bitmaps_weigh_the_rows_in_both_states(data):
    dataset = data.draw(datasets(min_vars=3, min_arity=2, max_rows=150, weights=st.none() | st.integers(1, 1000)))
    rows = distinct_rows(dataset)
    bitmaps = indicator_bitmaps(rows, [0, 1], dataset.arities, np.zeros(rows.n_distinct, dtype=np.int64), 1)

    both = weighted(bitmaps, bitmaps.words[0] & bitmaps.words[bitmaps.first[1]])

    expected = int(rows.weights[(rows.codes[0] == 1) & (rows.codes[1] == 1)].sum())
    assert both == +Counter({0: expected})


@pytest.mark.parametrize(
    ("weights", "shifts"), [([1, 1, 1], [0]), ([1, 2, 3], [0]), ([1, 1, 1000], [0]), ([1, 1, 4096], [0, 12])]
)
def test_heavy_rows_are_laid_out_by_the_bits_of_their_weights(weights, shifts):
    """Where that takes fewer words: 1002 rows fill 16, their seven planes would take 7 and as many new segments."""
    rows = Rows(np.array([[0, 1, 2]], dtype=np.uint16), np.array(weights))

    bitmaps = indicator_bitmaps(rows, [0], np.array([3]), np.zeros(3, dtype=np.int64), 1)

    assert bitmaps.segment_shift.tolist() == shifts
    assert weighted(bitmaps, bitmaps.words[0]) == Counter({0: weights[1]})
    assert weighted(bitmaps, bitmaps.words[1]) == Counter({0: weights[2]})
