"""Distinct rows against a Counter."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.data.rows import _merge, all_rows, distinct_rows, merge_rows
from tests.strategies import datasets, examples


def counted(dataset):
    """How often each row occurs, in order of first appearance."""
    weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    rows: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(map(tuple, dataset.codes.T.tolist()), weights, strict=True):
        if weight:
            rows[row] += weight
    return dict(rows)


@examples(40)
@given(dataset=datasets(max_vars=4, max_arity=3, max_rows=60))
def test_distinct_rows_stand_in_order_of_first_appearance(dataset):
    rows = distinct_rows(dataset)

    found = dict(zip(map(tuple, rows.codes.T.tolist()), rows.weights.tolist(), strict=True))

    assert list(found.items()) == list(counted(dataset).items())
    assert rows.n_distinct == len(found)
    assert rows.codes.flags.c_contiguous
    assert rows.weights.flags.c_contiguous


@examples(20)
@given(weights=st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(any))
def test_rows_of_weight_zero_vanish(weights):
    codes = np.array([[0, 1, 0, 1], [0, 0, 0, 1]], dtype=np.uint16)
    dataset = Dataset(("a", "b"), ((0, 1), (0, 1)), codes, np.array(weights))

    rows = distinct_rows(dataset)

    assert dict(zip(map(tuple, rows.codes.T.tolist()), rows.weights.tolist(), strict=True)) == counted(dataset)


def test_distinct_rows_of_one_column_of_all_states():
    codes = np.random.default_rng(0).permutation(np.arange(3000) % 1000)[None, :]
    rows = distinct_rows(Dataset.from_codes(codes))

    assert rows.n_distinct == 1000
    assert rows.weights.tolist() == [3] * 1000


@examples(15)
@given(dataset=datasets(max_vars=3, max_arity=3, max_rows=40))
def test_equal_hashes_do_not_merge_different_rows(dataset):
    weights = np.ones(dataset.n_rows, dtype=np.int64)

    first, merged = merge_rows(dataset.codes, weights)
    worst_first, worst_merged = _merge(dataset.codes, weights, np.zeros(dataset.n_rows, dtype=np.uint64))

    assert worst_first.tolist() == first.tolist()
    assert worst_merged.tolist() == merged.tolist()


def test_rows_of_weight_zero_vanish_whether_merged_or_not():
    codes = np.array([[0, 1, 0, 1], [0, 0, 1, 1]], dtype=np.uint16)
    dataset = Dataset(("a", "b"), ((0, 1), (0, 1)), codes, np.array([2, 0, 1, 3]))

    for rows in (all_rows(dataset), distinct_rows(dataset)):
        assert rows.codes.tolist() == [[0, 0, 1], [0, 1, 1]]
        assert rows.weights.tolist() == [2, 1, 3]
