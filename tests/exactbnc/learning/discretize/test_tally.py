import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.discretize._tally import Tally, cut_points_between
from tests.strategies import examples

INF = math.inf
TINY = math.ulp(0.0)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
@examples(200)
def test_a_cut_separates_the_values_beside_it(one, other):
    lower, upper = min(one, other), max(one, other)
    if lower < upper:
        (cut,) = cut_points_between(np.array([lower]), np.array([upper]))

        assert lower <= cut < upper


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (1.9, 3.0, 2.45),
        (-1e308, 1.5e308, 2.5e307),
        (1e308, 1.5e308, 1.25e308),
        (1.0, math.nextafter(1.0, 2.0), 1.0),
        (TINY, 2 * TINY, TINY),
        (7.0, INF, 7.0),
        (-INF, 7.0, math.nextafter(7.0, -INF)),
        (-INF, INF, 0.0),
    ],
)
def test_a_cut_is_the_midpoint_where_there_is_one(lower, upper, expected):
    assert cut_points_between(np.array([lower]), np.array([upper])).tolist() == [expected]


def test_a_tally_counts_weights_by_value_and_class():
    column = np.array([2.0, 1.0, math.nan, 2.0, 9.0, 2.0])
    classes = np.array([0, 1, 1, 1, 1, 0])
    weights = np.array([1.0, 2.0, 5.0, 0.5, 0.0, 3.0])

    tally = Tally.of(column, classes, weights)

    assert tally.values.tolist() == [1.0, 2.0]
    assert tally.counts.tolist() == [[0.0, 2.0], [4.0, 0.5]]
    assert tally.below.tolist() == [2.0, 6.5]
