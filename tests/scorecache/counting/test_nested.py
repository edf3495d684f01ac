"""Nested tables tally what the naive count counts, along any way from smaller sets to larger ones."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scorecache.counting import nested as module
from scorecache.counting.nested import n_small, nested_rows, new_tables, start
from scorecache.counting.nested_count import count, count_tail, tail_codes
from scorecache.counting.nested_refine import project, refine
from tests.oracles import count_cells
from tests.strategies import examples


@st.composite
def weighted_rows(draw):
    arities = draw(st.lists(st.integers(1, 4), min_size=2, max_size=6))
    n_rows = draw(st.integers(1, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = np.array([random.integers(0, r, n_rows) for r in arities], dtype=np.uint16)
    return np.array(arities), codes, random.integers(1, 30, n_rows)


def tallied(small, large, n_large):
    found = Counter({weight: int(n) for weight, n in enumerate(small.tolist()) if n})
    found.update(large[:n_large].tolist())
    return found


def expected(codes, weights, variables):
    return Counter(count_cells(codes.T.tolist(), variables, weights.tolist()).values())


@examples(60)
@given(weighted_rows(), st.data())
def test_every_set_is_tallied_as_the_naive_count_has_it(table, data):
    """Down a chain of variables, with a projection wherever one can be kept, count one more or a whole tail."""
    arities, codes, weights = table
    n_vars, total = len(arities), int(weights.sum())
    rows, order = nested_rows(codes)
    fewest = n_small(total)
    tables = new_tables(n_vars + 1, rows, fewest, total // fewest + 1, 4**6)
    small, large = np.empty(fewest, np.int32), np.empty(total // fewest + 1, np.int32)
    start(tables, n_vars, np.zeros(len(order), np.int32), 1, weights[order], n_vars)
    project(tables, n_vars, 1, rows)
    chosen = []
    line, below = n_vars, n_vars
    while below > 0:
        for x in range(below):
            n_large = count(tables, line, x, int(arities[x]), rows, small, large)
            assert tallied(small, large, n_large) == expected(codes, weights, [*chosen, x])
        tail = sorted(data.draw(st.sets(st.integers(0, below - 1), min_size=1)), reverse=True)
        top = tail[0] + 1
        if rows.n_prefixes[top] <= rows.first_row.shape[1]:
            numbers = np.empty(rows.first_row.shape[1], np.int64)
            tail_codes(rows, top, np.array(tail), len(tail), arities, numbers)
            prefix = rows.prefix[rows.prefix_row[top]]
            n_large = count_tail(tables, line, top, numbers, prefix, small, large)
            assert tallied(small, large, n_large) == expected(codes, weights, [*chosen, *tail])
        u = data.draw(st.integers(0, below - 1))
        refine(tables, line, u, int(arities[u]), rows, line - 1)
        chosen.append(u)
        line, below = line - 1, u
        project(tables, line, 1, rows)


def test_rows_that_agree_on_the_first_variables_share_a_prefix():
    codes = np.array([[1, 0, 1, 0, 0, 0, 0, 0], [0, 1, 1, 0, 1, 0, 1, 0]], dtype=np.uint16)

    rows, order = nested_rows(codes)

    assert codes[:, order].T.tolist() == sorted(codes.T.tolist())
    assert rows.n_prefixes.tolist() == [1, 2, 4]
    assert rows.prefix[rows.prefix_row[1]].tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert rows.first_row[rows.prefix_row[2], :4].tolist() == [0, 3, 6, 7]


def test_cell_with_a_single_entry_leaves_the_table(monkeypatch):
    """Of the rows 00, 01 and 1?, the last is alone in its cell of the first variable."""
    monkeypatch.setattr(module, "FEWEST_SMALL", 2)
    codes = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint16)
    rows, _ = nested_rows(codes[[1, 2, 0]])
    tables = new_tables(2, rows, n_small(9), 9, 32)
    start(tables, 1, np.zeros(3, np.int32), 1, np.array([2, 3, 4]), 3)

    refine(tables, 1, 2, 2, rows, 0)

    assert tables.cell_end[0, 1] == 1
    assert tables.entry_end[0, 1] == 2
    assert tallied(tables.small[0, 0], tables.large[0, 0], tables.n_large[0, 0]) == {4: 1}
