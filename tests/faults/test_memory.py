"""The memory limit of a solve holds for the whole process, or the work is refused before it begins."""

import subprocess
import sys

import pytest

from scorecache.formats import write_cache
from tests.exactbnc.checkpoint.test_checkpoint import dense_problem
from tests.faults.conftest import COMMAND, environment

MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""
"""Begun from a small process: a child's peak is at least what its parent held."""


def peak_of(*arguments, cwd):
    """The exit code of a command, what it said on stderr, and the most MiB that it held."""
    command = [sys.executable, "-c", MEASURE, *COMMAND, *arguments]
    ran = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True)
    code, peak = ran.stdout.split()
    return int(code), ran.stderr, float(peak)


@pytest.mark.extended
@pytest.mark.skipif(sys.platform != "linux", reason="the process knows its own size on Linux only")
def test_dp_stays_within_its_memory_or_does_not_begin(tmp_path):
    write_cache(dense_problem(0, n=24, per_child=60).cache, tmp_path / "scores.jkl")
    solve = ("solve", "scores.jkl", "--solver", "dp", "--quiet", "--memory-limit")
    peak_of(*solve, "4G", cwd=tmp_path)  # compiles what is not compiled yet
    code, _, needed = peak_of(*solve, "4G", cwd=tmp_path)
    assert code == 0

    code, err, peak = peak_of(*solve, f"{needed + 80:.0f}M", cwd=tmp_path)
    assert code == 0, err
    assert peak < needed + 80

    code, err, peak = peak_of(*solve, f"{needed - 80:.0f}M", cwd=tmp_path)
    assert code == 6
    assert "dynamic programming over 24 variables needs about" in err
    assert peak < needed - 100
