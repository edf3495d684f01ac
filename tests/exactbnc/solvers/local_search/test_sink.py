"""Networks from LP points."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import find_cycle
from exactbnc.solvers.local_search.sink import best_families, sink_order
from tests.strategies import examples


def rows_of(families):
    """Compressed rows of, per child, lists of members."""
    flat = [listed for own in families for listed in own]
    child_start = np.concatenate([[0], np.cumsum([len(own) for own in families])]).astype(np.int64)
    start = np.concatenate([[0], np.cumsum([len(listed) for listed in flat])]).astype(np.int64)
    return child_start, start, np.array([member for listed in flat for member in listed], dtype=np.int64)


@st.composite
def family_lists(draw):
    n_vars = draw(st.integers(1, 6))
    others = [[u for u in range(n_vars) if u != v] for v in range(n_vars)]
    sets = [st.lists(st.sampled_from(own), unique=True).map(sorted) if own else st.just([]) for own in others]
    return [draw(st.lists(own, min_size=1, max_size=5)) for own in sets]


@examples(150)
@given(family_lists(), st.integers(0, 2**32 - 1))
def test_the_order_holds_every_variable_and_its_families_are_acyclic(families, seed):
    child_start, start, members = rows_of(families)
    value = np.random.default_rng(seed).random(child_start[-1])

    order = sink_order(child_start, start, members, value)

    if order is None:
        return
    assert sorted(order.tolist()) == list(range(len(families)))
    chosen = best_families(child_start, start, members, order)
    assert chosen is not None
    assert find_cycle([members[start[f] : start[f + 1]].tolist() for f in chosen]) is None


@examples(50)
@given(family_lists(), st.integers(0, 2**32 - 1))
def test_there_is_an_order_where_every_child_has_the_empty_set(families, seed):
    child_start, start, members = rows_of([[*own, []] for own in families])
    value = np.random.default_rng(seed).random(child_start[-1])

    assert sink_order(child_start, start, members, value) is not None


def test_an_integral_acyclic_point_is_followed():
    families = [[[1], [2], []], [[0], [2], []], [[0, 1], []]]  # 2 -> 1 -> 0 has value 1
    child_start, start, members = rows_of(families)
    value = np.array([1.0, 0, 0, 0, 1.0, 0, 0, 1.0])

    order = sink_order(child_start, start, members, value)

    assert order.tolist() == [2, 1, 0]
    assert best_families(child_start, start, members, order).tolist() == [0, 4, 7]


def test_no_order_where_every_family_needs_the_other():
    child_start, start, members = rows_of([[[1]], [[0]]])

    assert sink_order(child_start, start, members, np.ones(2)) is None


def test_no_family_fits_where_the_order_is_wrong():
    child_start, start, members = rows_of([[[1]], [[]]])

    assert best_families(child_start, start, members, np.array([0, 1])) is None
    assert best_families(child_start, start, members, np.array([1, 0])).tolist() == [0, 1]
