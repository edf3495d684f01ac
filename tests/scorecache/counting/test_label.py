"""Row labels against a Counter, in plain arrays and in hash tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.counting.label import base_labels, dense_size, hash_size, new_lookup, refine
from scorecache.data.rows import distinct_rows
from tests.scorecache.literal import replace_everywhere
from tests.strategies import datasets, examples

LARGE_WEIGHTS = st.none() | st.integers(1, 10**9)


class Scratch:
    """The work space of a kernel: with no room in the plain array, every look-up goes through the hash table."""

    def __init__(self, n_rows, hashed):
        self.refined = np.empty(n_rows, np.int32)
        self.lookup = new_lookup(1 if hashed else dense_size(n_rows), hash_size(n_rows))

    def is_clean(self):
        return bool(np.all(self.lookup.numbers == -1) and np.all(self.lookup.keys == -1))


def numbered(cells):
    """Cells numbered by first appearance."""
    number = {}
    return [number.setdefault(cell, len(number)) for cell in cells]


@pytest.mark.parametrize("hashed", [False, True])
@examples(30)
@given(dataset=datasets(min_vars=2, max_arity=6, max_rows=80))
def test_labels_are_refined_in_order_of_first_appearance(hashed, dataset):
    rows, scratch = distinct_rows(dataset), Scratch(distinct_rows(dataset).n_distinct, hashed)
    labels, n_labels = np.zeros(rows.n_distinct, np.int32), 1
    for variable in range(dataset.n_vars):
        column, arity = rows.codes[variable], int(dataset.arities[variable])

        n_labels = refine(labels, n_labels, column, arity, scratch.refined, scratch.lookup)
        labels = scratch.refined.copy()

        assert labels.tolist() == numbered(map(tuple, rows.codes[: variable + 1].T.tolist()))
        assert n_labels == len(set(labels.tolist()))
        assert scratch.is_clean()


@pytest.mark.parametrize("hashed", [False, True])
@examples(20)
@given(data=st.data())
def test_configurations_of_a_base_are_numbered(hashed, data):
    rows = distinct_rows(dataset := data.draw(datasets(max_arity=6)))
    chosen = data.draw(st.lists(st.sampled_from(range(dataset.n_vars)), unique=True))

    with pytest.MonkeyPatch.context() as patch:
        if hashed:
            replace_everywhere(patch, "dense_size", lambda _: 1)
        labels, n_labels = base_labels(rows, chosen, dataset.arities)

    assert labels.tolist() == numbered(map(tuple, rows.codes[chosen].T.tolist()))
    assert n_labels == len(set(labels.tolist()))


def test_hashing_holds_every_distinct_cell():
    """Keys that share their low bits still find places: a hundred thousand labels times a thousand states."""
    n_rows, arity = 100_000, 1000
    labels = np.arange(n_rows, dtype=np.int32)
    column = np.full(n_rows, arity - 1, dtype=np.uint16)
    scratch = Scratch(n_rows, hashed=True)

    n_refined = refine(labels, n_rows, column, arity, scratch.refined, scratch.lookup)

    assert n_refined == n_rows
    assert np.array_equal(scratch.refined, labels)


@pytest.mark.parametrize(("n_distinct", "size"), [(1, 16), (8, 16), (9, 32), (16, 32), (17, 64), (1000, 2048)])
def test_hash_tables_are_at_most_half_full(n_distinct, size):
    assert hash_size(n_distinct) == size
