import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.discretize import EqualFrequencyDiscretizer, MDLPDiscretizer, MedianDiscretizer
from exactbnc.learning.discretize.tables import bins_of, discretized, find_cut_points, numbers_of, numeric_columns
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from tests.strategies import examples


def table(**columns):
    return Dataset.from_columns({**columns, "y": ["a", "b"] * (len(next(iter(columns.values()))) // 2)})


@pytest.mark.parametrize(
    ("states", "numbers"),
    [
        (("1", "2.5", "-3e2"), [1, 2.5, -300]),
        ((1, 2.5), [1, 2.5]),
        (("inf", "-Infinity"), [np.inf, -np.inf]),
        (("1", "missing"), [1, np.nan]),
        (("a", "1_000", "١", "nan", ""), [np.nan] * 5),
        ((True, False), [np.nan] * 2),
        ((10**400, ("1",)), [np.nan] * 2),
    ],
    ids=str,
)
def test_states_that_are_or_spell_numbers(states, numbers):
    assert numbers_of(states) == pytest.approx(numbers, nan_ok=True)


def test_truth_values_are_not_taken_for_the_numbers_they_equal():
    assert numbers_of((0, 1)).tolist() == [0, 1]  # remembered; (False, True) is equal to (0, 1)

    assert np.isnan(numbers_of((False, True))).all()


def test_a_column_of_numbers_has_no_other_value_but_missing_ones():
    data = Dataset.from_columns(
        {
            "number": ["1", "2", "3", "4"],
            "gaps": ["1", None, "2", "3"],
            "text": ["1", "2", "x", "4"],
            "dates": ["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-02"],
            "flags": [True, False, True, False],
            "y": ["1", "2", "1", "2"],
        },
        missing="category",
    )

    assert numeric_columns(data, "y") == ["number", "gaps"]
    assert numeric_columns(data, "text") == ["number", "gaps", "y"]


@given(
    numbers=st.lists(st.floats(allow_nan=False), min_size=1, max_size=8, unique=True),
    points=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4, unique=True),
)
@examples(60)
def test_a_bin_is_the_number_of_cut_points_below(numbers, points):
    points = sorted({point + 0.0 for point in points})
    states = tuple(map(repr, numbers))

    found = bins_of(numbers_of(states), points)

    assert found.tolist() == [sum(point < number for point in points) for number in numbers]


def test_a_value_on_a_cut_point_is_in_the_lower_bin():
    assert bins_of(numbers_of(("2", "2.5", "2.6", "inf", "text")), (2.5,)).tolist() == [0, 0, 1, 1, 2]


def test_cut_columns_have_all_intervals_as_states_in_their_order():
    data = table(x=["1", "2", "3", "10"], colour=["r", "g", "r", "g"])

    found = discretized(data, {"x": (2.0, 5.0, 20.0)})

    assert found.states[0] == ("(-inf, 2]", "(2, 5]", "(5, 20]", "(20, inf)")
    assert found.codes[0].tolist() == [0, 0, 1, 2]
    assert found.states[1:] == data.states[1:]
    assert np.array_equal(found.codes[1:], data.codes[1:])


def test_missing_values_keep_a_state_after_the_intervals():
    data = Dataset.from_columns({"x": ["1", None, "3"], "y": ["a", "b", "a"]}, missing="category")

    found = discretized(data, {"x": (2.0,)})

    assert found.states[0] == ("(-inf, 2]", "(2, inf)", "missing")
    assert found.codes[0].tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("method", "learner"),
    [("mdlp", MDLPDiscretizer()), ("median", MedianDiscretizer()), ("quantile", EqualFrequencyDiscretizer(5))],
)
def test_cut_points_are_those_of_the_transformers(method, learner):
    random = np.random.default_rng(0)
    classes = np.repeat([0, 1], 40)
    numbers = np.column_stack([random.normal(size=80) + 3 * classes, random.normal(size=80)]).round(2)
    weights = random.integers(1, 4, 80)
    columns = {"u": map(str, numbers[:, 0]), "v": map(str, numbers[:, 1]), "y": classes}
    data = Dataset.from_columns({name: list(own) for name, own in columns.items()}, weights=weights)
    learner.fit(numbers, classes, sample_weight=weights)

    found = find_cut_points(data, "y", method)

    assert found == {"u": tuple(learner.cut_points_[0]), "v": tuple(learner.cut_points_[1])}


def test_columns_with_few_values_are_kept_as_they_are():
    data = table(few=["1", "2", "3"] * 4, many=list(map(str, range(12))))

    assert set(find_cut_points(data, "y", "median")) == {"few", "many"}
    assert set(find_cut_points(data, "y", "median", keep_at_most=3)) == {"many"}
    assert set(find_cut_points(data, "y", "median", keep_at_most=2)) == {"few", "many"}


def test_a_table_without_numbers_has_no_cut_points():
    data = table(x=["p", "q"] * 3)

    assert find_cut_points(data, "y", "mdlp") == {}
    assert np.array_equal(discretized(data, {}).codes, data.codes)


def test_auto_takes_columns_of_many_numbers_that_are_not_codes():
    numbers = [str(number) for number in range(40)]
    data = Dataset.from_columns(
        {
            "age": numbers,
            "few": [str(row % 10) for row in range(40)],
            "post": [f"{row:03}" for row in range(40)],
            "y": ["a", "b"] * 20,
        }
    )

    assert find_cut_points(data, None, "auto") == {"age": (7.5, 15.5, 23.5, 31.5)}
    assert find_cut_points(data, "y", "auto") == {"age": (7.5, 15.5, 23.5, 31.5)}  # nothing for MDLP to find
    assert set(find_cut_points(data, "y", "auto", keep_at_most=9)) == {"age", "few"}
    assert find_cut_points(data, "y", "auto", columns=["few"]) == {}
    classes = Dataset.from_columns({"age": numbers, "y": [str(row // 6) for row in range(40)]})
    assert find_cut_points(classes, "y", "auto") == {
        "age": tuple(MDLPDiscretizer().fit([[n] for n in range(40)], [row // 6 for row in range(40)]).cut_points_[0])
    }


def test_an_unknown_method_is_refused():
    with pytest.raises(ParameterError, match=r"must be one of auto, mdlp, median, quantile\. Got 'chimerge' instead"):
        find_cut_points(table(x=["1", "2"]), "y", "chimerge")


@pytest.mark.parametrize(("n_numbers", "is_cut"), [(10, False), (11, True)])
def test_a_missing_value_is_none_of_the_numbers_of_a_column(n_numbers, is_cut):
    column = [*map(str, range(n_numbers)), None] * 5
    data = Dataset.from_columns({"digit": column}, missing="category")

    assert bool(find_cut_points(data, None, "auto")) == is_cut
