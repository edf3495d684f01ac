from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.pictures._layout import _shortest_layers, _spread


@st.composite
def parent_lists(draw, max_vars=5):
    n = draw(st.integers(1, max_vars))
    return [[u for u in range(v) if draw(st.booleans())] for v in range(n)]


@given(parent_lists())
def test_no_layers_have_shorter_arcs(parents):
    def length(layers):
        steps = [layers[child] - layers[parent] for child, listed in enumerate(parents) for parent in listed]
        return sum(steps) if min(steps, default=1) >= 1 else float("inf")

    found = _shortest_layers(parents)

    assert min(found) == 0
    assert length(found) == min(map(length, product(range(len(parents)), repeat=len(parents))))


sides = st.lists(st.floats(-100, 100), min_size=2, max_size=5).filter(lambda places: max(places) - min(places) > 1)


@given(sides, sides, st.sampled_from([0.5, 1.3, 3.0]))
def test_a_drawing_gets_the_shape_or_is_spread_as_far_as_allowed(x, y, shape):
    wide, high = list(x), list(y)

    _spread(wide, high, shape, 1.5)

    across, down = ((max(after) - min(after)) / (max(before) - min(before)) for after, before in ((wide, x), (high, y)))
    assert min(across, down) == pytest.approx(1.0)
    assert max(across, down) <= 1.5 + 1e-9
    ratio = (max(wide) - min(wide)) / (max(high) - min(high))
    assert ratio == pytest.approx(shape) or max(across, down) == pytest.approx(1.5)
