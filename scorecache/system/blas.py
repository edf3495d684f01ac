"""Linear algebra on one thread, where its matrices are small.

A quasi-Newton step works on vectors of some hundred numbers. BLAS starts its threads for them all the same, which then
wait for each other: on two cores a fit of 40 ms took 0.8 s of CPU.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread within the block.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    """What knows the libraries that are loaded; numpy's and scipy's are, once scipy's linear algebra is."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
