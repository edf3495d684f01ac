"""A file of the wrong kind: the error says what it looks like and which command wants it."""

import os

import pytest

from exactbnc.cli._kinds import Kind, kind_of
from tests.exactbnc.cli.conftest import assert_is_one_error_line


@pytest.fixture
def files(exactbnc, table, tmp_path):
    """One of each kind, by its kind."""
    scores, network, model = tmp_path / "lawn.jkl", tmp_path / "net.json", tmp_path / "model.json"
    for arguments in (
        ("score", table, "-o", scores),
        ("solve", scores, "-o", network),
        ("learn", table, "--class", "wet", "-o", model),
    ):
        assert exactbnc(*arguments).code == 0
    return {Kind.TABLE: table, Kind.SCORES: scores, Kind.NETWORK: network, Kind.MODEL: model}


def test_every_kind_is_recognised_by_its_beginning(exactbnc, files, tmp_path):
    assert {kind: kind_of(str(path)) for kind, path in files.items()} == {kind: kind for kind in files}
    exactbnc("convert", files[Kind.SCORES], tmp_path / "lawn.pss.gz")
    exactbnc("learn", files[Kind.TABLE], "--class", "wet", "-o", tmp_path / "net.bif")
    exactbnc("learn", files[Kind.TABLE], "--class", "wet", "-o", tmp_path / "net.xml")
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)))

    found = {name: kind_of(str(tmp_path / name)) for name in ("lawn.pss.gz", "net.bif", "net.xml", "noise.bin", "none")}

    assert found == {
        "lawn.pss.gz": Kind.SCORES, "net.bif": Kind.NETWORK, "net.xml": Kind.NETWORK, "noise.bin": None, "none": None,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["net.gobnilp", "net.txt"])
def test_the_text_of_gobnilp_is_a_network_that_is_not_read(exactbnc, files, tmp_path, name):
    assert exactbnc("solve", files[Kind.SCORES], "-o", tmp_path / "a.gobnilp").code == 0
    target = (tmp_path / "a.gobnilp").rename(tmp_path / name)

    run = exactbnc("compare", files[Kind.NETWORK], target)

    assert run.code in (2, 3)
    assert_is_one_error_line(run.err)
    if name == "net.gobnilp":
        assert "must end in one of .json, .dot, .gv, .csv, .txt, .bn, .bif, .xml" in run.err
    assert run.err.endswith(
        "This looks like GOBNILP's text of a network: it is written, not read; "
        "'exactbnc solve -o NET.json' writes one that is read.\n"
    )


@pytest.mark.parametrize("line", ["a<- -1.500000", "a<-b, -1.500000", "a<-b,c d, -1.500000", "my rain<-b,c, 0.250000"])
def test_the_text_of_gobnilp_begins_with_any_family(tmp_path, line):
    (tmp_path / "net.gobnilp").write_text(f"{line}\nb<-c, -2.000000\nc<- -1.000000\nBN score is -4.500000\n")

    assert kind_of(str(tmp_path / "net.gobnilp")) is Kind.GOBNILP_TEXT


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    assert kind_of(str(tmp_path / "pipe")) is None


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["solve", Kind.TABLE], "This looks like a data table: 'exactbnc score' makes a score file of it."),
        (["info", Kind.TABLE], "'exactbnc score' makes a score file of it"),
        (["check", Kind.NETWORK, Kind.SCORES], "This looks like a network: a score file is wanted here."),
        (["check", Kind.SCORES, Kind.TABLE], "'exactbnc learn' finds a network for it"),
        (["convert", Kind.MODEL, "out.jkl"], "This looks like a model: a score file is wanted here."),
        (["verify", Kind.SCORES, Kind.MODEL], "'exactbnc solve -o' writes a network by itself"),
        (["compare", Kind.SCORES, Kind.NETWORK], "'exactbnc solve' finds its best network"),
        (["verify", Kind.SCORES, Kind.TABLE], "'exactbnc learn' finds a network for it"),
        (["predict", Kind.NETWORK, Kind.TABLE], "'exactbnc learn' makes a model, a network with its tables, from data"),
        (["predict", Kind.TABLE, Kind.MODEL], "'exactbnc learn' makes a model of it"),
        (["predict", Kind.MODEL, Kind.SCORES], "This looks like a score file: a data table is wanted here."),
        (["explain", Kind.SCORES, Kind.TABLE], "'exactbnc learn' makes a model from the data"),
        (["report", Kind.SCORES, "-o", "out.html"], "'exactbnc solve' finds its best network"),
        (["report", Kind.MODEL, "--data", Kind.SCORES, "-o", "out.html"], "a data table is wanted here"),
        (["score", Kind.SCORES, "-o", "out.jkl"], "This looks like a score file: a data table is wanted here."),
        (["learn", Kind.MODEL, "--class", "wet", "-o", "out.json"], "This looks like a model"),
        (["evaluate", Kind.SCORES, "--class", "wet"], "This looks like a score file"),
    ],
)
def test_the_error_says_what_the_file_looks_like(exactbnc, files, tmp_path, monkeypatch, command, said):
    monkeypatch.chdir(tmp_path)

    run = exactbnc(*(files.get(word, word) for word in command))

    assert run.code in (2, 3)
    assert_is_one_error_line(run.err)
    assert said in run.err


def test_a_faulty_file_of_the_right_kind_gets_no_such_word(exactbnc, files):
    scores = files[Kind.SCORES]
    scores.write_text(scores.read_text().replace("rain", "rein", 1))

    run = exactbnc("solve", scores)

    assert run.code == 3
    assert "looks like" not in run.err


@pytest.mark.parametrize("command", [["convert", Kind.SCORES], ["score", Kind.TABLE, "-o"]])
def test_scores_are_not_written_under_the_name_of_something_else(exactbnc, files, tmp_path, command):
    run = exactbnc(*(files.get(word, word) for word in command), tmp_path / "out.bif")

    assert run.code == 2
    assert run.err.startswith("error: a score file must end in .jkl or .pss, packed or not. Got ")
    assert not (tmp_path / "out.bif").exists()


@pytest.mark.parametrize("command", [["convert", Kind.SCORES], ["score", Kind.TABLE, "-o"]])
@pytest.mark.parametrize("option", ["", "jkl"])
def test_scores_are_not_written_under_a_packing_that_is_not_ours(exactbnc, files, tmp_path, command, option):
    target = tmp_path / "out.jkl.bz2"
    named = ["--to" if command[0] == "convert" else "--format", option] if option else []

    run = exactbnc(*(files.get(word, word) for word in command), target, *named)

    assert run.code == 2
    assert_is_one_error_line(run.err)
    assert "packed with gzip or xz (.gz, .xz), not as .bz2. Got " in run.err
    assert not target.exists()


def test_a_table_without_a_column_of_the_model_is_refused(exactbnc, files, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")

    run = exactbnc("predict", files[Kind.MODEL], other)

    assert run.code == 3
    assert run.err == (
        "error: expected columns of the network, 'rain', 'sprinkler', 'wet'; the table has none of them, but 'a', 'b'\n"
    )
