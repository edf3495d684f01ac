import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.discretize import MedianDiscretizer
from tests.strategies import examples

VALUES = st.lists(st.integers(-3, 6).map(float), min_size=1, max_size=15)


def fit(values, **settings):
    return MedianDiscretizer().fit(np.array(values)[:, None], **settings)


@given(VALUES)
@examples(100)
def test_values_above_the_median_have_code_one(values):
    codes = fit(values).transform(np.array(values)[:, None])[:, 0]

    if max(values) > np.median(values):
        assert codes.tolist() == [int(value > np.median(values)) for value in values]
    elif max(values) > min(values):
        assert codes.tolist() == [int(value == max(values)) for value in values]
    else:
        assert set(codes.tolist()) == {0}


@pytest.mark.parametrize(
    ("values", "cut"),
    [([1, 2, 3, 9], 2.5), ([1, 2, 3], 2.5), ([1, 2, 2, 2, 7], 4.5), ([1, 5, 5, 5], 3.0), ([0, 1], 0.5)],
)
def test_the_cut_is_between_the_values_around_the_median(values, cut):
    assert fit([float(value) for value in values]).cut_points_[0].tolist() == [cut]


@given(VALUES, st.data())
@examples(80)
def test_a_weight_counts_a_row_that_often(values, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any))
    repeated = np.repeat(values, weights)

    assert fit(values, sample_weight=weights).cut_points_[0].tolist() == fit(repeated).cut_points_[0].tolist()
