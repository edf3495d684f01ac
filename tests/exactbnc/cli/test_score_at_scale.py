"""`exactbnc score` on a cluster, after an interruption, and from Parquet: always the same file."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line
from tests.scorecache.scoring.test_build import table as random_table

PATIENCE = 240
"""Seconds after which something hangs."""


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, *map(str, arguments)], env=environment(), text=True, cwd=ROOT, **options)


def wait_until(condition, process):
    """Wait for a condition while a process runs; did it come true?"""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return True


def parts_in(folder):
    """The parts and when they were written; the folder may vanish while we look."""
    found = {}
    with contextlib.suppress(FileNotFoundError):
        for path in folder.glob("*.part"):
            found[path.name] = path.stat().st_mtime_ns
    return found


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A table that takes a few seconds in parts, and its score file made in one piece."""
    folder = tmp_path_factory.mktemp("job")
    dataset = random_table(18, 1000, (2, 3, 4))
    columns = dict(zip(dataset.names, dataset.codes, strict=True))
    pyarrow.csv.write_csv(pyarrow.table(columns), folder / "data.csv")
    command = ["-m", "exactbnc", "score", folder / "data.csv", "--max-parents", "5", "-q", "-o"]
    assert start(*command, folder / "whole.jkl").wait(PATIENCE) == 0
    return folder, command


def assert_equals_the_whole(job, target):
    folder, _ = job
    assert target.read_bytes() == (folder / "whole.jkl").read_bytes()
    assert target.with_suffix(".jkl.json").read_bytes() == (folder / "whole.jkl.json").read_bytes()


def test_a_killed_build_goes_on_where_it_was(job, tmp_path):
    _, command = job
    parts, target = tmp_path / "parts", tmp_path / "scores.jkl"
    killed = start(*command, target, "--resume", parts)
    assert wait_until(lambda: len(parts_in(parts)) >= 3, killed), "the build was over before it could be killed"
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    found = parts_in(parts)
    assert not target.exists()

    resumed = start(*command[:-2], "-o", target, "--resume", parts, stderr=subprocess.PIPE)
    kept = parts_in(parts)
    wait_until(lambda: kept.update(parts_in(parts)), resumed)
    error = resumed.communicate(timeout=PATIENCE)[1]

    assert resumed.returncode == 0, error
    assert f"resume: {len(found)} finished parts in {parts}\n" in error
    assert {name: kept[name] for name in found} == found, "finished parts were computed again"
    assert_equals_the_whole(job, target)
    assert not parts.exists()


@pytest.fixture
def cluster():
    """A Dask scheduler and two workers, each a process of its own."""
    with contextlib.ExitStack() as stack:

        def run(*arguments, **options):
            process = start("-m", *arguments, stdout=subprocess.DEVNULL, **options)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        scheduler = run("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                        stderr=subprocess.PIPE)  # fmt: skip
        address = next(found[0] for line in scheduler.stderr if (found := re.search(r"tcp://\S+", line)))
        stack.callback(scheduler.stderr.close)
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        workers = [run("distributed.cli.dask_worker", address, *options, stderr=subprocess.DEVNULL) for _ in range(2)]
        from distributed import Client

        with Client(address) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield address, workers


def test_a_cluster_that_loses_a_worker_writes_the_same_file(job, cluster, tmp_path):
    _, command = job
    address, workers = cluster
    parts, target = tmp_path / "parts", tmp_path / "scores.jkl"

    build = start(*command, target, "--scheduler", address, "--resume", parts)
    assert wait_until(lambda: len(parts_in(parts)) >= 2, build), "the build was over before a worker could be killed"
    workers[0].send_signal(signal.SIGKILL)

    assert build.wait(PATIENCE) == 0
    assert_equals_the_whole(job, target)


def test_a_scheduler_that_does_not_answer_is_one_error(exactbnc, table, tmp_path, monkeypatch):
    monkeypatch.setattr("scorecache.scoring.workers.CONNECT_SECONDS", 0.5)

    run = exactbnc("score", table, "-q", "-o", tmp_path / "s.jkl", "--scheduler", "tcp://127.0.0.1:1")

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert "the scheduler 'tcp://127.0.0.1:1' does not answer within 0.5 s" in run.err


def test_parts_of_another_build_are_a_usage_error(exactbnc, table, tmp_path):
    (tmp_path / "parts").mkdir()
    plan = ["score", table, "-q", "--resume", tmp_path / "parts"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scorecache.scoring.partfiles.PartFolder.remove", lambda self: None)
        assert exactbnc(*plan, "-o", tmp_path / "a.jkl").code == 0

    run = exactbnc(*plan, "--score", "bic", "-o", tmp_path / "b.jkl")

    assert run.code == 2
    assert "is part of another build" in run.err


def test_parquet_is_read_by_its_ending(exactbnc, table, tmp_path):
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(table), tmp_path / "lawn.parquet")
    options = ["--class", "wet", "--anb", "-q", "-o"]

    assert exactbnc("score", table, *options, tmp_path / "a.pss").code == 0
    assert exactbnc("score", tmp_path / "lawn.parquet", *options, tmp_path / "b.pss").code == 0

    assert (tmp_path / "a.pss").read_bytes() == (tmp_path / "b.pss").read_bytes()
