from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.discretize import EqualFrequencyDiscretizer
from scorecache.errors import ParameterError
from tests.strategies import examples

VALUES = st.lists(st.integers(-3, 12).map(float), min_size=1, max_size=30)


def fitted_cuts(values, n_bins, **settings):
    model = EqualFrequencyDiscretizer(n_bins).fit(np.array(values)[:, None], **settings)
    return model.cut_points_[0].tolist()


def literal_cuts(values, n_bins):
    """For every j the midpoint whose share of values below is nearest to j/b, the lower of two; each once."""
    distinct = sorted(set(values))
    midpoints = [(a + b) / 2 for a, b in pairwise(distinct)]

    def distance(cut, j):
        return abs(Fraction(sum(value < cut for value in values), len(values)) - Fraction(j, n_bins))

    chosen = {min(midpoints, key=lambda cut, j=j: (distance(cut, j), cut)) for j in range(1, n_bins) if midpoints}
    return sorted(chosen)


@given(VALUES, st.integers(1, 8))
@examples(120)
def test_cuts_are_where_the_definition_puts_them(values, n_bins):
    assert fitted_cuts(values, n_bins) == literal_cuts(values, n_bins)


@given(st.integers(1, 8), st.integers(1, 6))
@examples(48)
def test_different_values_fill_the_bins_evenly(n_bins, size):
    values = np.random.default_rng(0).permutation(n_bins * size).astype(float)

    codes = EqualFrequencyDiscretizer(n_bins).fit_transform(values[:, None])[:, 0]

    assert np.bincount(codes).tolist() == [size] * n_bins


def test_a_value_that_fills_most_of_a_column_is_not_split():
    assert fitted_cuts([0.0] * 90 + [1.0, 2.0], 5) == [0.5]


@given(VALUES, st.integers(1, 6), st.data())
@examples(80)
def test_a_weight_counts_a_row_that_often(values, n_bins, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any))

    weighted = fitted_cuts(values, n_bins, sample_weight=weights)

    assert weighted == fitted_cuts(np.repeat(values, weights), n_bins)


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, True, "many"])
def test_the_number_of_bins_is_a_whole_number_above_zero(n_bins):
    with pytest.raises(ParameterError, match=r"'n_bins' parameter of EqualFrequencyDiscretizer must be a whole number"):
        EqualFrequencyDiscretizer(n_bins).fit([[1.0], [2.0]])
