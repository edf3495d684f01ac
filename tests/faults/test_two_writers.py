"""Two processes that write the same score file at once: one of the two files, whole, and no record but its own."""

import subprocess
import sys
import warnings

from scorecache import read_cache
from tests.faults.conftest import environment, files_in

WRITE = """
import sys
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.formats import write_cache
from scorecache.record import Record

which, n_times = sys.argv[1], int(sys.argv[2])
names = ("a", "b", "c")
families = [[(-float(which) - v, ())] + [(-k / 7, (u,)) for k, u in enumerate(range(3)) if u != v] for v in range(3)]
cache = ScoreCache.from_families(names, families, Record(f"score {which}", {}, Domain.of(names), "none"))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(n_times):
    write_cache(cache, sys.argv[3])
"""
N_TIMES = 150


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
    check(target)
    assert files_in(tmp_path) == ["scores.jkl", "scores.jkl.json"]


def check(target):
    """A file of one writer; its record is that writer's, or none is believed."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cache = read_cache(target)
    which = str(int(-min(score for score, _ in cache.families(0))))
    assert cache.n_families == 9
    if cache.record is None:
        assert not told or "was written for other scores" in str(told[0].message)
    else:
        assert cache.record.score == f"score {which}"
