"""Two processes that write the same score file at once: one of the two files, whole, with its record in the end."""

import os
import subprocess
import sys
import time
import warnings
from threading import Event, Thread, current_thread

import pytest

from scorecache import read_cache
from scorecache.system.atomic import atomic_write
from tests.faults.conftest import environment, files_in

WRITE = """
import sys
from itertools import combinations
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.formats import write_cache
from scorecache.record import Record

which, n_times = sys.argv[1], int(sys.argv[2])
names = tuple("abcdefghijklmnopqrst")
pairs = [pair for size in (1, 2) for pair in combinations(range(20), size)]
families = [
    [(-float(which), ())] + [(-1 / (k + 7), pair) for k, pair in enumerate(pairs) if v not in pair] for v in range(20)
]
cache = ScoreCache.from_families(names, families, Record(f"score {which}", {}, Domain.of(names), "none"))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(n_times):
    write_cache(cache, sys.argv[3])
"""
N_TIMES = 40


def writer(which, target):
    command = [sys.executable, "-c", WRITE, which, str(N_TIMES), str(target)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, env=environment(), text=True, **pipes)


def test_the_last_of_two_writers_wins_whole(tmp_path):
    target = tmp_path / "scores.jkl"
    writers = [writer(which, target) for which in "12"]
    for process in writers:
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        process.stdin.write("go\n")
        process.stdin.flush()

    n_read = 0
    while any(process.poll() is None for process in writers) or n_read == 0:
        if target.exists():
            check(target)
            n_read += 1

    for process in writers:
        process.communicate(timeout=60)
    assert [process.returncode for process in writers] == [0, 0]
    assert check(target) is not None
    assert files_in(tmp_path) == ["scores.jkl", "scores.jkl.json"]


def check(target):
    """A file of one writer; its record is that writer's, or none is believed."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cache = read_cache(target)
    which = str(int(-min(score for score, _ in cache.families(0))))
    assert cache.n_families == 20 * (1 + 19 + 19 * 18 // 2)
    if cache.record is None:
        assert not told or "was written for other scores" in str(told[0].message)
    else:
        assert cache.record.score == f"score {which}"
    return cache.record


def test_pairs_of_files_are_replaced_one_pair_at_a_time(tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    targets = [tmp_path / "a", tmp_path / "b"]
    is_between = Event()
    replace = os.replace

    def slow_between(source, target):
        replace(source, target)
        if current_thread() is first and not is_between.is_set():
            is_between.set()
            time.sleep(0.3)

    def write(content):
        with atomic_write(*targets) as sinks:
            for sink in sinks:
                sink.write(content)

    first = Thread(target=write, args=[b"1"])
    monkeypatch.setattr("scorecache.system.atomic.os.replace", slow_between)
    first.start()
    assert is_between.wait(10)
    write(b"2")
    first.join()

    assert [target.read_bytes() for target in targets] == [b"2", b"2"]
