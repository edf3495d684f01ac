"""A clock that jumps ends no search: limits are measured on the monotonic clock."""

import ast
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.conftest import environment

ROOT = Path(__file__).parents[2]
MODULES = sorted([*(ROOT / "exactbnc").rglob("*.py"), *(ROOT / "scorecache").rglob("*.py")])


def wall_clock_calls(tree):
    """The lines that ask what time it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("time.time", "time.time_ns"):
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from (node.lineno for alias in node.names if alias.name in ("time", "time_ns"))


def test_the_search_for_wall_clocks_finds_them():
    source = "import time\nfrom time import time\nx = time.time()\ny = time.monotonic()\n"

    assert sorted(wall_clock_calls(ast.parse(source))) == [2, 3]


def test_no_module_asks_the_wall_clock():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        for line in wall_clock_calls(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert found == []


@pytest.mark.parametrize("method", ["dp", "order", "ilp"])
def test_a_jump_of_the_clock_does_not_end_a_search(exactbnc, scores, monkeypatch, method):
    clock = iter(range(0, 10**12, 10**8))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))

    run = exactbnc("solve", scores, "--solver", method, "--time-limit", "600")

    assert run.code == 0, run.err
    assert run.out.startswith("status:  optimal")


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

static long offset;

void jump(long seconds) { offset += seconds; }

int clock_gettime(clockid_t which, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(which, now);
    if (which == CLOCK_REALTIME) now->tv_sec += offset;
    return code;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    int code = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return code;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now) *now = precise.tv_sec;
    return precise.tv_sec;
}

clock_t times(struct tms *used) {
    clock_t (*real)(struct tms *) = dlsym(RTLD_NEXT, "times");
    return real(used) + 100 * offset;
}
"""
"""A library that sets the time of day of its process forward or back, for C code too, when `jump` is called."""

SOLVE = """
import ctypes, sys
from exactbnc.run.limits import Limits
from exactbnc.solvers.ilp.solver import ILPSolver
from exactbnc.solvers.solve import solve
from tests.exactbnc.checkpoint.test_checkpoint import dense_problem

class Jumper:
    n_told = 0

    def on_incumbent(self, dag, score):
        pass

    def on_progress(self, progress):
        self.n_told += 1
        if self.n_told == 2:
            ctypes.CDLL(None).jump(ctypes.c_long(int(sys.argv[1])))

n, per_child, seconds = (int(number) for number in sys.argv[2:])
listener = Jumper()
solver = ILPSolver(frozenset({"root"}))
solve(dense_problem(0, n=10, per_child=30), solver=solver)  # whatever has to be compiled
problem = dense_problem(0, n=n, per_child=per_child)
solution = solve(problem, solver=solver, limits=Limits(seconds=seconds), listener=listener)
assert listener.n_told >= 2
print(solution.status, solution.stop_reason, solution.statistics.wall_seconds)
"""
"""The ilp in SCIP alone; the clock jumps in the middle of its search."""


@pytest.fixture
def solve_with_a_jump(tmp_path):
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("needs gcc and LD_PRELOAD")
    source, library = tmp_path / "jump.c", tmp_path / "jump.so"
    source.write_text(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)

    def run(*numbers):
        command = [sys.executable, "-c", SOLVE, *map(str, numbers)]
        ran = subprocess.run(
            command, cwd=ROOT, env=environment(LD_PRELOAD=str(library)), capture_output=True, text=True, timeout=300
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split()

    return run


@pytest.mark.extended
@pytest.mark.parametrize("jump", [100_000, -100_000], ids=["forward", "back"])
def test_a_jump_of_the_clock_during_scip_does_not_end_its_search(solve_with_a_jump, jump):
    status, stop_reason, _ = solve_with_a_jump(jump, 16, 60, 250)

    assert (status, stop_reason) == ("optimal", "proved")


@pytest.mark.extended
@pytest.mark.parametrize("jump", [100_000, -100_000], ids=["forward", "back"])
def test_the_time_limit_holds_after_a_jump_of_the_clock_during_scip(solve_with_a_jump, jump):
    status, stop_reason, seconds = solve_with_a_jump(jump, 30, 150, 5)

    assert (status, stop_reason) == ("feasible", "time")
    assert 4.9 <= float(seconds) < 30
