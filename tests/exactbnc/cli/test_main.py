import os
import platform
import subprocess
import sys

import exactbnc as package
from exactbnc.cli._errors import EXIT_CODES
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line


def test_version_names_package_python_and_platform(exactbnc):
    run = exactbnc("--version")

    assert run.code == 0
    assert run.out.startswith(f"exactbnc {package.__version__} ")
    assert platform.python_version() in run.out
    assert platform.platform() in run.out


def test_version_is_the_same_where_typer_parses_it(exactbnc):
    assert exactbnc("--version", "scores") == exactbnc("--version")


def test_version_loads_nothing_it_does_not_need():
    script = "import sys; from exactbnc.cli import main; main(['--version']); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert {"typer", "rich", "numpy", "numba", "scorecache"}.isdisjoint(done.stdout.split())


def test_help_lists_commands_and_exit_codes(exactbnc):
    run = exactbnc("--help")

    assert run.code == 0
    for command in ("score", "scores", "convert", "info"):
        assert f" {command} " in run.out
    for code, meaning in EXIT_CODES.items():
        assert f"{code}  {meaning}" in run.out


def test_no_arguments_show_the_help(exactbnc):
    assert exactbnc() == exactbnc("--help")


def test_unknown_command_is_a_usage_error(exactbnc):
    run = exactbnc("sroce")

    assert run.code == 2
    assert_is_one_error_line(run.err)
    assert "exactbnc --help" in run.err


def test_broken_pipe_is_quiet():
    reader, writer = os.pipe()
    os.close(reader)

    command = [sys.executable, "-m", "exactbnc", "scores", "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)

    assert done.returncode == 1
    assert done.stderr == ""
