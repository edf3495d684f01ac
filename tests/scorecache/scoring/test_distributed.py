"""Builds through joblib: any backend gives the same files, lost workers are survived, failures are told."""

import asyncio
import os
import signal
import time
from contextlib import nullcontext

import joblib
import pytest
from joblib.parallel import ThreadingBackend

from scorecache.errors import ClusterError, MemoryLimitError
from scorecache.formats import write_cache
from scorecache.scoring import workers
from scorecache.scoring.build import build_cache, plan_build
from scorecache.scoring.workers import connected, results_of, sends_to_a_cluster
from tests.scorecache.literal import refusal
from tests.scorecache.scoring.test_build import table


class AllAtOnce(ThreadingBackend):
    """A backend that gives its results all at once, as Ray's and multiprocessing's do; no fork of busy threads here."""

    supports_return_generator = False


joblib.register_parallel_backend("all at once", AllAtOnce)


def as_written(cache, folder):
    """The bytes of both formats and the side-car."""
    files = [folder / "scores.jkl", folder / "scores.pss"]
    for file in files:
        write_cache(cache, file)
    return [file.read_bytes() for file in [*files, folder / "scores.jkl.json"]]


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky", "all at once"])
def test_every_backend_writes_the_same_files(backend, tmp_path):
    dataset = table(8, 200, (2, 3, 5))
    local = as_written(build_cache(dataset, "bdeu", max_parents=3), tmp_path)

    with joblib.parallel_config(backend, n_jobs=2):
        cache = build_cache(dataset, "bdeu", max_parents=3, distribute=True)

    assert as_written(cache, tmp_path) == local


def test_a_backend_on_this_machine_changes_nothing(monkeypatch):
    """A build is not cut into parts because it runs inside somebody's parallel code."""
    monkeypatch.setattr("scorecache.scoring.run.results_of", None)

    with joblib.parallel_config("threading", n_jobs=2):
        assert build_cache(table(5, 50), "bic", max_parents=2).n_vars == 5


def what_a_task_says():
    return sends_to_a_cluster()


def test_a_cluster_backend_is_used_but_not_by_its_own_tasks(monkeypatch):
    distributed = pytest.importorskip("distributed")
    dataset = table(6, 60)
    local = build_cache(dataset, "bic", max_parents=2)
    runs = []
    monkeypatch.setattr("scorecache.scoring.run.results_of", lambda *a, **k: runs.append(1) or results_of(*a, **k))

    with (
        distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client,
        joblib.parallel_config("dask"),
    ):
        assert sends_to_a_cluster()
        assert not client.submit(what_a_task_says).result()
        assert build_cache(dataset, "bic", max_parents=2).equals(local)
        assert build_cache(dataset, "bic", max_parents=2, distribute=False).equals(local)
    assert not sends_to_a_cluster()
    assert runs


@pytest.mark.parametrize("is_given", [True, False])
def test_a_worker_lost_while_the_data_are_sent_is_survived(monkeypatch, is_given):
    """Dask's scheduler goes on waiting for it; found with a real worker that was killed at that moment."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "WATCH_SECONDS", 0.05)
    dataset = table(6, 60)
    n_sent = 0
    local = distributed.LocalCluster(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
    with local as cluster, distributed.Client(cluster) as client:
        scatter = client.scatter

        async def never():
            await cluster.workers[0].close()
            await asyncio.Event().wait()

        def send(*data, **options):
            nonlocal n_sent
            n_sent += 1
            assert not options["broadcast"]  # which would hang in the scheduler, where no watching helps
            return never() if n_sent == 1 else scatter(*data, **options)

        monkeypatch.setattr(client, "scatter", send)
        with nullcontext() if is_given else joblib.parallel_config("dask"):
            plan = plan_build(dataset, "bic", max_parents=2)
            cache = plan.run(distribute=True, client=client if is_given else None)

    assert n_sent > 2  # once more for the level that was lost
    assert cache.equals(build_cache(dataset, "bic", max_parents=2))


def test_listener_hears_of_every_piece():
    heard = []

    build_cache(table(5, 50), "bic", max_parents=2, distribute=True, listener=lambda *progress: heard.append(progress))

    assert heard == [(level, 3, 1, 1) for level in (1, 2, 3)]


def test_memory_limit_holds_for_a_distributed_build():
    with pytest.raises(MemoryLimitError, match=r"more than the 0\.0 GB allowed"):
        build_cache(table(8, 200), "bic", max_parents=2, distribute=True, memory_limit=100)


def die_once(key, folder):
    """Kill the worker at the first attempt of task 2."""
    mark = folder / "died"
    if key == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return key * key


def die(key):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(key):
    raise ValueError(f"task {key} cannot be done")


def test_tasks_that_a_worker_took_along_are_run_again(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2):
        done = dict(results_of(die_once, range(6), lambda key: (key, tmp_path)))

    assert (tmp_path / "died").exists()
    assert done == {key: key * key for key in range(6)}


def test_few_tasks_are_under_way_at_a_time():
    under_way, most = 0, 0

    def arguments(key):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        return (key,)

    def work(key):
        nonlocal under_way
        time.sleep(0.001)
        under_way -= 1
        return key

    with joblib.parallel_config("threading", n_jobs=2):
        done = dict(results_of(work, range(60), arguments))

    assert len(done) == 60
    assert most <= 2 * 2 + 2  # two per worker, and one that each worker's end calls for before it is counted


def test_workers_that_always_die_are_given_up(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 2)

    with (
        joblib.parallel_config("loky", n_jobs=2),
        pytest.raises(ClusterError, match=r"the workers were lost 2 times in a row with 1 of 1 tasks to do \(Term"),
    ):
        list(results_of(die, [0], lambda key: (key,)))


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_a_task_that_fails_raises_its_own_error(backend):
    with joblib.parallel_config(backend, n_jobs=2), refusal(ValueError, "task 0 cannot be done"):
        list(results_of(fail, [0], lambda key: (key,)))


def test_arguments_that_cannot_be_made_raise_their_own_error():
    def arguments(key):
        raise ValueError("no arguments")

    with refusal(ValueError, "no arguments"):
        list(results_of(fail, [0], arguments))


def test_a_scheduler_that_does_not_answer_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.5)

    with (
        pytest.raises(ClusterError, match=r"the scheduler 'tcp://127.0.0.1:1' does not answer within 0.5 s; start it"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass


def test_without_dask_a_scheduler_is_one_clear_error(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)

    with (
        refusal(ClusterError, "a scheduler needs the package 'distributed': pip install 'exactbnc[cluster]'"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass


def test_the_plan_is_what_a_distributed_build_runs():
    plan = plan_build(table(6, 60), "bdeu", max_parents=2)

    assert plan.run(distribute=True).equals(plan.run())
