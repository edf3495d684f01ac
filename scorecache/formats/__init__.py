"""Score files: `read_cache` and `write_cache` for every format in the registry `FORMATS`.

The format follows from the suffix, after `.gz` or `.xz` is taken off; a file with no known suffix is read as `.jkl`,
as other programs do. `-` is standard input or output.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.formats import jkl, pss
from scorecache.formats._writing import with_int_names
from scorecache.system.unpack import PACKED_SUFFIXES

__all__ = ["FORMATS", "Format", "read_cache", "write_cache"]


@dataclass(frozen=True)
class Format:
    """How to read and write one kind of score file; both functions take `-` for standard input and output."""

    suffixes: tuple[str, ...]
    read: Callable[[str], ScoreCache]
    write: Callable[[ScoreCache, str], None]


FORMATS: dict[str, Format] = {
    "jkl": Format(jkl.SUFFIXES, jkl.read, jkl.write),
    "pss": Format(pss.SUFFIXES, pss.read, pss.write),
}

OTHER_PACKINGS = (".7z", ".bz2", ".lz4", ".lzma", ".rar", ".tar", ".tgz", ".txz", ".z", ".zip", ".zst")
"""Endings that promise a packing which is neither read nor written."""

_DEFAULT = "jkl"


def read_cache(path: str | os.PathLike[str], *, format: str | None = None) -> ScoreCache:
    """Read a score file, packed or not, with its record if there is one beside it.

    Parameters
    ----------
    path : path-like
        A `.jkl` or `.pss` file, also `.gz` or `.xz`; "-" is standard input.
    format : {"jkl", "pss"}, optional
        By default as the path ends.

    Returns
    -------
    ScoreCache

    Raises
    ------
    ScoreFileError
        The file is faulty; the message names the line.

    Examples
    --------
    >>> cache = read_cache("instances/iris.bdeu.3.jkl")
    >>> cache.n_vars, cache.n_families
    (5, 31)
    """
    return format_of(path, format).read(os.fspath(path))


def write_cache(
    cache: ScoreCache, path: str | os.PathLike[str], *, format: str | None = None, int_names: bool = False
) -> None:
    """Write a score file and its record, whole or not at all.

    Parameters
    ----------
    cache : ScoreCache
    path : path-like
        As in `read_cache`; "-" is standard output.
    format : {"jkl", "pss"}, optional
        By default as the path ends.
    int_names : bool, default False
        Write the numbers of the columns in place of their names, as blip wants them.

    Raises
    ------
    ParameterError
        If the format cannot hold the cache, or is not known.

    Examples
    --------
    >>> import tempfile
    >>> from scorecache import ScoreCache
    >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cache(cache, folder + "/ab.jkl")
    ...     read_cache(folder + "/ab.jkl").equals(cache)
    True
    """
    format_of(path, format).write(with_int_names(cache) if int_names else cache, os.fspath(path))


def format_of(path: str | os.PathLike[str], name: str | None) -> Format:
    """The format of that name, or the one that the ending of the path says."""
    stem = Path(path)
    if stem.suffix.lower() in OTHER_PACKINGS:
        raise ParameterError(
            f"score files are packed with gzip or xz (.gz, .xz), not as {stem.suffix}. Got {os.fspath(path)!r} instead."
        )
    if stem.suffix.lower() in PACKED_SUFFIXES:
        stem = stem.with_suffix("")
    if name is None:
        known = (key for key, entry in FORMATS.items() if stem.suffix.lower() in entry.suffixes)
        name = next(known, _DEFAULT)
    if name not in FORMATS:
        raise ParameterError(f"the format must be one of {', '.join(FORMATS)}. Got {name!r} instead.")
    return FORMATS[name]
