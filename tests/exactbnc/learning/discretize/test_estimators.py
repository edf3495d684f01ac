"""What every discretiser promises as a scikit-learn transformer, whatever its rule."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from exactbnc.learning.discretize import EqualFrequencyDiscretizer, MDLPDiscretizer, MedianDiscretizer
from scorecache.errors import DataError, ParameterError
from tests.strategies import examples

KINDS = [MDLPDiscretizer, MedianDiscretizer, EqualFrequencyDiscretizer]
every_kind = pytest.mark.parametrize("kind", KINDS)


def mixed_frame():
    """Twelve rows of every sort of column, and the class that the numbers follow."""
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4, 5, 6] * 2,
            "real": [0.5, math.nan, 1.5, 7.5, 8.5, 9.5] * 2,
            "nullable": pd.array([1, None, 2, 7, 8, 9] * 2, dtype="Int64"),
            "flag": [True, False] * 6,
            "text": list("abcdef") * 2,
            "category": pd.Categorical([3, 1, 2] * 4),
        },
        index=range(100, 112),
    )
    return frame, np.array([0, 0, 0, 1, 1, 1] * 2)


@parametrize_with_checks([MDLPDiscretizer(), EqualFrequencyDiscretizer()])  # with classes, and without
def test_it_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


@given(st.sampled_from(KINDS), st.data())
@examples(90)
def test_codes_rise_with_the_values_from_the_first_bin_to_the_last(kind, data):
    values = data.draw(st.lists(st.floats(allow_nan=False), min_size=2, max_size=30))
    classes = [int(value > 0) for value in values]
    model = kind().fit(np.array(values)[:, None], classes)
    asked = np.sort([-math.inf, *values, *model.cut_points_[0], math.inf])

    codes = model.transform(asked[:, None])[:, 0]

    assert codes.dtype == np.int64
    assert (np.diff(codes) >= 0).all()
    assert codes[0] == 0
    assert codes[-1] == len(model.cut_points_[0])
    assert codes.tolist() == [sum(cut < value for cut in model.cut_points_[0]) for value in asked]


@every_kind
def test_every_bin_holds_a_training_value(kind):
    x, y = load_iris(return_X_y=True)

    codes = kind().fit(x, y).transform(x)

    for column in codes.T:
        assert set(column) == set(range(column.max() + 1))


def test_a_value_equal_to_a_cut_point_is_in_the_lower_bin():
    model = MedianDiscretizer().fit([[1.0], [2.0]])

    assert model.transform([[1.5], [math.nextafter(1.5, 2)]]).tolist() == [[0], [1]]


@every_kind
def test_a_frame_stays_a_frame_and_other_columns_stay_as_they_are(kind):
    frame, y = mixed_frame()

    coded = kind().fit(frame, y).transform(frame)

    assert list(coded.columns) == list(frame.columns)
    assert coded.index.equals(frame.index)
    pd.testing.assert_frame_equal(coded[["flag", "text", "category"]], frame[["flag", "text", "category"]])
    assert coded["whole"].dtype == np.int64
    assert coded["real"].dtype == coded["nullable"].dtype == np.float64
    assert coded["real"].isna().tolist() == frame["real"].isna().tolist()


@every_kind
def test_arrays_of_objects_and_frames_give_the_same_codes(kind):
    frame, y = mixed_frame()
    names = ["whole", "real", "nullable", "text"]
    as_objects = frame[names].astype(object).to_numpy()

    coded = kind().fit(as_objects, y).transform(as_objects)

    assert coded.dtype == object
    expected = kind().fit(frame[names], y).transform(frame[names])
    np.testing.assert_array_equal(coded[:, :3].astype(float), expected[names[:3]].to_numpy(dtype=float))
    assert coded[:, 3].tolist() == frame["text"].tolist()


def test_an_array_of_truth_values_in_objects_is_not_numeric():
    table = np.array([[True, 1, None], [False, 2, None]], dtype=object)

    assert list(MedianDiscretizer().fit(table).cut_points_) == [1]


@pytest.mark.parametrize(
    ("table", "settings", "dtype"),
    [
        (np.array([[1, 5], [2, 6]]), {}, np.int64),
        (np.array([[1.0, 5.0], [2.0, 6.0]]), {}, np.int64),
        (np.array([[1.0, 5.0], [math.nan, 6.0]]), {}, np.float64),
        (np.array([[1.5, 5.0], [2.0, 6.0]]), {"columns": [1]}, np.float64),
        (np.array([[1, 5], [2, 6]]), {"columns": [1]}, np.int64),
        (np.array([[1, 5], [2, 6]]), {"columns": []}, object),
        (np.array([["a", "b"]]), {}, object),
    ],
)
def test_codes_are_whole_numbers_unless_nan_or_another_column_forbids(table, settings, dtype):
    assert MedianDiscretizer(**settings).fit_transform(table).dtype == dtype


@every_kind
def test_only_the_listed_columns_are_cut(kind):
    frame, y = mixed_frame()

    by_name = kind(columns=["real", "flag"]).fit(frame, y)
    by_position = kind(columns=[1, 3]).fit(frame, y)

    assert list(by_name.cut_points_) == list(by_position.cut_points_) == ["real", "flag"]
    assert by_name.transform(frame)["whole"].tolist() == frame["whole"].tolist()


def test_columns_of_few_values_can_be_kept():
    table = np.array([[0, 1], [1, 2], [0, 3], [1, 4]])

    model = MedianDiscretizer(keep_at_most=2).fit(table)

    assert list(model.cut_points_) == [1]
    assert model.transform(table).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]


@every_kind
def test_a_constant_column_is_one_bin_and_is_reported(kind):
    table = np.array([[1.0, 4.0, math.nan], [2.0, 4.0, math.nan], [3.0, 4.0, math.nan]] * 20)

    model = kind().fit(table, [0, 0, 1] * 20)

    assert model.one_bin_columns_ == (1, 2)
    assert model.intervals(1) == ["(-inf, inf)"]
    assert set(model.transform(table)[:, 1]) == {0}


def test_intervals_are_readable():
    x, y = load_iris(return_X_y=True, as_frame=True)

    model = MDLPDiscretizer().fit(x, y)

    assert model.intervals("petal width (cm)") == ["(-inf, 0.8]", "(0.8, 1.75]", "(1.75, inf)"]


def test_intervals_of_close_cut_points_have_different_labels():
    model = MDLPDiscretizer().fit([[1.0], [1.0 + 1e-12], [1.0 + 2e-12]] * 30, [0, 1, 2] * 30)

    assert len(set(model.intervals(0))) == 3


@every_kind
def test_pickles_and_clones_work(kind):
    frame, y = mixed_frame()
    model = kind(columns=["real"], keep_at_most=1).fit(frame, y)

    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).transform(frame), model.transform(frame))
    assert clone(model).get_params() == model.get_params()


def test_arrays_come_out_as_frames_on_request():
    x, y = load_iris(return_X_y=True)

    coded = MDLPDiscretizer().set_output(transform="pandas").fit(x, y).transform(x)

    assert list(coded.columns) == ["x0", "x1", "x2", "x3"]
    assert (coded.dtypes == np.int64).all()


def test_names_pass_through_a_column_transformer():
    frame, y = mixed_frame()
    both = ColumnTransformer([("bins", MDLPDiscretizer(), ["whole", "real"]), ("rest", "passthrough", ["text"])])

    both.fit(frame, y)

    assert both.get_feature_names_out().tolist() == ["bins__whole", "bins__real", "rest__text"]
    assert both.transform(frame)[0].tolist() == [0.0, 0.0, "a"]


def test_in_a_pipeline_the_cuts_come_from_the_training_rows_alone():
    x, y = load_iris(return_X_y=True)
    folds = KFold(5, shuffle=True, random_state=0)

    scores = cross_val_score(make_pipeline(MDLPDiscretizer(), CategoricalNB(min_categories=9)), x, y, cv=folds)

    by_hand = []
    for train, test in folds.split(x):
        bins = MDLPDiscretizer().fit(x[train], y[train])
        model = CategoricalNB(min_categories=9).fit(bins.transform(x[train]), y[train])
        by_hand.append(model.score(bins.transform(x[test]), y[test]))
    assert scores.tolist() == by_hand
    assert min(scores) > 0.8


@pytest.mark.parametrize("settings", [{"columns": "all"}, {"columns": ["height"]}, {"columns": [9]}])
def test_columns_that_do_not_exist_are_refused(settings):
    frame, _ = mixed_frame()

    with pytest.raises(ParameterError, match="'columns' parameter of MedianDiscretizer must"):
        MedianDiscretizer(**settings).fit(frame)


@pytest.mark.parametrize("keep_at_most", [-1, 1.5, "few"])
def test_keep_at_most_is_a_whole_number(keep_at_most):
    with pytest.raises(ParameterError, match="'keep_at_most' parameter of MedianDiscretizer must be a whole number"):
        MedianDiscretizer(keep_at_most=keep_at_most).fit([[1.0]])


def test_text_among_the_numbers_is_refused():
    frame, _ = mixed_frame()

    with pytest.raises(DataError, match=r"column 'text' must contain numbers to be discretised\. Got 'a' instead"):
        MedianDiscretizer(columns=["text"]).fit(frame)


def test_a_column_that_was_not_discretised_has_no_intervals():
    frame, _ = mixed_frame()

    with pytest.raises(ParameterError, match=r"'text' is not a discretised column; these are 'whole', 'real'"):
        MedianDiscretizer().fit(frame).intervals("text")


def test_frames_without_rows_or_with_equal_names_are_refused():
    frame, _ = mixed_frame()

    with pytest.raises(DataError, match=r"at least one row and one column\. Got \(0, 6\)"):
        MedianDiscretizer().fit(frame.iloc[:0])
    with pytest.raises(DataError, match="different names"):
        MedianDiscretizer().fit(frame.set_axis(["a", "a", "b", "c", "d", "e"], axis=1))
