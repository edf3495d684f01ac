import warnings

import pytest

from exactbnc.cli import _errors
from exactbnc.cli._errors import ExitCode, run
from scorecache.errors import DataError, MemoryLimitError, ParameterError, ScoreFileError, TimeLimitError
from tests.exactbnc.cli.conftest import assert_is_one_error_line


def app_that_raises(error):
    def app(**_):
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (_errors.UsageError("choose one"), 2, "choose one"),
        (ParameterError("k is wrong"), 2, "k is wrong"),
        (DataError("a.csv:3: ragged"), 3, "a.csv:3: ragged"),
        (ScoreFileError("a.jkl", 7, "no count"), 3, "a.jkl:7: no count"),
        (MemoryLimitError("needs 9 GiB"), 6, "needs 9 GiB"),
        (TimeLimitError("out of time"), 6, "out of time"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, "a.csv: No such file or directory"),
        (OSError("disk full"), 1, "disk full"),
        (MemoryError("Unable to allocate 9 GiB"), 1, "out of memory: Unable to allocate 9 GiB"),
        (KeyboardInterrupt(), 130, "interrupted; no file was written"),
        (ZeroDivisionError("division by zero"), 1, "internal error, please report it: ZeroDivisionError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_is_one_line_and_a_code(capsys, error, code, message):
    assert run(app_that_raises(error), []) == code

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {message}")
    assert_is_one_error_line(captured.err)


def test_debugging_shows_the_traceback(capsys, monkeypatch):
    monkeypatch.setenv("EXACTBNC_DEBUG", "1")

    run(app_that_raises(ParameterError("k is wrong")), [])

    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["learn", "--criterion", "bic"], "No such option: --criterion; here it is --score (see 'exactbnc learn"),
        (["score", "x.csv", "--palim", "3"], "No such option: --palim; here it is --max-parents (see 'exactbnc score"),
        (["score", "x.csv", "--sep", ";"], "No such option: --sep; here it is --separator (see 'exactbnc score"),
        (["verify", "x.jkl", "--palim", "3"], "No such option: --palim (see 'exactbnc verify --help')"),
    ],
)
def test_an_option_of_another_name_is_answered_with_ours(exactbnc, command, said):
    run = exactbnc(*command)

    assert run.code == ExitCode.USAGE
    assert said in run.err


def test_a_warning_of_a_library_is_one_line_without_its_code(capsys):
    def app(**_):
        warnings.warn("careful", UserWarning, stacklevel=1)

    assert run(app, []) == ExitCode.OK
    assert capsys.readouterr().err == "warning: careful\n"
