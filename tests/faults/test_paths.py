"""Folders, devices and places without permission where a file is expected."""

import os
from contextlib import contextmanager

import pytest

from tests.exactbnc.cli.conftest import assert_is_one_error_line
from tests.faults.conftest import files_in

NOBODY = 65534

INPUTS = {
    "score": ("score", "{bad}", "--score", "bic", "-o", "{folder}/out.jkl"),
    "convert": ("convert", "{bad}.jkl", "{folder}/out.jkl"),
    "solve": ("solve", "{bad}.jkl"),
    "info": ("info", "{bad}.jkl"),
    "check": ("check", "{scores}", "{bad}.json"),
    "verify": ("verify", "{scores}", "{bad}.json"),
    "constraints": ("solve", "{scores}", "--constraints", "{bad}.con"),
    "tiers": ("solve", "{scores}", "--tiers", "{bad}"),
    "whitelist": ("solve", "{scores}", "--whitelist", "{bad}.csv"),
    "model": ("predict", "{bad}.json", "{table}"),
    "rows": ("predict", "{model}", "{bad}.csv"),
    "compare": ("compare", "{bad}.json", "{bad}.json"),
}
OUTPUTS = {
    "score": ("score", "{table}", "--score", "bic", "-o", "{out}.jkl"),
    "convert": ("convert", "{scores}", "{out}.jkl"),
    "solve": ("solve", "{scores}", "-o", "{out}.json"),
    "predict": ("predict", "{model}", "{table}", "-o", "{out}.csv"),
    "learn": ("learn", "{table}", "--class", "wet", "--structure", "tan", "-o", "{out}.json"),
}


@pytest.fixture
def places(table, scores, model, tmp_path):
    return {"table": table, "scores": scores, "model": model, "folder": tmp_path}


@pytest.mark.parametrize("kind", ["folder", "nothing"])
@pytest.mark.parametrize("name", INPUTS)
def test_an_input_that_is_no_file_is_one_line(exactbnc, places, tmp_path, name, kind):
    for suffix in ("", ".jkl", ".json", ".con", ".csv") if kind == "folder" else ():
        (tmp_path / f"bad{suffix}").mkdir()
    before = files_in(tmp_path)

    run = exactbnc(*(argument.format(bad=tmp_path / "bad", **places) for argument in INPUTS[name]))

    assert run.code == 1, run.err
    assert_is_one_error_line(run.err)
    assert ("Is a directory" if kind == "folder" else "No such file or directory") in run.err
    assert str(tmp_path / "bad") in run.err
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_is_a_folder_is_refused(exactbnc, places, tmp_path, name):
    for suffix in (".jkl", ".json", ".csv"):
        (tmp_path / f"out{suffix}").mkdir()
    before = files_in(tmp_path)

    run = exactbnc(*(argument.format(out=tmp_path / "out", **places) for argument in OUTPUTS[name]))

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert "folder" in run.err
    assert files_in(tmp_path) == before


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_folder_where_not_even_root_may_write_is_an_error(exactbnc, places, name):
    run = exactbnc(*(argument.format(out="/proc/out", **places) for argument in OUTPUTS[name]), "--quiet")

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert "/proc/out" in run.err


@contextmanager
def without_rights():
    """As a user who is not root, also where the tests run as root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_a_file_without_permission_is_an_error(exactbnc, scores):
    assert exactbnc("info", scores).code == 0  # every module is loaded while it may be read
    scores.chmod(0)

    with without_rights():
        run = exactbnc("info", scores)

    assert run.code == 1
    assert run.err == f"error: {scores}: Permission denied\n"


def test_a_device_is_not_replaced(exactbnc, scores):
    run = exactbnc("convert", scores, "/dev/null")

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert not os.path.isfile("/dev/null")
