"""Kernels load numba on first use, are kept where a folder can be written to, and do not count against limits."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.system.compiled import compile_seconds, kernel, popcount, trailing_zeros, work_clock

KERNELS = """
import sys
from scorecache.system.compiled import compile_seconds, kernel, popcount, work_clock

@kernel(inline="always")
def square(x):
    return x * x

@kernel
def half(x):
    return x // 2

@kernel
def f(x):
    return square(x) + half(x)
"""


@kernel
def _triple(x: int) -> int:
    return 3 * x


@kernel
def _triple_plus(x: int) -> int:
    return _triple(x) + 1


def run(folder: Path, code: str, **environment: str) -> str:
    """Run a script beside a module of kernels."""
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "script.py").write_text(code)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **environment}
    if "NUMBA_CACHE_DIR" not in environment:
        env.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, str(folder / "script.py")], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cached(folder: Path) -> list[str]:
    return sorted({path.name.split("-")[0] for path in folder.rglob("*.nbi")})


def test_a_module_of_kernels_loads_without_numba(tmp_path):
    assert run(
        tmp_path, "import sys, kernels\nprint('numba' in sys.modules, kernels.f(6), 'numba' in sys.modules)"
    ) == ("False 39 True\n")


def test_compiled_code_is_kept_beside_the_source(tmp_path):
    run(tmp_path, "import kernels\nkernels.f(6)")

    assert cached(tmp_path / "__pycache__") == ["kernels.f"], "a file holds the kernels that are called, too"
    assert (
        run(tmp_path, "import kernels\nkernels.f(6)\nprint(dict(kernels.f._dispatcher.stats.cache_misses))") == "{}\n"
    )


def test_a_kernel_that_others_call_is_compiled_once_per_kind_of_number(tmp_path):
    code = """
import kernels
from kernels import half, kernel
@kernel
def g(x):
    return half(x) + half(3) + half(-1) + half(2.5)
print(g(8), len(half._inner.overloads), half.is_loaded, half(8), half.is_loaded)
"""
    assert run(tmp_path, code) == "5.0 2 False 4 True\n"


def test_the_folder_that_numba_is_given_is_respected(tmp_path):
    run(tmp_path, "import kernels\nkernels.f(6)", NUMBA_CACHE_DIR=str(tmp_path / "kept"))

    assert "kernels.f" in cached(tmp_path / "kept")
    assert not list((tmp_path / "__pycache__").glob("*.nbi"))


REFUSE = """
import tempfile
from pathlib import Path
true = tempfile.TemporaryFile
def refuse(*args, dir=None, **options):
    if any(str(dir).startswith(folder) for folder in {refused!r}):
        raise PermissionError(13, "Permission denied", dir)
    return true(*args, dir=dir, **options)
tempfile.TemporaryFile = refuse
import kernels
print(kernels.f(6))
"""


def test_a_folder_that_cannot_be_written_to_sends_the_cache_to_the_user(tmp_path):
    source, home = tmp_path / "source", tmp_path / "home"
    source.mkdir()
    home.mkdir()

    out = run(source, REFUSE.format(refused=[str(source)]), HOME=str(home), XDG_CACHE_HOME=str(home / ".cache"))

    assert out == "39\n"
    assert "kernels.f" in cached(home)


def test_without_any_folder_to_write_to_kernels_run_uncached(tmp_path):
    assert run(tmp_path, REFUSE.format(refused=["/"])) == "39\n"
    assert cached(tmp_path) == []


def test_a_full_disk_costs_the_cache_only(tmp_path):
    full = """
from numba.core.caching import IndexDataCacheFile
def save(*args):
    raise OSError(28, "No space left on device")
IndexDataCacheFile.save = save
import kernels
print(kernels.f(6))
"""
    assert run(tmp_path, full) == "39\n"


def test_compiling_is_announced_on_a_terminal_once(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    env = {
        **os.environ,
        "PYTHONPATH": f"{Path(__file__).parents[3]}:{tmp_path}",
        "NUMBA_CACHE_DIR": str(tmp_path / "k"),
    }
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "import kernels; kernels.f(6); kernels.f(6.5)"]

    subprocess.run(command, env=env, stderr=theirs, check=True)
    said = os.read(ours, 1000).decode()
    subprocess.run(command, env=env, stderr=theirs, check=True)
    os.write(theirs, b"end")

    assert said == "compiling kernels, once per installation ...\r\n"
    assert os.read(ours, 1000) == b"end"
    assert (
        subprocess.run(command, env={**env, "NUMBA_CACHE_DIR": str(tmp_path / "l")}, capture_output=True).stderr == b""
    )


def test_the_work_clock_stands_still_while_compiling(tmp_path):
    code = """
import time, kernels
from scorecache.system.compiled import compile_seconds, work_clock
before, wall, compiled = work_clock(), time.monotonic(), compile_seconds()
kernels.f(6)
worked, passed, compiling = work_clock() - before, time.monotonic() - wall, compile_seconds() - compiled
assert compiling > 0.05 and abs(worked + compiling - passed) < 0.01, (worked, compiling, passed)
assert worked < passed / 2, (worked, passed)
"""
    run(tmp_path, code)
    started = work_clock()
    time.sleep(0.02)
    assert 0.02 <= work_clock() - started < 5
    assert compile_seconds() >= 0


def test_a_kernel_calls_another_and_shows_its_function():
    assert _triple_plus(4) == 13
    assert _triple_plus.__name__ == "_triple_plus"
    assert _triple.py_func(5) == 15


@given(st.integers(1, 2**64 - 1))
def test_bits_of_a_word(word):
    assert popcount(np.uint64(word)) == word.bit_count()
    assert trailing_zeros(np.uint64(word)) == (word & -word).bit_length() - 1


def test_errors_of_a_kernel_come_out():
    @kernel
    def fails(x):
        if x > 1:
            raise ValueError("too large")
        return x

    with pytest.raises(ValueError, match="too large"):
        fails(2)
