"""Where numba meets the kernels: how one is made, kept and accounted for. Loading this module loads numba."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core import event
from numba.core.caching import FunctionCache

from scorecache.system.compiled import COMPILING

_NEEDED: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
_NO_ENTRY: dict[str, Any] = {"no_cpython_wrapper": True}


def dispatcher(py_func: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return numba's compiled function; its machine code is kept if a folder for it can be written to."""
    made = njit(**_NEEDED, **options)(py_func)
    with contextlib.suppress(RuntimeError):  # numba found no folder
        made._cache = _KernelCache(py_func)  # type: ignore[no-untyped-call]
    _KERNELS.add(made)
    return made


def inner_dispatcher(py_func: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the function for the kernels that call it: no entry from Python, no file, one version per kind of number.

    Numba would compile a second version for a call with `-1` or `(0, n)` in place of variables.
    """
    made: Any = njit(**_NEEDED, **options, **_NO_ENTRY)(py_func)
    of_types = made.get_call_template
    made.get_call_template = lambda args, kws: of_types(
        tuple(map(_without_value, args)), {name: _without_value(own) for name, own in kws.items()}
    )
    _KERNELS.add(made)
    return made


def _without_value(own: Any) -> Any:
    has_value = isinstance(own, (types.IntegerLiteral, types.BooleanLiteral, types.Tuple))
    return types.unliteral(own) if has_value else own  # type: ignore[no-untyped-call]


class _KernelCache(FunctionCache):
    """A cache that a full disk does not turn into an error."""

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError:
            self.disable()  # type: ignore[no-untyped-call]


class _Listener(event.Listener):
    """Stops the work clock while the compiler is busy, and announces the first kernel that is not kept yet."""

    announced = False

    def on_start(self, event: Any) -> None:
        COMPILING.start()
        if event.kind == "numba:compile" and not self.announced and event.data["dispatcher"] in _KERNELS:
            self.announced = True
            _announce()

    def on_end(self, event: Any) -> None:
        COMPILING.stop()


def _announce() -> None:
    """Say on a terminal why nothing seems to happen."""
    if sys.stderr is not None and sys.stderr.isatty() and multiprocessing.current_process().name == "MainProcess":
        print("compiling kernels, once per installation ...", file=sys.stderr)


_KERNELS: set[Any] = set()
_LISTENER = _Listener()
event.register("numba:compile", _LISTENER)  # type: ignore[no-untyped-call]
event.register("numba:compiler_lock", _LISTENER)  # type: ignore[no-untyped-call]
