"""Tables in chunks: any chunk size, any memory and either kind of file give the same data set."""

import csv
import time

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data import codestore, csvblocks
from scorecache.data.codestore import CodeStore, merged
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv, read_parquet, read_table
from scorecache.errors import DataError, ParameterError
from scorecache.formats import write_cache
from scorecache.scoring.build import build_cache
from tests.scorecache.literal import refusal
from tests.scorecache.scoring.test_build import table
from tests.strategies import examples


def same(left, right):
    return (
        left.names == right.names
        and left.states == right.states
        and np.array_equal(left.codes, right.codes)
        and (left.weights is None) == (right.weights is None)
        and (left.weights is None or np.array_equal(left.weights, right.weights))
        and left.sha256 == right.sha256
    )


def write_both(folder, columns):
    """The same table as CSV, None an empty field, and as Parquet."""
    with open(folder / "table.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(
            [["" if value is None else value for value in row] for row in zip(*columns.values(), strict=True)]
        )
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "table.parquet")
    return folder / "table.csv", folder / "table.parquet"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@examples(30)
@given(
    data=st.data(),
    chunk=st.integers(1, 50),
    memory=st.sampled_from([None, 0, 100]),
    missing=st.sampled_from(["error", "drop", "category"]),
)
def test_chunks_memory_and_kind_of_file_change_nothing(folder, data, chunk, memory, missing):
    n_rows = data.draw(st.integers(1, 40))
    values = st.integers(-3, 12) if missing == "error" else st.none() | st.integers(-3, 12)
    texts = st.sampled_from(["a", "b", "a b", "Ω", "1e3"])
    columns = {
        "number": data.draw(st.lists(values, min_size=n_rows, max_size=n_rows)),
        "text": data.draw(st.lists(texts, min_size=n_rows, max_size=n_rows)),
        "flag": data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)),
        "w": [1, *data.draw(st.lists(st.integers(0, 3), min_size=n_rows - 1, max_size=n_rows - 1))],
    }
    if missing == "drop":
        columns["number"][0] = 1
    columns["number"] = pyarrow.array(columns["number"], pyarrow.int64()).to_pylist()
    table, parquet = write_both(folder, {**columns, "number": columns["number"]})
    options = {"missing": missing, "weights": data.draw(st.sampled_from([None, "w"]))}
    expected = read_csv(table, separator=",", **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvblocks, "BLOCK_BYTES", chunk)
        patch.setattr(codestore, "merged", lambda whole: whole)
        assert same(read_csv(table, separator=",", codes_memory=memory, **options), expected)
        assert same(read_parquet(parquet, batch_rows=chunk, codes_memory=memory, **options), expected)


@pytest.mark.parametrize("memory", [None, 0])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_score_files_are_the_same_bytes(ending, memory, tmp_path):
    dataset = table(6, 300)
    write_both(tmp_path, dict(zip(dataset.names, dataset.codes.tolist(), strict=True)))
    whole = read_csv(tmp_path / "table.csv")
    other = read_table(tmp_path / f"table.{ending}", codes_memory=memory)

    files = []
    for name, data in (("a", whole), ("b", other)):
        for format_name in ("jkl", "pss"):
            target = tmp_path / f"{name}.{format_name}"
            write_cache(build_cache(data, "bdeu", max_parents=2), target)
            files.append(target.read_bytes())

    assert files[:2] == files[2:]
    assert (other.n_rows < whole.n_rows) == (memory == 0)  # what does not fit is merged


def test_codes_beyond_their_memory_are_mapped_from_a_file():
    store = CodeStore(100)
    chunks = [np.array([[0, 1, 2], [0, 300, 2]], np.uint16), np.array([[3] * 200, [4] * 200], np.uint16)]
    for chunk in chunks:
        store.add(list(chunk))

    columns = store.columns()

    assert np.array_equal(columns, np.hstack(chunks))
    base = columns[0]
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    assert type(base).__name__ == "mmap"


def test_small_codes_take_a_byte_each():
    store = CodeStore(None)
    store.add([np.array([0, 255], np.uint16)])

    assert [column.dtype for column in store.columns()] == [np.uint8]


def test_merging_keeps_order_weights_and_name(monkeypatch):
    monkeypatch.setattr(codestore, "BLOCK_ROWS", 4)
    codes = [[1, 1, 0, 1, 0, 1, 0], [1, 1, 2, 1, 2, 1, 2]]
    whole = Dataset.from_codes(codes, [2, 3], weights=[1, 2, 3, 4, 5, 6, 7])

    smaller = merged(whole)

    assert smaller.codes.tolist() == [[1, 0], [1, 2]]
    assert smaller.weights.tolist() == [13, 15]
    assert smaller.sha256 == whole.sha256
    assert build_cache(smaller, "bic").equals(build_cache(whole, "bic"))


def test_rows_that_hardly_repeat_are_not_merged():
    whole = Dataset.from_codes([[0, 1, 2, 0], [0, 0, 0, 0]])

    assert merged(whole) is whole


def test_parquet_categories_and_missing_texts_are_read_as_csv_is(tmp_path):
    values = pyarrow.array(["b", None, "a", "NA"]).dictionary_encode()
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": values, "y": [1.0, float("nan"), 2.5, 1.0]}), path)

    data = read_parquet(path, missing="category")

    assert data.states == (("a", "b", "missing"), ("1.0", "2.5", "missing"))
    assert data.codes.tolist() == [[1, 2, 0, 2], [0, 2, 1, 0]]


def test_a_value_that_was_not_declared_names_its_row(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1, 2, 1, 3], "y": [0, 0, 1, 1]}), path)

    with refusal(
        DataError,
        f"{path}: row 3: column 'x': the value '3' is not among its declared states '1', '2'; correct or declare it",
    ):
        read_parquet(path, states={"x": [1, 2]}, batch_rows=2)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1]}, "1 columns; a network needs at least two variables"),
        ({"x": [[1]], "y": [1]}, "column 'x' is list<element: int64>; expected a column of numbers or texts"),
        ({"x": pyarrow.array([], "int8"), "y": pyarrow.array([], "int8")}, "expected rows of values, got none"),
        ({"x": [1, None], "y": [1, 1]}, "missing values: 1 in 'x'; drop their rows (missing='drop') or "
         "make them a state of their own (missing='category')"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_used_are_refused(columns, message, tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)

    with refusal(DataError, f"{path}: {message}"):
        read_table(path)


def test_a_file_that_is_not_parquet_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("a,b\n1,2\n")

    with pytest.raises(DataError, match=r"t\.parquet: not a Parquet file, or a damaged one"):
        read_table(path)


def equal_values(n_rows):
    return {name: pyarrow.array(np.zeros(n_rows, np.int8)) for name in ("x", "y")}


def long_text(n_rows):
    text = pyarrow.array(["x" * 1_000_000])
    return {"x": pyarrow.DictionaryArray.from_arrays(np.zeros(n_rows, np.int32), text), "y": [0] * n_rows}


def texts_without_dictionary(n_rows):
    return {"x": ["x" * 1000] * n_rows, "y": [0] * n_rows}


@pytest.mark.parametrize(
    ("columns", "n_rows", "options"),
    [
        (equal_values, 20_000_000, {}),
        (long_text, 5_000_000, {"store_schema": False}),
        (texts_without_dictionary, 100_000, {"use_dictionary": False, "compression": "zstd"}),
    ],
)
def test_a_small_file_of_very_many_values_is_refused(columns, n_rows, options, tmp_path):
    """At the real limits; nothing is decoded far beyond them."""
    path = tmp_path / "bomb.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns(n_rows)), path, write_statistics=False, **options)
    assert path.stat().st_size < 300_000
    before, begun = pyarrow.default_memory_pool().max_memory(), time.process_time()

    with pytest.raises(DataError, match=r"bomb\.parquet: the file of .* bytes holds more than .* convert it to CSV"):
        read_table(path)

    assert time.process_time() - begun < 4
    assert pyarrow.default_memory_pool().max_memory() < max(before, 2**28)


def test_a_name_that_begins_another_is_chosen_alone(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [0, 1], "x.y": [1, 1], "z": [1, 0]}), path)

    assert read_table(path, ignore=["x.y"]).names == ("x", "z")


def test_a_text_that_is_not_utf8_names_its_column(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"x": ["good", "evil"], "y": [0, 1]}
    options = {"compression": "none", "write_statistics": False}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)
    path.write_bytes(path.read_bytes().replace(b"evil", b"ev\xffl"))

    with pytest.raises(DataError, match=r"t\.parquet: .*utf-?8|t\.parquet: .*UTF-?8"):
        read_table(path)


def test_a_message_is_one_line(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [0, 1], "y": [1, 1]}), path)
    content = bytearray(path.read_bytes())
    content[-8:-4] = b"\x05\0\0\0"  # a footer that is none
    path.write_bytes(content)

    with pytest.raises(DataError) as caught:
        read_table(path)

    assert len(str(caught.value).splitlines()) == 1


def test_a_weights_column_must_be_there(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1], "y": [1]}), path)

    with refusal(ParameterError, "the weights 'w' are not a column; columns are 'x', 'y'"):
        read_table(path, weights="w")


def test_csv_options_do_not_go_with_parquet(tmp_path):
    path = tmp_path / "t.pq"

    with refusal(
        ParameterError,
        f"{path}: separator=, header=, encoding= and decimal= go with a CSV file, not with Parquet",
    ):
        read_table(path, separator=",")


@pytest.mark.parametrize("chunk", [1, 100])
def test_texts_of_a_column_are_kept_beside_what_is_read(folder, chunk, monkeypatch):
    monkeypatch.setattr(csvblocks, "BLOCK_BYTES", chunk)
    columns = {"id": ["07", "7", "x y"], "a": ["0", "1", None], "b": ["u", "v", "u"]}
    for path in write_both(folder, columns):
        kept = {"id": [], "a": []}

        found = read_table(path, kept=kept, only={"a", "b"}, missing="category")

        assert kept == {"id": ["07", "7", "x y"], "a": ["0", "1", ""]}
        assert same(found, read_table(path, ignore=["id"], missing="category"))


def test_only_columns_that_exist_are_kept(folder):
    for path in write_both(folder, {"a": ["0", "1"], "b": ["u", "v"]}):
        with pytest.raises(ParameterError, match="'id' cannot be kept, the columns are 'a', 'b'"):
            read_table(path, kept={"id": []})
