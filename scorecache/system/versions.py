"""The versions that results depend on, for the provenance of files."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

SCORING = ("exactbnc", "numpy", "numba")
SOLVING = (*SCORING, "scipy", "highspy", "pyscipopt")


@cache
def versions(packages: tuple[str, ...] = SCORING) -> dict[str, str]:
    """Python's version and those of the packages, none of which is loaded."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed as a package"
    return found
