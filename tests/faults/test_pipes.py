"""A reader at the other end of a pipe that goes away, and streams that were closed: no traceback."""

import os
import subprocess

import pytest

from tests.faults.conftest import COMMAND, environment

COMMANDS = [
    ("scores",),
    ("convert", "{scores}", "-"),
    ("info", "{scores}", "--json"),
    ("predict", "{model}", "{table}"),
]


def run(*arguments, **more):
    return subprocess.run([*COMMAND, *arguments], env=environment(), text=True, check=False, timeout=120, **more)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_reader_that_is_gone_is_no_news(scores, model, table, arguments):
    reader, writer = os.pipe()
    os.close(reader)

    given = [argument.format(scores=scores, model=model, table=table) for argument in arguments]
    done = run(*given, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_nobody_hears_the_error_either():
    reader, writer = os.pipe()
    os.close(reader)

    done = run("info", "no such file.jkl", stdout=writer, stderr=writer)
    os.close(writer)

    assert done.returncode == 1


@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), (">&- 2>&-", 0), ("<&-", 0)])
def test_a_stream_that_was_closed_is_the_null_device(scores, tmp_path, closed, code):
    target = tmp_path / "out.pss"
    command = " ".join([*COMMAND, "convert", f"'{scores}'", f"'{target}'", closed])

    done = subprocess.run(["sh", "-c", command], env=environment(), capture_output=True, text=True, check=False)

    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert target.read_text().startswith("META ")  # and not the words that were meant for stdout
