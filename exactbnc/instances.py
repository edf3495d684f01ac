"""The small data tables and score files that come with the package.

    from exactbnc import instances
    from scorecache import read_csv

    data = read_csv(instances.path("asia-500.csv"))

Their place in the repository is `instances/`; a wheel carries the same files inside the package.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from scorecache.errors import ParameterError
from scorecache.wording import listing


def names() -> tuple[str, ...]:
    """The names of the files: tables (.csv), score files (.jkl) with records, optima and best known values (.solu)."""
    return tuple(sorted(path.name for path in _folder().iterdir()))


def path(name: str) -> Path:
    """Where a file is.

    >>> path("asia-500.csv").name
    'asia-500.csv'
    """
    if name not in names():
        raise ParameterError(f"{name!r} is not an instance; these are {listing(names(), most=100)}")
    return _folder() / name


def _folder() -> Path:
    """Inside the package where a wheel put it, beside the package in a checkout."""
    package = Path(str(files("exactbnc")))
    installed = package / "_instances"
    return installed if installed.is_dir() else package.parent / "instances"
