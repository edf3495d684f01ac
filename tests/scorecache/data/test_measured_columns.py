"""Columns of measurements: whatever is kept as numbers is what the coded column would have given."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.discretize.tables import discretized, find_cut_points, numbers_of, numeric_columns
from scorecache import Dataset, read_csv, read_table
from scorecache.data import csvblocks
from scorecache.data.encoding import MEASURED
from scorecache.errors import DataError, ParameterError
from scorecache.scoring.build import build_cache

NUMBERS = st.integers(-20, 20).map(lambda n: n / 4).map(lambda x: f"{x:g}") | st.sampled_from(
    ["1.0", "1.00", " 2", "inf"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("measured")


def write(folder, header, rows):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    path = folder / "data.csv"
    path.write_text(text.getvalue())
    return path


def values(data, name):
    """The numbers of a column, NaN where there is none."""
    if name in data.measurements:
        return data.measurements[name]
    return numbers_of(data.states[data.index[name]])[data.column(name)]


@given(st.data())
def test_chunks_and_limits_change_nothing_of_the_numbers(folder, data):
    n_rows = data.draw(st.integers(1, 30))
    fields = st.lists(NUMBERS | st.just("?"), min_size=n_rows, max_size=n_rows)
    columns = {"x": data.draw(fields), "z": data.draw(fields)}
    columns["y"] = data.draw(st.lists(st.sampled_from("ab"), min_size=n_rows, max_size=n_rows))
    columns["w"] = data.draw(st.lists(st.sampled_from("012"), min_size=n_rows, max_size=n_rows))
    path = write(folder, list(columns), zip(*columns.values(), strict=True))
    options = {
        "missing": data.draw(st.sampled_from(["category", "drop"])),
        "weights": data.draw(st.sampled_from([None, "w"])),
    }
    try:
        plain = read_csv(path, max_states=1000, **options)
    except DataError:  # nothing is left
        return

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvblocks, "BLOCK_BYTES", data.draw(st.sampled_from([1, 20, 1000])))
        measured = read_csv(path, max_states=data.draw(st.integers(3, 6)), measured={"x", "z"}, **options)

    assert measured.names == plain.names
    for name in ("x", "z"):
        assert np.array_equal(values(measured, name), values(plain, name), equal_nan=True)
        has_missing = "missing" in plain.states[plain.index[name]]
        assert has_missing == ("missing" in measured.states[measured.index[name]])
    assert np.array_equal(measured.column("y"), plain.column("y"))
    assert (plain.weights is None and measured.weights is None) or np.array_equal(plain.weights, measured.weights)
    assert numeric_columns(measured, "y") == numeric_columns(plain, "y")
    points = find_cut_points(plain, "y", "median")
    assert find_cut_points(measured, "y", "median") == points
    assert discretized(measured, points).sha256 == discretized(plain, points).sha256


def test_a_column_left_with_infinities_alone_is_one_of_numbers(folder):
    """Dropping rows may leave no finite number; the column is then numeric whether it was measured or not."""
    path = write(folder, ["x", "z", "y"], [("?", k, "a") for k in range(5)] + [("0", "inf", "b")])

    plain = read_csv(path, missing="drop")
    measured = read_csv(path, missing="drop", max_states=3, measured={"z"})

    assert numeric_columns(plain, "y") == numeric_columns(measured, "y") == ["x", "z"]


def test_a_column_of_many_numbers_is_kept_as_numbers(tmp_path):
    rows = [(f"{k / 7:.4f}", k % 3, "ab"[k % 2]) for k in range(500)]
    path = write(tmp_path, ["x", "few", "y"], rows)

    data = read_csv(path, measured={"x", "few"})

    assert list(data.measurements) == ["x"]
    assert data.measurements["x"].tolist() == [float(row[0]) for row in rows]
    assert data.states[0] == (MEASURED,)
    assert data.value("x", 7) == 1.0
    assert data.value("few", 7) == "1"


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_missing_values_early_and_late(tmp_path, missing):
    fields = ["?", *map(str, range(150)), "", "7"]
    path = write(tmp_path, ["x", "y"], [(field, "a") for field in fields])

    data = read_csv(path, measured={"x"}, missing=missing)

    numbers = [np.nan, *map(float, range(150)), np.nan, 7.0]
    expected = numbers if missing == "category" else [number for number in numbers if number == number]
    assert np.array_equal(data.measurements["x"], expected, equal_nan=True)
    assert data.states[0] == ((MEASURED, "missing") if missing == "category" else (MEASURED,))
    if missing == "category":
        assert [data.value("x", row) for row in (0, 1, 151)] == ["missing", 0.0, "missing"]


def test_missing_values_are_an_error_unless_something_else_is_asked_for(tmp_path):
    path = write(tmp_path, ["x", "y"], [(str(k), "a") for k in range(150)] + [("?", "b")])

    with pytest.raises(DataError, match="missing values: 1 in 'x'"):
        read_csv(path, measured={"x"})


def test_text_before_many_numbers_makes_a_column_of_text(tmp_path):
    path = write(tmp_path, ["x", "y"], [("low", "a"), *((str(k), "b") for k in range(150))])

    data = read_csv(path, measured={"x"}, max_states=200)

    assert not data.measurements
    assert len(data.states[0]) == 151


def test_text_among_numbers_is_a_state_of_its_own(tmp_path):
    path = write(tmp_path, ["x", "y"], [*((str(k), "b") for k in range(150)), ("low", "a"), ("7.5", "a")])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvblocks, "BLOCK_BYTES", 1)
        data = read_csv(path, measured={"x"})

    assert data.states[0] == (MEASURED, "low")
    assert [data.value("x", row) for row in (149, 150, 151)] == [149.0, "low", 7.5]
    assert numeric_columns(data, "y") == []


def test_measurements_go_with_rows_and_columns(tmp_path):
    path = write(tmp_path, ["x", "z", "y"], [(k / 2, -k, "ab"[k % 2]) for k in range(300)])
    data = read_csv(path, measured={"x", "z"})

    some = data.rows(np.array([5, 3])).columns(["y", "z"])

    assert some.measurements["z"].tolist() == [-5.0, -3.0]
    assert list(some.measurements) == ["z"]
    assert data.sha256 != data.rows(np.arange(299, -1, -1)).sha256
    assert data.sha256 == read_csv(path, measured={"x", "z"}).sha256


def test_nothing_is_counted_before_the_cut(tmp_path):
    path = write(tmp_path, ["x", "y"], [(k / 2, "ab"[k % 2]) for k in range(300)])
    data = read_csv(path, measured={"x"})

    with pytest.raises(DataError, match="'x' must be discretised first"):
        build_cache(data, "bic", max_parents=1)


def test_measurements_are_cut_in_every_part_of_the_data(tmp_path):
    path = write(tmp_path, ["x", "y"], [(k, "ab"[k > 60]) for k in range(120)])
    few = read_csv(path, measured={"x"}).rows(np.arange(50, 70))

    assert find_cut_points(few, "y", "mdlp", keep_at_most=110) == {"x": (60.5,)}


def test_parquet_measures_as_csv_does(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    random = np.random.default_rng(0)
    x = [None if k % 50 == 7 else float(v) for k, v in enumerate(random.normal(size=400).round(3))]
    table = pyarrow.table({"id": [f"i{k}" for k in range(400)], "x": x, "y": ["a", "b"] * 200})
    parquet.write_table(table, tmp_path / "data.parquet")
    path = write(
        tmp_path, table.column_names, ([str("" if v is None else v) for v in row.values()] for row in table.to_pylist())
    )
    options = {"measured": {"x"}, "missing": "category", "ignore": ["id"]}

    expected = read_table(path, **options)
    found = read_table(tmp_path / "data.parquet", **options, batch_rows=64)

    assert expected.names == ("x", "y")
    assert found.sha256 == expected.sha256
    assert np.array_equal(found.measurements["x"], expected.measurements["x"], equal_nan=True)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"ignore": ["b"]}, ("a", "c")),
        ({"ignore": ("a", "b")}, ("c",)),
        ({"only": {"c", "a", "other"}}, ("a", "c")),
        ({"only": {"other"}}, ("a", "b", "c")),
        ({"only": {"a", "b"}, "ignore": ["b"]}, ("a",)),
        ({"only": {"a"}, "weights": "c"}, ("a",)),
    ],
)
def test_columns_are_chosen(tmp_path, options, names):
    path = write(tmp_path, ["a", "b", "c"], [("x", "?", "1"), ("y", "", "2")])

    data = read_csv(path, missing="category", **options)

    assert data.names == names
    assert data.states[0] == (("1", "2") if names == ("c",) else ("x", "y"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore": ["B"]}, "'B' cannot be ignored, the columns are 'a', 'b'"),
        ({"ignore": ["a"], "weights": "a"}, "the weights 'a' cannot be ignored"),
        ({"ignore": ["a", "b"]}, "no column is left; the columns are 'a', 'b'"),
        ({"ignore": ["a"], "weights": "b"}, "no column is left; the columns are 'a', 'b'"),
    ],
)
def test_columns_that_cannot_be_chosen(tmp_path, options, message):
    path = write(tmp_path, ["a", "b"], [("1", "2")])

    with pytest.raises(ParameterError, match=message):
        read_csv(path, **options)


def test_a_column_without_a_name_can_be_left_out(tmp_path):
    """As pandas writes the index of a frame."""
    path = write(tmp_path, ["", "a", "b"], [("0", "x", "y"), ("1", "z", "y")])

    assert read_csv(path, ignore=[""]).names == ("a", "b")
    with pytest.raises(DataError, match="column 1 of 3 has no name; name it, or leave it out"):
        read_csv(path)


def test_the_digest_does_not_depend_on_how_numbers_lie_in_memory():
    numbers = np.arange(6.0).reshape(3, 2)
    spread, packed = numbers[:, 1], numbers[:, 1].copy()
    states, codes = (("a number",),), np.zeros((1, 3), np.uint16)

    found = {Dataset(("x",), states, codes, None, {"x": own}).sha256 for own in (spread, packed)}

    assert len(found) == 1
