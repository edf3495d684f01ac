"""The exceptions of problems and solvers that a caller may want to catch."""

from __future__ import annotations

import os

from scorecache.errors import InputError, ParameterError


class InfeasibleError(ParameterError):
    """No network satisfies the constraints; the message names a small contradictory subset."""


class UnsafeCacheError(InputError):
    """The cache was pruned in a way that may have lost the optimum under these constraints."""


class NetworkFileError(InputError):
    """A network file is faulty, at a line if that is known: `path:line: what was expected, what came`."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, message: str) -> None:
        where = os.fspath(path) if line is None else f"{os.fspath(path)}:{line}"
        super().__init__(f"{where}: {message}")
        self.path = os.fspath(path)
        self.line = line
