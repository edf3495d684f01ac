"""Run independent tasks through joblib, on whatever backend is active, and run those again that were lost.

No backend is forced: `joblib.parallel_config("dask")`, or Ray's, sends the tasks to a cluster. A task that fails raises
its error here. A worker that dies takes its tasks with it; they are handed out again, until `PATIENCE` times in a row
nothing came back.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from scorecache.errors import ClusterError

PATIENCE = 3
"""How often in a row the workers may be lost without a single task done."""

AHEAD = "2 * n_jobs"
"""Tasks that joblib hands out in advance: results do not pile up."""

WAVE = 4
"""Tasks per worker that are handed out together where a backend gives its results all at once (Ray's)."""

CONNECT_SECONDS = 10.0
"""How long to wait for a scheduler, and then for its first worker."""

WATCH_SECONDS = 1.0
"""How often the workers are looked at while data are sent to them."""

Key = TypeVar("Key")
Result = TypeVar("Result")


def results_of(
    function: Callable[..., Result],
    keys: Sequence[Key],
    arguments: Callable[[Key], tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    client: Any = None,
    shared: Sequence[Any] = (),
) -> Iterator[tuple[Key, Result]]:
    """`function(*arguments(key))` for every key, as they are done.

    With a Dask `client`, or with joblib's Dask backend, they run on a cluster, and what is `shared` by the arguments is
    sent there once, as it is with Ray. If the only copy goes down with its worker, the tasks that need it are lost, and
    handed out again with a new copy. Without `n_jobs`, here or in joblib's configuration, a cluster is used as a whole.
    """
    if client is None and n_jobs in (None, 1) and "joblib" not in sys.modules:  # one at a time, on no backend
        for key in keys:
            yield key, function(*arguments(key))
        return
    waiting = dict.fromkeys(keys)
    n_failures = 0
    while waiting:
        try:
            config = _watched(client, shared)
            with config, closing(_one_round(function, list(waiting), arguments, n_jobs, shared)) as outcomes:
                for key, result, error in outcomes:
                    if error is not None:
                        raise error
                    del waiting[key]
                    n_failures = 0
                    yield key, result
        except _LostError as loss:
            n_failures += 1
            if n_failures == PATIENCE:
                raise ClusterError(
                    f"the workers were lost {PATIENCE} times in a row with {len(waiting)} of {len(keys)} tasks to do "
                    f"({loss}); have they enough memory, and the same version of exactbnc?"
                ) from loss.__cause__


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """A client of a Dask scheduler, such as `tcp://host:8786`, that has at least one worker."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError("a scheduler needs the package 'distributed': pip install 'exactbnc[cluster]'") from error
    client: Any = None
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        found = "does not answer" if client is None else "has no worker"
        if client is not None:
            client.close()
        raise ClusterError(
            f"the scheduler {scheduler!r} {found} within {CONNECT_SECONDS:g} s; "
            "start it with 'dask scheduler' and workers with 'dask worker tcp://HOST:8786'"
        ) from error
    with client:
        yield client


def sends_to_a_cluster() -> bool:
    """Does joblib's active backend send tasks to other machines, and is this not one of its tasks already?

    A classifier that is fitted inside somebody's distributed grid search scores on the worker where it is.
    """
    if "joblib" not in sys.modules:  # then nobody has chosen a backend
        return False
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return not type(backend).__module__.startswith("joblib._parallel_backends") and not _is_on_a_dask_worker()


def _is_on_a_dask_worker() -> bool:
    if "distributed" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


class _LostError(Exception):
    """The backend gave up, not a task."""


class _WatchingClient:
    """A Dask client that sends data to one worker, from which others fetch it, and watches the workers meanwhile.

    Sent to all of them at once, as joblib asks, Dask's scheduler tries without end to reach one that dies meanwhile,
    and sends nothing else until the client is gone (`Scheduler.replicate` of distributed 2026.8).
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def scatter(self, data: Any, **options: Any) -> Any:
        """As the client's own; a _LostError if a worker is lost before it is done."""
        if options.get("asynchronous"):
            return self._client.scatter(data, **options)
        from asyncio import run_coroutine_threadsafe

        before = set(self._client.ncores())
        sending = run_coroutine_threadsafe(
            self._client.scatter(data, asynchronous=True, **{**options, "broadcast": False, "hash": False}),
            self._client.loop.asyncio_loop,
        )
        from concurrent.futures import wait

        while not wait([sending], WATCH_SECONDS).done:
            if not before <= set(self._client.ncores()):
                sending.cancel()
                raise _LostError("a worker was lost while the data were sent")
        try:
            return sending.result()
        except Exception as error:
            raise _LostError(f"{type(error).__name__}: {error}".splitlines()[0]) from error


def _watched(client: Any, shared: Sequence[Any]) -> AbstractContextManager[Any]:
    """Dask with its workers watched, if there is a client or joblib's active backend has one; else nothing."""
    from joblib import parallel_config
    from joblib.parallel import get_active_backend

    options: dict[str, Any] = {}
    if client is None:
        backend, n_jobs = get_active_backend()
        if type(backend).__module__ != "joblib._dask" or _is_on_a_dask_worker():
            return nullcontext()
        client, options = backend.client, dict(backend.submit_kwargs)
        if n_jobs is not None:
            options["n_jobs"] = n_jobs
    config: AbstractContextManager[Any] = parallel_config(
        "dask", client=_WatchingClient(client), scatter=list(shared), **options
    )
    return config


def _one_round(
    function: Callable[..., Any],
    keys: Sequence[Any],
    arguments: Callable[[Any], tuple[Any, ...]],
    n_jobs: int | None,
    shared: Sequence[Any],
) -> Generator[tuple[Any, Any, Exception | None], None, None]:
    """Hand out the tasks once."""
    from joblib import delayed
    from joblib.parallel import get_active_backend

    own_errors: list[Exception] = []
    backend, n_chosen = get_active_backend()
    if n_jobs is None and n_chosen is None and sends_to_a_cluster():
        n_jobs = -1  # Ray's backend would take one worker, and then no other machine at all
    kept = {id(value): _Stored.on_ray(value) for value in shared} if _is_ray(backend) else {}

    def task(key: Any) -> Any:
        try:
            words = arguments(key)
        except Exception as error:
            own_errors.append(error)
            raise
        return delayed(_attempt)(function, key, *(kept.get(id(word), word) for word in words))

    hand_out = _as_they_come if backend.supports_return_generator else _in_waves
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*tasks (have been|which were).*")  # a round that is given up
            with closing(hand_out(keys, task, n_jobs)) as outcomes:
                for outcome in outcomes:
                    if not isinstance(outcome, tuple):  # Dask's word for a result that went down with its worker
                        raise TypeError(f"got {outcome!r} for a result")
                    yield outcome
    except Exception as error:
        if own_errors:
            raise own_errors[0] from None
        raise _LostError(f"{type(error).__name__}: {error}".splitlines()[0]) from error


def _as_they_come(
    keys: Sequence[Any], task: Callable[[Any], Any], n_jobs: int | None
) -> Generator[tuple[Any, Any, Exception | None], None, None]:
    from joblib import Parallel

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=AHEAD, batch_size=1)
    with closing(parallel(task(key) for key in keys)) as outcomes:
        yield from outcomes


def _in_waves(
    keys: Sequence[Any], task: Callable[[Any], Any], n_jobs: int | None
) -> Generator[tuple[Any, Any, Exception | None], None, None]:
    """Some tasks at a time, so that results neither pile up nor are all lost with one worker."""
    from joblib import Parallel, effective_n_jobs

    size = WAVE * effective_n_jobs(n_jobs)
    with Parallel(n_jobs=n_jobs, pre_dispatch=AHEAD, batch_size=1) as parallel:
        for start in range(0, len(keys), size):
            yield from parallel(task(key) for key in keys[start : start + size])


@dataclass(frozen=True)
class _Stored:
    """A value in Ray's object store, from where every machine fetches it once."""

    reference: Any

    @classmethod
    def on_ray(cls, value: Any) -> _Stored:
        import ray

        return cls(ray.put(value))

    def fetch(self) -> Any:
        import ray

        return ray.get(self.reference)


def _is_ray(backend: Any) -> bool:
    return type(backend).__module__.startswith("ray.")


def _attempt(function: Callable[..., Any], key: Any, *arguments: Any) -> tuple[Any, Any, Exception | None]:
    """Run a task on a worker; its error is a result, so that it differs from errors of the backend itself."""
    found = [word.fetch() if isinstance(word, _Stored) else word for word in arguments]
    try:
        return key, function(*found), None
    except Exception as error:
        return key, None, error
