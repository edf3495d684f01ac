"""The exceptions of problems and solvers that a caller may want to catch."""

from __future__ import annotations

from scorecache.errors import InputError, ParameterError


class InfeasibleError(ParameterError):
    """No network satisfies the constraints; the message names a small contradictory subset."""


class UnsafeCacheError(InputError):
    """The cache was pruned in a way that may have lost the optimum under these constraints."""
