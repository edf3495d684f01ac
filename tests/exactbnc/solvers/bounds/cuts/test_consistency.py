"""Families that fit into no order, against enumeration of all networks of possible families."""

from itertools import chain, combinations, pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import find_cycle
from exactbnc.solvers.bounds.cuts.consistency import consistent_families
from tests.strategies import examples


@st.composite
def possible_families(draw, max_vars=4):
    """Per child some parent sets, and which of them are possible."""
    n_vars = draw(st.integers(1, max_vars))
    listed = []
    for child in range(n_vars):
        others = [v for v in range(n_vars) if v != child]
        sets = list(chain.from_iterable(combinations(others, size) for size in range(len(others) + 1)))
        listed.append(draw(st.lists(st.sampled_from(sets), min_size=1, max_size=4, unique=True)))
    n_families = sum(map(len, listed))
    return listed, draw(st.lists(st.booleans(), min_size=n_families, max_size=n_families))


def arrays(listed, n_words):
    """The families as `child_start` and `masks`, the variables in the last of the words."""
    sets = [own for families in listed for own in families]
    masks = np.zeros((len(sets), n_words), dtype=np.uint64)
    masks[:, -1] = [sum(1 << v for v in own) for own in sets]
    return np.cumsum([0, *map(len, listed)]), masks


@examples(300)
@given(possible_families())
def test_what_stays_is_what_occurs_in_a_network(instance):
    listed, is_possible = instance
    child_start, masks = arrays(listed, 1)
    own = [[f for f in range(a, b) if is_possible[f]] for a, b in pairwise(child_start)]
    sets = [parents for families in listed for parents in families]
    networks = [choice for choice in product(*own) if find_cycle([sets[f] for f in choice]) is None]

    found = consistent_families(child_start, masks, np.array(is_possible))

    if not networks:
        assert found is None
    else:
        assert set(np.flatnonzero(found)) == set(chain.from_iterable(networks))


def test_a_forced_ancestor_across_words():
    n_vars = 70
    listed = [[()] for _ in range(n_vars)]
    listed[69] = [(0,), (0, 5)]
    listed[0] = [(69,), (3,)]
    sets = [own for families in listed for own in families]
    masks = np.zeros((len(sets), 2), dtype=np.uint64)
    for f, own in enumerate(sets):
        for v in own:
            masks[f, v // 64] |= np.uint64(1 << (v % 64))

    found = consistent_families(np.cumsum([0, *map(len, listed)]), masks, np.ones(len(sets), dtype=np.bool_))

    assert np.flatnonzero(~found).tolist() == [0]
