import json

from scorecache.formats import read_cache
from tests.exactbnc.cli.conftest import assert_is_one_error_line


def test_there_and_back_is_the_same_file(exactbnc, table, tmp_path):
    exactbnc("score", table, "--class", "wet", "--anb", "-o", tmp_path / "a.jkl")

    there = exactbnc("convert", tmp_path / "a.jkl", tmp_path / "b.pss")
    back = exactbnc("convert", tmp_path / "b.pss", tmp_path / "c.jkl.gz")

    assert (there.code, back.code) == (0, 0)
    assert there.out.startswith(f"written: {tmp_path / 'b.pss'} (3 variables, ")
    first, last = read_cache(str(tmp_path / "a.jkl")), read_cache(str(tmp_path / "c.jkl.gz"))
    assert last.equals(first)
    assert last.record == first.record


def test_stdout_carries_the_file_alone(exactbnc, table, tmp_path):
    exactbnc("score", table, "-o", tmp_path / "a.jkl")

    run = exactbnc("convert", tmp_path / "a.jkl", "-", "--to", "jkl")

    assert run.out == (tmp_path / "a.jkl").read_text()
    assert run.err.startswith("written: -")


def test_names_may_become_integers(exactbnc, table, tmp_path):
    exactbnc("score", table, "-o", tmp_path / "a.jkl")

    exactbnc("convert", tmp_path / "a.jkl", tmp_path / "b.jkl", "--int-names")

    assert "rain" not in (tmp_path / "b.jkl").read_text()


def test_json_is_one_document(exactbnc, table, tmp_path):
    exactbnc("score", table, "-o", tmp_path / "a.jkl")

    run = exactbnc("convert", tmp_path / "a.jkl", tmp_path / "b.pss", "--json")

    assert json.loads(run.out)["command"] == "convert"


def test_faulty_file_is_bad_input(exactbnc, tmp_path):
    (tmp_path / "a.jkl").write_text("1\nrain 2\n-1.5 0\n")

    run = exactbnc("convert", tmp_path / "a.jkl", tmp_path / "b.pss")

    assert run.code == 3
    assert_is_one_error_line(run.err)
    assert "a.jkl:" in run.err
    assert not (tmp_path / "b.pss").exists()


def test_unwritable_target_is_an_io_error(exactbnc, table, tmp_path):
    exactbnc("score", table, "-o", tmp_path / "a.jkl")

    run = exactbnc("convert", tmp_path / "a.jkl", tmp_path / "no" / "b.pss")

    assert run.code == 1
    assert_is_one_error_line(run.err)
