"""Columns of Python values become codes, or are refused with one sentence that says where and what to do."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError

WAYS_OUT = "drop their rows (missing='drop') or make them a state of their own (missing='category')"
CATEGORIES = "or declare the states (states={...}), or take every value as a category (max_states=N, at most 65536)"
DISCRETISE = "discretise them first (discretize='METHOD', or exactbnc.MDLPDiscretizer)"
WEIGHT = "a row weight must be a number from 0 to 2**53 - 1."

VALUES = {
    "integers": st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    "floats": st.sampled_from([0.5, 1e300, float("inf")]) | st.floats(allow_nan=False).map(lambda x: x + 0.0),
    "texts": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
    "booleans": st.booleans(),
}


def refusal(message, error=DataError):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def decoded(dataset):
    """The rows of a data set as tuples of states."""
    columns = [[states[code] for code in codes] for states, codes in zip(dataset.states, dataset.codes, strict=True)]
    return list(zip(*columns, strict=True))


def same(first, second):
    return first.sha256 == second.sha256


@st.composite
def columns(draw, values, max_rows=6):
    """One to three columns of equal length."""
    n_rows = draw(st.integers(1, max_rows))
    column = st.lists(values, min_size=n_rows, max_size=n_rows)
    return draw(st.lists(column, min_size=1, max_size=3))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@settings(max_examples=50)
@given(data=st.data())
def test_codes_stand_for_the_values_and_states_are_sorted(values, data):
    table = data.draw(columns(values))

    dataset = Dataset.from_columns(table)

    assert decoded(dataset) == list(zip(*table, strict=True))
    assert dataset.states == tuple(tuple(sorted(set(column))) for column in table)
    assert dataset.names == tuple(str(position) for position in range(len(table)))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@settings(max_examples=50)
@given(data=st.data())
def test_arrays_and_lists_are_encoded_alike(values, data):
    table = data.draw(columns(values))
    arrays = [np.array(column) for column in table]
    table = [array.tolist() for array in arrays]  # an array of texts drops zeros at their end

    assert same(Dataset.from_columns(arrays), Dataset.from_columns(table))
    assert same(Dataset.from_columns([array.astype(object) for array in arrays]), Dataset.from_columns(table))
    assert same(Dataset.from_columns([list(array) for array in arrays]), Dataset.from_columns(table))


@given(columns(st.sampled_from([None, 1, 2, 3])), st.data())
def test_dropping_rows_equals_never_having_had_them(table, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(table[0]), max_size=len(table[0])))
    complete = [None not in row for row in zip(*table, strict=True)]
    rest = [[value for value, kept in zip(column, complete, strict=True) if kept] for column in table]
    weights_of_rest = [weight for weight, kept in zip(weights, complete, strict=True) if kept]
    if not any(complete):
        with pytest.raises(DataError, match=r"^every row has a missing value"):
            Dataset.from_columns(table, weights=weights, missing="drop")
        return

    dataset = Dataset.from_columns(table, weights=weights, missing="drop")

    assert same(dataset, Dataset.from_columns(rest, weights=weights_of_rest))


@given(columns(st.sampled_from(["a", "b", "c"])), st.data())
def test_rows_of_weight_zero_only_declare_states(table, data):
    weights = data.draw(st.lists(st.integers(0, 2), min_size=len(table[0]), max_size=len(table[0])).filter(any))

    dataset = Dataset.from_columns(table, weights=weights)

    counted = [(row, weight) for row, weight in zip(zip(*table, strict=True), weights, strict=True) if weight > 0]
    assert list(zip(decoded(dataset), dataset.weights.tolist(), strict=True)) == counted
    assert dataset.states == tuple(tuple(sorted(set(column))) for column in table)
    assert dataset.total_weight == sum(weights)


def test_a_data_set_knows_its_shape():
    dataset = Dataset.from_columns({"x": [3, 1, 1], "y": ["a", "b", "a"]}, states={"y": ["b", "a", "c"]})

    assert (dataset.n_vars, dataset.n_rows, dataset.total_weight) == (2, 3, 3)
    assert dataset.arities.tolist() == [2, 3]
    assert dataset.index == {"x": 0, "y": 1}
    assert dataset.column("y").tolist() == [1, 0, 1]
    assert dataset.codes.dtype == np.uint16
    assert dataset.codes.flags.c_contiguous


def test_arrays_are_read_only():
    dataset = Dataset.from_columns([[0, 1]], weights=[1, 2])

    for array in (dataset.codes, dataset.weights, dataset.column("0")):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_an_unknown_column_is_named():
    with refusal("'z' is not a column; columns are 'x', 'y'", ParameterError):
        Dataset.from_columns({"x": [0], "y": [0]}).column("z")


def test_a_constant_column_has_one_state():
    assert Dataset.from_columns([[7, 7, 7]]).states == ((7,),)


@pytest.mark.parametrize(
    ("values", "states"),
    [
        ([10, 9, 2.5, Fraction(1, 3)], (Fraction(1, 3), 2.5, 9, 10)),
        (["10", "9", "2"], ("10", "2", "9")),
        (["b", 1, "a", 0], ("b", 1, "a", 0)),
        ([(1, "b"), (1, "a")], ((1, "a"), (1, "b"))),
        (
            [datetime.date(2024, 2, 1), datetime.date(2024, 1, 1)],
            (datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)),
        ),
        ([2j, 1j], (2j, 1j)),
        ([True, False], (False, True)),
        (np.array(["b", "a"], dtype=np.bytes_), (b"a", b"b")),
        (range(2, 0, -1), (1, 2)),
    ],
)
def test_states_are_sorted_where_they_have_an_order(values, states):
    assert Dataset.from_columns([values]).states == (states,)


def test_declared_states_keep_their_order_and_those_never_seen():
    dataset = Dataset.from_columns({"x": np.array([1, 0, 1])}, states={"x": [2, 1, 0]})

    assert dataset.states == ((2, 1, 0),)
    assert dataset.codes.tolist() == [[1, 2, 1]]


@pytest.mark.parametrize("values", [["a", "b", "z"], np.array(["a", "b", "z"]), pd.Series(["a", "b", "z"])])
def test_a_value_that_is_not_declared_is_named_with_its_row(values):
    with refusal("row 2: column 'x': the value 'z' is not among its declared states 'a', 'b'; correct or declare it"):
        Dataset.from_columns({"x": values}, states={"x": ["a", "b"]})


@pytest.mark.parametrize(
    ("states", "error", "message"),
    [
        ({"y": [0]}, ParameterError, "states are declared for 'y', but the columns are 'x'"),
        ({"x": []}, DataError, "column 'x' must have from 1 to 65536 states. Got 0 instead."),
        ({"x": range(65537)}, DataError, "column 'x' must have from 1 to 65536 states. Got 65537 instead."),
        ({"x": [0, 1, 0]}, DataError, "column 'x' has the state 0 twice"),
        ({"x": [0, None]}, DataError, "column 'x': a missing value cannot be a state"),
    ],
)
def test_faulty_declarations_are_refused(states, error, message):
    with refusal(message, error):
        Dataset.from_columns({"x": [0, 0]}, states=states)


NOT_A_TIME = [pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT", "s")]
MISSING = [None, float("nan"), np.nan, np.float32("nan"), pd.NA, *NOT_A_TIME]


@pytest.mark.parametrize("value", MISSING, ids=map(repr, MISSING))
def test_missing_values_are_recognised(value):
    with refusal(f"missing values: 1 in 'x'; {WAYS_OUT}"):
        Dataset.from_columns({"x": [1, value]})


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.0, np.nan, np.nan]),
        np.array(["2024-01-01", "NaT", "NaT"], dtype="datetime64[D]"),
        np.ma.array([1, 2, 3], mask=[False, True, True]),
        np.array(["a", None, np.nan], dtype=object),
        pd.array([1, pd.NA, pd.NA], dtype="Int64"),
        pd.Series(["a", None, None]),
        pd.Series(["a", None, None], dtype="category"),
        pd.Categorical(["a", None, None]),
    ],
    ids=lambda array: f"{type(array).__name__}-{array.dtype}",
)
def test_missing_values_of_arrays_are_recognised(array):
    with refusal(f"missing values: 2 in 'x'; {WAYS_OUT}"):
        Dataset.from_columns({"x": array})

    assert Dataset.from_columns({"x": array}, missing="drop").n_rows == 1


def test_missing_values_are_counted_by_column():
    table = {"age": [None, None, 1, None], "city": [1, 2, 3, 4], "sex": ["f", "m", None, "f"]}

    with refusal(f"missing values: 3 in 'age', 1 in 'sex'; {WAYS_OUT}"):
        Dataset.from_columns(table)


def test_missing_values_can_be_a_state_that_comes_last():
    dataset = Dataset.from_columns(
        {"x": ["z", None, "a"], "y": [0, 1, 1], "w": [None, 1, 1]}, states={"w": [2, 1]}, missing="category"
    )

    assert dataset.states == (("a", "z", "missing"), (0, 1), (2, 1, "missing"))
    assert dataset.codes.tolist() == [[1, 2, 0], [0, 1, 1], [2, 1, 1]]


def test_missing_values_meet_a_state_of_that_name_only_if_it_is_declared():
    table = {"x": ["missing", None, "a"]}

    with refusal(
        "column 'x' has missing values and also the value 'missing'; "
        "declare its states (states={...}) if the two are to be one"
    ):
        Dataset.from_columns(table, missing="category")

    dataset = Dataset.from_columns(table, states={"x": ["missing", "a"]}, missing="category")
    assert dataset.codes.tolist() == [[0, 0, 1]]


def test_dropping_every_row_is_refused():
    with refusal(
        "every row has a missing value, so dropping them leaves none; leave columns out "
        "or make them a state of their own (missing='category')"
    ):
        Dataset.from_columns([[None, 1], [1, None]], missing="drop")


def test_numbers_of_many_values_are_refused_together():
    table = {
        "age": np.arange(200) / 2,
        "few": np.arange(200) % 100,
        "fare": [float(value % 101) for value in range(200)],
    }

    with refusal(
        "numbers with more than 100 distinct values look continuous: 'age' (200), 'fare' (101); "
        f"{DISCRETISE}, {CATEGORIES}"
    ):
        Dataset.from_columns(table)

    assert Dataset.from_columns(table, max_states=200).arities.tolist() == [200, 100, 101]
    states = {"age": table["age"].tolist(), "fare": range(101)}
    assert Dataset.from_columns(table, states=states).arities.tolist() == [200, 100, 101]


def test_text_of_many_values_is_refused():
    names = [f"person {number}" for number in range(1001)]
    identifier = (
        "text with more than 1000 distinct values looks like an identifier: 'id' (1001); leave it out (ignore=[...])"
    )

    with refusal(f"{identifier}, {CATEGORIES}"):
        Dataset.from_columns({"id": names})
    with refusal(
        "numbers with more than 100 distinct values look continuous: 'x' (1001); "
        f"{DISCRETISE}; {identifier}, {CATEGORIES}"
    ):
        Dataset.from_columns({"id": names, "x": range(1001)})

    assert Dataset.from_columns({"id": names[:1000]}).arities.tolist() == [1000]


def test_max_states_replaces_both_limits():
    with refusal(
        f"numbers with more than 2 distinct values look continuous: 'x' (3); {DISCRETISE}; "
        "text with more than 2 distinct values looks like an identifier: 'y' (4); leave it out (ignore=[...]), "
        f"{CATEGORIES}"
    ):
        Dataset.from_columns({"x": [1, 2, 3, 3], "y": ["a", "b", "c", "d"]}, max_states=2)


@pytest.mark.parametrize("as_array", [True, False])
def test_no_column_has_more_states_than_there_are_codes(as_array):
    values = np.arange(65537) if as_array else list(range(65537))

    with refusal(
        "numbers with more than 65536 distinct values look continuous: 'x' (more than 65536); "
        f"{DISCRETISE}, or declare the states (states={{...}})"
    ):
        Dataset.from_columns({"x": values}, max_states=65536)
    with pytest.raises(DataError, match="'x' \\(more than 65536\\)"):
        Dataset.from_columns({"x": values}, states={"x": range(65536)})

    largest = Dataset.from_columns({"x": values[:65536]}, max_states=65536)
    assert largest.codes.tolist() == [list(range(65536))]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, -1], f"row 2: {WEIGHT} Got -1 instead."),
        ([np.nan, 2, 1], f"row 0: {WEIGHT} Got nan instead."),
        ([2, np.inf, 1], f"row 1: {WEIGHT} Got inf instead."),
        ([2, 10**30, 1], f"row 1: {WEIGHT} Got {10**30} instead."),
        ([1, 2], "3 rows need as many weights. Got an array of shape (2,) instead."),
        (["a", 1, 1], "row weights must be numbers. Got an array of <U21 instead."),
        ([0, 0, 0], "a data set needs at least one row (of weight above 0)"),
        ([2**53 - 1, 1, 0], f"the row weights must add up to a number from 1 to 2**53 - 1. Got {2**53} instead."),
    ],
)
def test_faulty_weights_are_refused(weights, message):
    with refusal(message):
        Dataset.from_columns({"x": ["a", "b", "b"]}, weights=weights)
    with refusal(message):
        Dataset.from_codes([[0, 1, 1]], weights=weights)


def test_whole_weights_may_be_floats():
    assert Dataset.from_columns([[1, 2]], weights=[2.0, 3.0]).weights.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"columns": {}}, DataError, "a data set needs at least one column"),
        ({"columns": {"x": []}}, DataError, "a data set needs at least one row (of weight above 0)"),
        (
            {"columns": {"x": [1, 2], "y": [1]}},
            DataError,
            "the columns must have the same number of rows. Got 2 in 'x', 1 in 'y' instead.",
        ),
        ({"columns": [[1], [2]], "names": ["x"]}, ParameterError, "2 columns need as many names. Got 1 instead."),
        (
            {"columns": [[1], [2]], "names": ["x", "x"]},
            DataError,
            "column names must be different from each other; found twice: 'x'",
        ),
        ({"columns": {"": [1]}}, DataError, "column names must be texts that are not empty. Got '' instead."),
        (
            {"columns": {"x": [1]}, "names": ["y"]},
            ParameterError,
            "names go with a sequence of columns; a mapping brings its own",
        ),
        ({"columns": ["abc"]}, DataError, "column '0' must be a sequence of values. Got 'abc' instead."),
        (
            {"columns": {"x": [[1], [2]]}},
            DataError,
            "column 'x' must be a sequence of hashable values: unhashable type: 'list'",
        ),
        (
            {"columns": {"x": np.zeros((2, 2))}},
            DataError,
            "column 'x' must be a sequence of hashable values: unhashable type: 'list'",
        ),
        (
            {"columns": [[1]], "missing": "ignore"},
            ParameterError,
            "missing must be one of error, drop, category. Got 'ignore' instead.",
        ),
        ({"columns": [[1]], "max_states": 0}, ParameterError, "max_states must be from 1 to 65536. Got 0 instead."),
    ],
)
def test_faulty_arguments_are_refused(arguments, error, message):
    with refusal(message, error):
        Dataset.from_columns(**arguments)


def test_a_frame_is_encoded_like_its_columns():
    frame = pd.DataFrame({"x": [2, 1, 2], 7: ["b", "a", "b"], "z": [True, False, True]})

    expected = Dataset.from_columns({"x": [2, 1, 2], "7": ["b", "a", "b"], "z": [True, False, True]})

    assert same(Dataset.from_pandas(frame), expected)


def test_categories_are_declared_states():
    values = pd.Categorical(["low", "high", "low"], categories=["low", "middle", "high"])
    frame = pd.DataFrame({"x": values, "y": pd.Categorical([None, "b", "a"], categories=["c", "b", "a"])})

    dataset = Dataset.from_pandas(frame, missing="category")

    assert dataset.states == (("low", "middle", "high"), ("c", "b", "a", "missing"))
    assert dataset.codes.tolist() == [[0, 2, 0], [3, 1, 2]]
    assert Dataset.from_pandas(frame, missing="drop").codes.tolist() == [[2, 0], [1, 2]]


def test_declared_states_take_the_place_of_categories():
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["a", "b", "never seen"])})

    assert Dataset.from_pandas(frame, states={"x": ["b", "a"]}).codes.tolist() == [[0, 1]]


def test_bins_of_pandas_cut_are_states_in_their_order():
    frame = pd.DataFrame({"x": pd.cut(np.arange(300.0), [-1, 100, 200, 250, 300])})

    assert Dataset.from_pandas(frame).state_labels == (("(-1, 100]", "(100, 200]", "(200, 250]", "(250, 300]"),)


def test_weights_of_a_frame_are_a_column_or_an_array():
    frame = pd.DataFrame({"x": ["a", "b", "c"], "n": [2, 0, 1]})

    by_name = Dataset.from_pandas(frame, weights="n")

    assert by_name.names == ("x",)
    assert by_name.states == (("a", "b", "c"),)
    assert by_name.weights.tolist() == [2, 1]
    assert same(by_name, Dataset.from_pandas(frame[["x"]], weights=frame["n"]))


def test_a_frame_with_a_name_twice_is_refused():
    with refusal("column names must be different from each other; found twice: 'x'"):
        Dataset.from_pandas(pd.DataFrame([[1, 2]], columns=["x", "x"]))


def test_codes_are_taken_as_they_are():
    dataset = Dataset.from_codes([[0, 2, 1], [0, 0, 1]], [3, 4], names=["x", "y"], weights=[1, 0, 2])

    assert dataset.names == ("x", "y")
    assert dataset.states == ((0, 1, 2), (0, 1, 2, 3))
    assert dataset.codes.tolist() == [[0, 1], [0, 1]]
    assert dataset.weights.tolist() == [1, 2]
    assert Dataset.from_codes([[0, 2, 1], [0, 0, 0]]).arities.tolist() == [3, 1]


def test_codes_are_copied():
    codes = np.zeros((2, 3), dtype=np.uint16)

    Dataset.from_codes(codes)

    codes[0, 0] = 1


@pytest.mark.parametrize(
    ("codes", "arities", "message"),
    [
        ([[0.5, 1]], None, "codes must be whole numbers, variables x rows. Got float64 (1, 2) instead."),
        ([0, 1], None, "codes must be whole numbers, variables x rows. Got int64 (2,) instead."),
        ([[0, -1]], None, "codes must be from 0 to 65535. Got -1 to 0 instead."),
        ([[0, 65536]], None, "codes must be from 0 to 65535. Got 0 to 65536 instead."),
        ([[0, 1, 2]], [2], "column '0' has the code 2 but only 2 states"),
        ([[0, 1]], [2, 2], "1 names, 2 lists of states, 1 rows of codes do not match"),
    ],
)
def test_faulty_codes_are_refused(codes, arities, message):
    with refusal(message):
        Dataset.from_codes(codes, arities)


CODES = np.zeros((1, 2), dtype=np.uint16)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            (("x",), ((0,),), CODES.astype(np.int64)),
            "codes must be a C-contiguous uint16 array, variables x rows (from_codes makes one). "
            "Got int64 (1, 2) instead.",
        ),
        ((("x",), ((0, 0),), CODES), "column 'x' has the state 0 twice"),
        ((("x",), ((),), CODES), "column 'x' must have from 1 to 65536 states. Got 0 instead."),
        ((("x",), ((0,),), CODES, np.ones(3)), "weights must be 2 int64 or float64 numbers. Got float64 (3,) instead."),
        ((("x",), ((0,),), CODES, np.array([1, -1])), f"{WEIGHT} Got -1 instead."),
        (
            (("x",), ((0,),), CODES, np.array([0, 0])),
            "the row weights must add up to a number from 1 to 2**53 - 1. Got 0 instead.",
        ),
    ],
)
def test_a_data_set_checks_its_own_fields(fields, message):
    with refusal(message):
        Dataset(*fields)


@given(columns(st.sampled_from(["a", "b", "c"])), st.data())
def test_some_rows_are_those_rows_with_all_states_declared(table, data):
    n_rows = len(table[0])
    weights = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows))
    dataset = Dataset.from_columns(table, weights=weights)
    chosen = data.draw(st.lists(st.integers(0, n_rows - 1), min_size=1))

    by_number = dataset.rows(np.array(chosen))

    assert decoded(by_number) == [decoded(dataset)[row] for row in chosen]
    assert (by_number.names, by_number.states) == (dataset.names, dataset.states)
    if weights is None:
        assert by_number.weights is None
    else:
        assert by_number.weights.tolist() == [weights[row] for row in chosen]
    is_chosen = np.isin(np.arange(n_rows), chosen)
    assert same(dataset.rows(is_chosen), dataset.rows(np.flatnonzero(is_chosen)))


def test_no_rows_are_no_data_set():
    with refusal("a data set needs at least one row (of weight above 0)"):
        Dataset.from_codes([[0, 1]]).rows(np.array([False, False]))


@given(columns(st.sampled_from(["a", "b", "c"])), st.data())
def test_some_columns_are_those_columns_in_the_order_asked_for(table, data):
    weights = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=len(table[0]), max_size=len(table[0])))
    chosen = data.draw(st.lists(st.sampled_from(range(len(table))), min_size=1, unique=True))
    names = [f"x{position}" for position in chosen]
    dataset = Dataset.from_columns(table, names=[f"x{position}" for position in range(len(table))], weights=weights)

    found = dataset.columns(names)

    expected = Dataset.from_columns([table[position] for position in chosen], names=names, weights=weights)
    assert same(found, expected)


def test_columns_that_are_not_there_or_asked_for_twice_are_named():
    dataset = Dataset.from_codes([[0, 1], [1, 0]], names=["x", "y"])

    with refusal("'z' is not a column; columns are 'x', 'y'", ParameterError):
        dataset.columns(["x", "z"])
    with refusal("column names must be different from each other; found twice: 'x'"):
        dataset.columns(["x", "x"])
    with refusal("a data set needs at least one column"):
        dataset.columns([])


def test_the_digest_depends_on_everything_and_on_nothing_else():
    digests = [
        Dataset.from_columns({"x": [0, 1], "y": [1, 1]}).sha256,
        Dataset.from_columns({"x": [0, 1], "z": [1, 1]}).sha256,
        Dataset.from_columns({"x": [1, 0], "y": [1, 1]}).sha256,
        Dataset.from_columns({"x": ["0", "1"], "y": [1, 1]}).sha256,
        Dataset.from_columns({"x": [0, 1], "y": [1, 1]}, states={"y": [1, 2]}).sha256,
        Dataset.from_columns({"x": [0, 1], "y": [1, 1]}, weights=[1, 1]).sha256,
        Dataset.from_columns({"x": [0, 1], "y": [1, 1]}, weights=[1, 2]).sha256,
    ]

    assert len(set(digests)) == len(digests)
    assert digests[0] == Dataset.from_columns({"x": np.array([0, 1]), "y": (1, 1)}).sha256
    assert re.fullmatch("[0-9a-f]{64}", digests[0])


def test_labels_tell_states_apart():
    dataset = Dataset.from_columns([[1, 2, 2], [1, "1", 2], [None, 0.5, 1.0]], missing="category")

    assert dataset.state_labels == (("1", "2"), ("1", "'1'", "2"), ("0.5", "1.0", "missing"))
