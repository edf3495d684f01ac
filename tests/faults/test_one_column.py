"""Tables of one column: rows to predict, but no data to score."""

import pytest

from scorecache.data.reading import read_csv
from tests.exactbnc.cli.conftest import assert_is_one_error_line


@pytest.mark.parametrize("text", ['rain\nyes\nno\n?\n""\nyes\n', 'rain\n\nyes\nno\n\n?\n""\n\nyes'])
def test_every_line_that_is_not_blank_is_a_row(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(text)

    data = read_csv(path, missing="category", least_columns=1)

    assert data.names == ("rain",)
    assert [data.states[0][code] for code in data.codes[0]] == ["yes", "no", "missing", "missing", "yes"]
    assert [data.states[0][0], data.states[0][-1]] == ["no", "missing"]


def test_rows_with_one_feature_are_predicted(exactbnc, model, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("rain\nyes\nno\n\nnever heard of\n")
    both = tmp_path / "both.csv"
    both.write_text("rain,sprinkler\nyes,?\nno,?\nnever heard of,?\n")

    run = exactbnc("predict", model, rows, "--quiet")

    assert run.code == 0
    assert len(run.out.splitlines()) == 4
    assert run.out == exactbnc("predict", model, both, "--quiet").out


@pytest.mark.parametrize(
    "command", [("score", "{}", "-o", "{}.jkl"), ("learn", "{}", "--class", "rain", "-o", "{}.json")]
)
def test_a_score_needs_two_variables(exactbnc, tmp_path, command):
    rows = tmp_path / "rows.csv"
    rows.write_text("rain\nyes\nno\n")

    run = exactbnc(*(argument.format(rows) for argument in command))

    assert run.code == 3
    assert_is_one_error_line(run.err)
    assert "rows.csv:1: one column: found no separator" in run.err
