"""A CSV file becomes a data set; every file in `faulty_data/` is refused with one sentence that says where and what."""

import csv
import gzip
import io
import lzma
import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data import csvblocks
from scorecache.data.columns import MISSING_VALUES, number_of
from scorecache.data.csvblocks import SEPARATORS
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from scorecache.data.states import load_states
from scorecache.errors import DataError, ParameterError

FAULTY = Path(__file__).parent / "faulty_data"

CONVERT = "is not UTF-8 text; give the encoding of the file (encoding='cp1252')"
PACKED = "the compressed file is damaged or cut short"
ENCLOSE = "enclose whole values and double the quotes inside"
QUOTE = "a quote is never closed or text follows a closed one"
WAYS_OUT = "drop their rows (missing='drop') or make them a state of their own (missing='category')"
EMPTY = "the file is empty; expected a line of column names and rows of values"
WEIGHT = "a row weight must be a number from 0 to 2**53 - 1."

MESSAGES = {
    "cut_short.csv.gz": f": {PACKED} (Compressed file ended before the end-of-stream marker was reached)",
    "cut_short.csv.xz": f": {PACKED} (Compressed file ended before the end-of-stream marker was reached)",
    "empty.csv": f": {EMPTY}",
    "header_only.csv": ":2: expected rows of values after the column names, got none",
    "missing_values.csv": f": missing values: 3 in 'age', 1 in 'sex', 1 in 'city'; {WAYS_OUT}",
    "name_empty.csv": ":1: column 2 of 3 has no name; name it, or leave it out (ignore=[''])",
    "name_twice.csv": ":1: column names must be different from each other; found twice: 'a', 'b'",
    "not_gzip.csv.gz": f": {PACKED} (Not a gzipped file (b'a,'))",
    "nul_byte.csv": ":3: a value holds the character NUL; the file is damaged or is not a table of text",
    "one_column.csv": ":1: one column: found no separator among ';', '\\t', '|', ',', ' '; "
    "a network needs at least two variables; pass the separator (separator='X')",
    "only_blank_lines.csv": f": {EMPTY}",
    "quote_never_closed.csv": f":3: {QUOTE} (unexpected end of data); {ENCLOSE}",
    "quote_never_closed_in_header.csv": f":1: {QUOTE} (unexpected end of data); {ENCLOSE}",
    "row_too_long.csv": ":4: expected 2 fields as in line 1, got 3; quote values that hold the separator ','",
    "row_too_long_separated_by_blanks.csv": ":3: expected 3 fields as in line 1, got 4; "
    "quote values that hold the separator ' '",
    "row_too_short.csv": ":3: expected 3 fields as in line 1, got 2; quote values that hold the separator ','",
    "row_too_short_after_line_break_in_quotes.csv": ":6: expected 2 fields as in line 1, got 1; "
    "quote values that hold the separator ','",
    "text_after_quote.csv": f":4: {QUOTE} (',' expected after '\"'); {ENCLOSE}",
}

FOLDED_MISSING = {text.casefold() for text in MISSING_VALUES}
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from('\n\r",; \t')
FIELDS = (
    st.text(CHARACTERS, max_size=4).map(str.strip).filter(lambda text: text and text.casefold() not in FOLDED_MISSING)
)


def refusal(message, error=DataError):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write a table to `t.csv`, for errors to name, and read it."""
    monkeypatch.chdir(tmp_path)

    def read(content, **options):
        Path("t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_csv("t.csv", **options)

    return read


@st.composite
def rows_of_fields(draw):
    """Rows of two to four texts that need quotes more often than not."""
    width = draw(st.integers(2, 4))
    return draw(st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=1, max_size=6))


def written(rows, separator=",", line_end="\n"):
    file = io.StringIO()
    csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator=line_end).writerows(rows)
    return file.getvalue().encode()


def read_bytes(content, **options):
    """Hypothesis wants no fixture that lives through all its examples."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(content)
        return read_csv(path, **options)


def decoded(dataset):
    columns = [[states[code] for code in codes] for states, codes in zip(dataset.states, dataset.codes, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("name", sorted(path.name for path in FAULTY.iterdir()))
def test_a_faulty_file_is_refused_with_its_line(name, monkeypatch):
    monkeypatch.chdir(FAULTY)

    with refusal(name + MESSAGES[name]):
        read_csv(name)


@given(rows_of_fields(), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r"]))
def test_quoted_values_are_read_as_written(rows, separator, line_end):
    dataset = read_bytes(written(rows, separator, line_end), separator=separator, header=False)

    assert decoded(dataset) == rows
    assert dataset.names == tuple(str(position) for position in range(len(rows[0])))


@given(rows_of_fields(), st.integers(0, 2), st.sampled_from(["\n", "\r\n"]))
def test_a_ragged_row_is_found_on_its_line(rows, n_blank_lines, line_end):
    before = line_end.encode() * n_blank_lines + written(rows, line_end=line_end)
    n_lines = len(re.findall(rb"\r\n|\r|\n", before))

    with pytest.raises(DataError, match=rf"t\.csv:{n_lines + 1}: expected {len(rows[0])} fields"):
        read_bytes(before + b"x" + b",x" * len(rows[0]) + b"\n\n", separator=",", header=False)


@given(rows_of_fields(), st.integers(1, 30))
def test_blocks_do_not_matter(rows, n_bytes):
    content = written(rows)
    expected = read_bytes(content, separator=",", header=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvblocks, "BLOCK_BYTES", n_bytes)
        assert read_bytes(content, separator=",", header=False).sha256 == expected.sha256


WIDE = [f"utf-{bits}{order}" for bits in (16, 32) for order in ("", "-le", "-be")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", *WIDE, "latin-1"])
@pytest.mark.parametrize("n_bytes", [3, 2**20])
def test_the_encoding_is_found(table, monkeypatch, encoding, n_bytes):
    monkeypatch.setattr(csvblocks, "BLOCK_BYTES", max(n_bytes, 8))

    dataset = table("größe,b\n1,grün\n01,blau\n".encode(encoding))

    assert dataset.names == ("größe", "b")
    assert decoded(dataset) == [["1", "grün"], ["01", "blau"]]


def test_latin1_after_a_long_ascii_part_is_found(table, monkeypatch):
    monkeypatch.setattr(csvblocks, "BLOCK_BYTES", 16)

    dataset = table(b"a,b\n" + b"x,y\n" * 40 + b"x,\xe9\n")

    assert dataset.states[1] == ("y", "é")


def test_the_encoding_can_be_given(table):
    content = "a,b\n€,x\n".encode("cp1252")

    assert table(content, encoding="cp1252").states[0] == ("€",)
    with refusal(f"t.csv:2: the byte 0x80 {CONVERT}"):
        table(content)
    with pytest.raises(DataError, match=r"t\.csv:2: the byte 0x80 is not UTF-8 text"):
        table(content, encoding="utf-8")
    with pytest.raises(ParameterError, match="encoding must be one that Python knows"):
        table(content, encoding="no such")
    with pytest.raises(ParameterError, match="encoding must be one that Python knows"):
        table(content, encoding="rot13")


def test_utf8_with_a_damaged_byte_is_not_taken_for_latin1(table, monkeypatch):
    monkeypatch.setattr(csvblocks, "BLOCK_BYTES", 9)

    with pytest.raises(DataError, match=r"t\.csv:3: the byte 0xff is not UTF-8 text"):
        table("a,b\nö,x\n".encode() + b"y,\xff\n")


@pytest.mark.parametrize(("content", "kind"), [(b"PK\x03\x04rest", ".xlsx"), (b"\xd0\xcf\x11\xe0rest", ".xls")])
def test_a_workbook_is_named_for_what_it_is(table, content, kind):
    with pytest.raises(DataError, match=rf"^t\.csv: this is an Excel .*\{kind}.*save the sheet as CSV"):
        table(content)


def test_numbers_may_have_a_decimal_comma(table):
    content = "x;y;n\n1,5;a,b;2,0\n-,25;1,;1\n1e3;,;1\n"

    dataset = table(content, decimal=",", weights="n")

    assert dataset.states == (("-.25", "1.5", "1e3"), (",", "1.", "a,b"))
    assert dataset.weights.tolist() == [2, 1, 1]
    assert table(content).states[0] == ("-,25", "1,5", "1e3")
    with pytest.raises(ParameterError, match="decimal must be"):
        table(content, decimal=";")


def test_plain_quotes_and_odd_ones_are_read_as_the_csv_module_reads_them(table):
    content = 'a,b\n"x",1\n   \ny"z,2\n "q, r",3\n"s""t",4\n, "\n"\nu,""""\n'

    assert decoded(table(content, missing="category")) == [
        ["x", "1"], ['y"z', "2"], ["q, r", "3"], ['s"t', "4"], ["missing", "missing"], ["u", '"'],
    ]  # fmt: skip


def test_a_table_of_texts_equals_the_same_columns_in_python(table):
    dataset = table("x,y\nb,no\na,yes\nb,yes\n")

    assert dataset.sha256 == Dataset.from_columns({"x": ["b", "a", "b"], "y": ["no", "yes", "yes"]}).sha256


@pytest.mark.parametrize("separator", SEPARATORS)
def test_the_separator_is_found(table, separator):
    lines = [["a", '"b c,;|\td"', "e"], ["0", "1", "1"], ["1", "0", "1"]]

    dataset = table("".join(separator.join(line) + "\n" for line in lines))

    assert dataset.names == ("a", "b c,;|\td", "e")
    assert dataset.codes.tolist() == [[0, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("x;y\n1,5;2\n2,5;3\n", ("x", "y")),
        ("1,5;2,5\n3,5;4,5\n", ("1,5", "2,5")),
        ("first name, last name\nAda, King\n", ("first name", "last name")),
        ("  a   b \n 0  1\n", ("a", "b")),
        ("a b\tc d\n0\t1\n", ("a b", "c d")),
    ],
)
def test_the_separator_cuts_every_line_alike(table, content, names):
    assert table(content).names == names


def test_the_separator_is_found_in_a_table_of_many_columns(table):
    """A line taken as one field would be longer than the csv module allows."""
    names = [f"{number:0100}" for number in range(2000)]

    dataset = table("\t".join(names) + "\n" + "\t".join("01" * 1000) + "\n")

    assert dataset.names == tuple(names)


@pytest.mark.parametrize(("separator", "content"), [("\\t", "a b\tc\n0\t1\n"), (":", "a b:c\n0:1\n")])
def test_the_separator_can_be_given(table, separator, content):
    assert table(content, separator=separator).names == ("a b", "c")


@pytest.mark.parametrize("separator", ["", "ab", '"', "\n"])
def test_a_separator_is_one_character(table, separator):
    with refusal(f"separator must be one character other than a quote. Got {separator!r} instead.", ParameterError):
        table("a,b\n0,1\n", separator=separator)


def test_a_wrong_separator_gives_one_column(table):
    with refusal("t.csv:1: one column: there is no ';' in it; if no separator is given, it is found"):
        table("a,b\n0,1\n", separator=";")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n0,x\n1,y\n",
        b"a,b\r\n0,x\r\n1,y\r\n",
        b"a,b\r0,x\r1,y",
        b"\n\na,b\n\n0,x\n   \n1,y\n\n",
        b' a ,b\n 0, "x"\n1\t, y \n',
    ],
    ids=["byte order mark", "crlf", "cr", "blank lines", "blanks"],
)
def test_what_does_not_count_is_left_out(table, content):
    dataset = table(content)

    assert dataset.names == ("a", "b")
    assert decoded(dataset) == [["0", "x"], ["1", "y"]]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".XZ", lzma.compress), ("", bytes)])
def test_packed_files_are_unpacked(tmp_path, suffix, compress):
    path = tmp_path / f"t.csv{suffix}"
    path.write_bytes(compress(b"a,b\n0,x\n1,y\n"))

    assert decoded(read_csv(path)) == decoded(read_csv(str(path))) == [["0", "x"], ["1", "y"]]


def test_a_dash_is_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"a,b\n0,1\n1\n"))
    monkeypatch.setattr(sys, "stdin", stdin)

    with refusal("<stdin>:3: expected 2 fields as in line 1, got 1; quote values that hold the separator ','"):
        read_csv("-")

    assert not stdin.buffer.closed


def test_a_file_that_is_not_there_is_the_systems_error():
    with pytest.raises(FileNotFoundError):
        read_csv("no such file.csv")


def test_states_that_read_as_numbers_are_sorted_as_numbers(table):
    dataset = table("x,y,z\n10,10,1e1\n9,9,+inf\n9,b,-.5\n-1,9,1e1\n")

    assert dataset.states == (("-1", "9", "10"), ("10", "9", "b"), ("-.5", "1e1", "+inf"))


def test_without_a_header_columns_have_numbers(table):
    dataset = table("x,y\nx,z\n", header=False, states={"1": ["z", "y"]})

    assert dataset.names == ("0", "1")
    assert dataset.states == (("x",), ("z", "y"))
    assert dataset.codes.tolist() == [[0, 0], [1, 0]]


def test_declared_states_are_compared_as_text(table):
    dataset = table("x,y\n1,a\n0,b\n", states={"x": [2, 1, 0], "y": ["b", " a "]})

    assert dataset.states == (("2", "1", "0"), ("b", "a"))
    assert dataset.codes.tolist() == [[1, 2], [1, 0]]


def test_a_value_that_is_not_declared_is_named_with_its_line(table):
    with refusal("t.csv:5: column 'x': the value '3' is not among its declared states '0', '1'; correct or declare it"):
        table('x,y\n0,"a\nb"\n\n3,c\n', states={"x": [0, 1]})


def test_a_declared_state_is_not_missing(table):
    dataset = table("continent,y\nNA,0\nEU,?\n", states={"continent": ["EU", "NA"]}, missing="category")

    assert dataset.states == (("EU", "NA"), ("0", "missing"))
    assert dataset.codes.tolist() == [[1, 0], [0, 1]]


def test_states_of_no_column_are_refused(table):
    with refusal("states are declared for 'z', but the columns are 'x', 'y'", ParameterError):
        table("x,y\n0,1\n", states={"z": [0]})


@pytest.mark.parametrize("text", ["", "  ", *MISSING_VALUES, " ? ", "n/a", "NULL", "NAN", "none"])
def test_missing_values_are_recognised(table, text):
    assert table(f"x,y\n0,1\n{text},0\n", missing="drop").codes.tolist() == [[0], [0]]
    assert table(f"x,y\n0,1\n{text},0\n", missing="category").states == (("0", "missing"), ("0", "1"))


@pytest.mark.parametrize("text", ["9" * 200_000 + "x", "1." + "9" * 200_000 + "x", "1e" + "9" * 200_000 + "x"])
def test_a_long_text_is_told_from_a_number_at_once(text):
    begun = time.process_time()

    assert number_of(text) is None
    assert time.process_time() - begun < 1


def test_missing_values_can_be_other_texts(table):
    dataset = table("x,y\n-9,?\n,NA\n0,?\n", missing="category", na=["-9"])

    assert dataset.states == (("0", "missing"), ("?", "NA"))
    assert dataset.codes.tolist() == [[1, 1, 0], [0, 1, 0]]


def test_dropping_rows_forgets_the_states_only_they_have(table):
    dataset = table("x,y\na,0\nb,?\n", missing="drop")

    assert dataset.states == (("a",), ("0",))


def test_a_column_holds_the_weights(table):
    dataset = table("x,n,y\na,2,0\nb,0,1\na,1e3,1\nc, 3.0 ,1\n", weights="n")

    assert dataset.names == ("x", "y")
    assert dataset.states == (("a", "b", "c"), ("0", "1"))
    assert dataset.codes.tolist() == [[0, 0, 2], [0, 1, 1]]
    assert dataset.weights.tolist() == [2, 1000, 3]
    assert dataset.total_weight == 1005


@pytest.mark.parametrize("weight", ["-1", "", "nan", "inf", "1_000", "many", "9007199254740992"])
def test_a_faulty_weight_is_named_with_its_line(table, weight):
    with refusal(f"t.csv:3: {WEIGHT} Got {weight!r} instead."):
        table(f"x,n\na,1\nb,{weight}\n", weights="n")


def test_weights_are_a_column_and_count_something(table):
    with refusal("the weights 'w' are not a column; columns are 'x', 'n'", ParameterError):
        table("x,n\na,1\n", weights="w")
    with refusal("t.csv: a data set needs at least one row (of weight above 0)"):
        table("x,n\na,0\n", weights="n")


def test_more_weights_than_states_are_read(table):
    content = "x,n\n" + "".join(f"0,{weight}\n" for weight in range(1, 70_001))

    assert table(content, weights="n").total_weight == 70_000 * 70_001 // 2


def test_columns_of_many_values_are_refused(table):
    rows = "".join(f"{number / 8},{number % 100},id{number}\n" for number in range(1001))

    with refusal(
        "t.csv: numbers with more than 100 distinct values look continuous: 'x' (1001); "
        "discretise them first (discretize='METHOD', or exactbnc.MDLPDiscretizer); "
        "text with more than 1000 distinct values looks like an identifier: 'z' (1001); leave it out (ignore=[...]), "
        "or declare the states (states={...}), or take every value as a category "
        "(max_states=N, at most 65536)"
    ):
        table("x,y,z\n" + rows)

    assert table("x,y,z\n" + rows, max_states=1001).arities.tolist() == [1001, 100, 1001]


def test_no_column_has_more_states_than_there_are_codes(table):
    rows = [f"{number},0\n" for number in range(65537)]

    assert table("x,y\n" + "".join(rows[:-1]), max_states=65536).codes[0].tolist() == list(range(65536))
    with pytest.raises(DataError, match="look continuous: 'x' \\(more than 65536\\)"):
        table("x,y\n" + "".join(rows), max_states=65536)


def test_missing_values_beside_a_state_of_that_name_are_refused(table):
    with refusal(
        "t.csv: column 'x' has missing values and also the value 'missing'; "
        "declare its states (states={...}) if the two are to be one"
    ):
        table("x,y\nmissing,0\n?,1\n", missing="category")


def test_a_quote_left_open_in_a_long_file_is_found_where_it_opens(table):
    with refusal(f"t.csv:3: {QUOTE} (field larger than field limit (131072)); {ENCLOSE}"):
        table("x,y\n0,0\n" + '1,"0\n' + "0,1\n" * 40_000)


@pytest.fixture
def states_file(tmp_path, monkeypatch):
    """Write states to `s.json`, for errors to name, and load them."""
    monkeypatch.chdir(tmp_path)

    def load(content):
        Path("s.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_states("s.json")

    return load


def test_states_are_loaded_as_they_are_written(states_file):
    loaded = states_file('\ufeff{"x": [0, 1.50, -1e5, "a", NaN], "ü": ["1"]}')

    assert loaded == {"x": ["0", "1.50", "-1e5", "a", "NaN"], "ü": ["1"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"x": [1,\n2}', "s.json:2: expected JSON, but Expecting ',' delimiter"),
        ("", "s.json:1: expected JSON, but Expecting value"),
        (b'{"x": ["\xfc"]}', "s.json: byte 8 is not UTF-8; convert the file"),
        ("[1, 2]", """s.json: expected an object such as {"column": ["state", "state"]}, got ['1', '2']"""),
        ('{"x": "ab"}', "s.json: column 'x' needs a list of texts or numbers"),
        ('{"x": {"a": 1}}', "s.json: column 'x' needs a list of texts or numbers"),
        ('{"x": [true, null]}', "s.json: column 'x' needs a list of texts or numbers"),
        ('{"x": [1, 2, 1]}', "s.json: column 'x' lists '1' twice"),
        ('{"x": [1], "x": [2]}', "s.json: column 'x' is listed twice"),
    ],
)
def test_faulty_states_are_refused(states_file, content, message):
    with refusal(message):
        states_file(content)


@given(st.text('",;a \n\r', max_size=12).map(str.encode), st.sampled_from(",; "))
def test_quotes_that_are_called_plain_open_and_close_whole_fields(content, separator):
    """Character by character; what Arrow is given does not depend on how quickly that was seen."""
    ends = {ord(separator), ord("\r"), ord("\n")}
    is_open = False
    if csvblocks._are_plain_quotes(content, separator):
        for before, character, after in zip(b"\n" + content, content, content[1:] + b"\n", strict=False):
            if character == ord('"'):
                assert (after if is_open else before) in ends
                is_open = not is_open
