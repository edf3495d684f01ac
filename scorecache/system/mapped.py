"""Arrays in a temporary file instead of memory: the system keeps as much of them in memory as there is room for."""

from __future__ import annotations

import os
import tempfile
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def mapped_array(shape: tuple[int, ...], dtype: DTypeLike, *, least_bytes: int = 1) -> NDArray[Any]:
    """Room for an array in a file of its own, which has no name and vanishes with the array; smaller ones in memory.

    The place on the disk is taken at once: a full disk is an OSError here, and not a signal at some later write.
    """
    n_bytes = prod(shape) * np.dtype(dtype).itemsize
    if n_bytes < least_bytes:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:
        try:
            if hasattr(os, "posix_fallocate"):  # not on macOS and Windows
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.asarray(np.memmap(file, dtype, "w+", shape=shape))
        except OSError as error:
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from None
