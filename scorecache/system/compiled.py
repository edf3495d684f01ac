"""Compiled functions: numba is loaded when one of them is first called, and what compiling takes is accounted for.

`@kernel` stands where numba's `njit` would. The module of a kernel imports without numba; the first call, from Python
or from a kernel that is being compiled, makes the dispatcher. A kernel that Python calls is compiled with everything it
calls and kept where numba finds a folder that can be written to: `NUMBA_CACHE_DIR`, `__pycache__` beside the source,
the user's cache folder. Without any of them, or with a full disk, the code is compiled in each process and not kept.
A kernel that only other kernels call has no entry from Python and no file of its own: both cost compile time.

Time limits exclude compiling: measure them with `work_clock`.
"""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar, overload

import numpy as np

__all__ = ["Kernel", "compile_seconds", "for_work", "is_loaded", "kernel", "popcount", "trailing_zeros", "work_clock"]

MOST_PLAIN_STEPS = 1 << 17
"""Inner steps that a kernel's own Python takes less than a tenth of a second for."""

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that numba compiles for the types of its arguments when it is first called with them."""

    def __init__(self, py_func: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self._options = options
        self._dispatcher: Any = None
        self._inner: Any = None

    def __call__(self, *args: Any) -> Any:
        return (self._dispatcher or self._load())(*args)

    def _load(self) -> Any:
        with _LOADING:
            if self._dispatcher is None:
                COMPILING.start()
                try:
                    from scorecache.system import _dispatch

                    self._dispatcher = _dispatch.dispatcher(self.py_func, self._options)
                finally:
                    COMPILING.stop()
            return self._dispatcher

    @property
    def is_loaded(self) -> bool:
        """Whether the kernel has been called in this process."""
        return self._dispatcher is not None

    @property
    def _numba_type_(self) -> Any:
        """How numba types a kernel that another one calls."""
        with _LOADING:
            if self._inner is None:
                from scorecache.system import _dispatch

                self._inner = _dispatch.inner_dispatcher(self.py_func, self._options)
            return self._inner._numba_type_

    @property
    def targetoptions(self) -> dict[str, Any]:
        """Where numba looks up whether to inline a kernel that another one calls."""
        return self._options


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(*, inline: str = "never") -> Callable[[F], F]: ...
def kernel(function: Any = None, /, *, inline: str = "never") -> Any:
    """Compile a function with numba on first use; it releases the GIL and its machine code is kept between runs.

    Parameters
    ----------
    function
        Plain loops over arrays and numbers, in the subset of Python that numba compiles.
    inline
        "always" copies the body into the kernels that call it.

    Returns
    -------
    Kernel
        Called like the function. `py_func` is the function itself.

    Examples
    --------
    >>> @kernel
    ... def triangle(n: int) -> int:
    ...     total = 0
    ...     for k in range(n + 1):
    ...         total += k
    ...     return total
    >>> triangle(4), triangle.py_func(4)
    (10, 10)
    """
    if function is None:
        return functools.partial(Kernel, inline=inline)
    return Kernel(function, inline=inline)


def is_loaded(function: Callable[..., Any]) -> bool:
    """Return whether a kernel has been called in this process.

    Examples
    --------
    >>> is_loaded(kernel(lambda x: x))
    False
    """
    return isinstance(function, Kernel) and function.is_loaded


def for_work(function: F, n_steps: float) -> F:
    """Return a kernel, or for little work its own Python code, so that numba is not loaded for it.

    Parameters
    ----------
    function
        A kernel whose Python code gives the same result, as it does without wrapping integers.
    n_steps
        About how often the statements of its innermost loops run.

    Examples
    --------
    >>> @kernel
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> for_work(double, 1)(4), double.is_loaded
    (8, False)
    """
    if isinstance(function, Kernel) and n_steps <= MOST_PLAIN_STEPS and not function.is_loaded:
        return function.py_func  # type: ignore[return-value]
    return function


def compile_seconds() -> float:
    """Return the seconds this process has spent loading numba and compiling, up to now.

    Examples
    --------
    >>> compile_seconds() >= 0
    True
    """
    return COMPILING.seconds(time.monotonic())


def work_clock() -> float:
    """Return a monotonic clock in seconds that stands still while a kernel is being compiled.

    Examples
    --------
    >>> started = work_clock()
    >>> 0 <= work_clock() - started < 1
    True
    """
    now = time.monotonic()
    return now - COMPILING.seconds(now)


class _Stopwatch:
    """The time during which at least one thread compiles; the garbage collector, a tenth of it, waits that long."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = 0
        self._total = 0.0
        self._since = 0.0
        self._collects = False

    def start(self) -> None:
        with self._lock:
            if self._running == 0:
                self._since = time.monotonic()
                self._collects = gc.isenabled()
                gc.disable()
            self._running += 1

    def stop(self) -> None:
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self._total += time.monotonic() - self._since
                if self._collects:
                    gc.enable()

    def seconds(self, now: float) -> float:
        with self._lock:
            return self._total + (max(0.0, now - self._since) if self._running else 0.0)


COMPILING = _Stopwatch()
_LOADING = Lock()


_1, _2, _4, _56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_PAIRS, _QUADS, _OCTETS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


@kernel
def popcount(word: np.uint64) -> int:
    """Return how many bits of a 64-bit word are set; LLVM knows the idiom and makes one instruction of it."""
    word = word - ((word >> _1) & _PAIRS)
    word = (word & _QUADS) + ((word >> _2) & _QUADS)
    return int((((word + (word >> _4)) & _OCTETS) * _BYTES) >> _56)


@kernel
def trailing_zeros(word: np.uint64) -> int:
    """Return the number of the lowest set bit of a 64-bit word that is not 0, as a signed number."""
    return int(np.int64(popcount(~word & (word - _1))))
