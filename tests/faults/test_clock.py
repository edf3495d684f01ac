"""A clock that jumps ends no search: limits are measured on the monotonic clock."""

import ast
import time
from pathlib import Path

import pytest

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

    run = exactbnc("solve", scores, "--method", method, "--time-limit", "600")

    assert run.code == 0, run.err
    assert run.out.startswith("status:  optimal")
