"""The program in a process of its own, where signals, limits and pipes can be tried; and in this one (`exactbnc`)."""

import os
import subprocess
import sys

import pytest

from tests.exactbnc.cli.conftest import ROOT, exactbnc, table

__all__ = ["exactbnc", "table"]

COMMAND = [sys.executable, "-m", "exactbnc"]


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def start(*arguments, cwd, **more):
    """Begin a command; its stdout and stderr are pipes unless told otherwise."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], cwd=cwd, env=environment(), text=True, **streams)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def scores(exactbnc, table, tmp_path):
    """The score file of a small table, with its side-car."""
    path = tmp_path / "lawn.jkl"
    assert exactbnc("score", table, "--score", "bic", "-o", path, "--quiet").code == 0
    return path


@pytest.fixture
def model(exactbnc, table, tmp_path):
    """A classifier learned from the small table."""
    path = tmp_path / "model.json"
    run = exactbnc("learn", table, "--class", "wet", "--structure", "tan", "--score", "bic", "-o", path, "--quiet")
    assert run.code == 0, run.err
    return path


@pytest.fixture
def wide(tmp_path):
    """A table whose scoring takes a minute."""
    rows = [[str((row * 7919 + column * row * row) % 97 % 2) for column in range(60)] for row in range(500)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    return path
