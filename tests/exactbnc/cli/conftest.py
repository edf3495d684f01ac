"""Run the program in this process, as `exactbnc ARGUMENTS...` would."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from exactbnc.cli import main

ROOT = Path(__file__).parents[3]
TABLE = "rain,sprinkler,wet\n" + "yes,no,yes\nyes,no,yes\nno,yes,yes\nno,no,no\nno,no,no\nyes,yes,yes\nno,yes,no\n" * 3


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


@pytest.fixture
def exactbnc(capsys) -> Callable[..., Run]:
    def run(*arguments: object) -> Run:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


@pytest.fixture
def table(tmp_path) -> Path:
    """A small data table: three binary columns, 21 rows."""
    path = tmp_path / "lawn.csv"
    path.write_text(TABLE)
    return path


def assert_is_one_error_line(text: str) -> None:
    assert text.startswith("error: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
