"""Shapes against multisets of arities."""

from itertools import combinations
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scorecache.scoring.shapes import number_shapes
from tests.strategies import examples


@examples(60)
@given(
    arities=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    base=st.lists(st.integers(1, 4), max_size=2),
    max_size=st.integers(0, 4),
)
def test_shapes_are_the_multisets_of_arities(arities, base, max_size):
    shapes = number_shapes(np.array(arities), tuple(base), max_size)

    subsets = [chosen for size in range(max_size + 1) for chosen in combinations(range(len(arities)), size)]
    multisets = {tuple(sorted([*base, *(arities[v] for v in chosen)])) for chosen in subsets}
    assert set(shapes.arities) == multisets
    assert len(shapes.arities) == len(multisets)
    assert shapes.arities[0] == tuple(sorted(base))
    assert shapes.q.tolist() == [float(prod(shape)) for shape in shapes.arities]


@examples(60)
@given(arities=st.lists(st.integers(1, 4), min_size=1, max_size=5), max_size=st.integers(0, 5))
def test_steps_lead_to_the_shape_of_the_grown_set(arities, max_size):
    shapes = number_shapes(np.array(arities), (3,), max_size)

    for size in range(min(max_size, len(arities)) + 1):
        for chosen in combinations(range(len(arities)), size):
            shape = 0
            for variable in chosen:
                shape = shapes.step[shape, shapes.kinds[variable]]
            assert shapes.arities[shape] == tuple(sorted([3, *(arities[v] for v in chosen)]))


def test_kinds_are_the_different_arities():
    shapes = number_shapes(np.array([2, 2, 5, 3]), (), 2)

    assert shapes.kind_arity.tolist() == [2, 3, 5]
    assert shapes.kinds.tolist() == [0, 0, 2, 1]


def test_sizes_past_any_integer_are_floats():
    shapes = number_shapes(np.full(8, 1000), (), 8)

    assert shapes.q[-1] == 1e24
