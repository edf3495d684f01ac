"""`.jkl` score files (Jaakkola's format; also `.scores`, `.jaa`), the format that most programs share.

    3               the number of variables, then for each of them
    A 2             its name and its number of parent sets, then for each set
    -10.5 0         the score, the number of parents,
    -12.25 1 C      and their names, which may be those of later variables
    ...

Read line by line; comment lines (`#`) and blank lines may stand anywhere. A name is one word and never an index: `0` is
the name of a variable. The record of a cache does not fit in here and travels in the side-car `<file>.json`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from scorecache.cache import ScoreCache
from scorecache.errors import ScoreFileError
from scorecache.formats._facts import facts_of, restore_record
from scorecache.formats._source import STDIO, Source, is_score, open_source, shown
from scorecache.formats._table import FamilyTable
from scorecache.formats._writing import check_writable, named_families
from scorecache.system.atomic import ByteSink, atomic_write
from scorecache.system.files import read_input

SUFFIXES = (".jkl", ".scores", ".jaa")

# A longer number is no count of anything.
_MOST_DIGITS = 18


def read(path: str) -> ScoreCache:
    """Read a score file, and its side-car if there is one that belongs to it."""
    with open_source(path) as source:
        cache = _read_table(source).to_cache()
    sidecar = sidecar_of(path)
    if path == STDIO or not sidecar.is_file():
        return cache
    record = restore_record(read_input(sidecar), cache.names, source.sha256(), where=str(sidecar))
    return replace(cache, record=record)


def write(cache: ScoreCache, path: str) -> None:
    """Write a cache, with its record in a side-car; without a record an old side-car goes."""
    check_writable(cache)
    if path == STDIO:
        _write_families(cache, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif cache.record is None:
        with atomic_write(path) as (scores,):
            _write_families(cache, scores)
        sidecar_of(path).unlink(missing_ok=True)
    else:
        with atomic_write(path, sidecar_of(path)) as (scores, sidecar):
            facts = facts_of(cache.record, _write_families(cache, scores))
            sidecar.write(f"{json.dumps(facts, indent=2, sort_keys=True)}\n".encode())


def sidecar_of(path: str) -> Path:
    """Where the record of a score file is kept."""
    return Path(f"{path}.json")


def _read_table(source: Source) -> FamilyTable:
    rows = source.rows()
    n_vars = _read_n_vars(source, rows)
    table = FamilyTable(source)
    for words in rows:
        if table.names and _is_set(words):
            child, n_sets = table.names[-1], table.n_sets_of_last
            raise source.fault(f"child {child!r} announces {n_sets} parent sets but continues with {shown(words)}")
        if len(table.names) == n_vars:
            raise source.fault(f"the file announces {n_vars} variables but continues with {shown(words)}")
        _read_child(source, words, rows, table)
    if len(table.names) < n_vars:
        raise source.fault(f"the file announces {n_vars} variables but lists {len(table.names)}")
    return table


def _read_n_vars(source: Source, rows: Iterator[list[bytes]]) -> int:
    words = next(rows, None)
    if words is None:
        raise source.fault("expected the number of variables, but the file is empty or all comments")
    n_vars = _count(words[0]) if len(words) == 1 else None
    if not n_vars:
        raise source.fault(f"expected a line with the number of variables, at least 1, got {shown(words)}")
    return n_vars


def _read_child(source: Source, header: list[bytes], rows: Iterator[list[bytes]], table: FamilyTable) -> None:
    n_sets = _count(header[1]) if len(header) == 2 else None
    if n_sets is None:
        raise source.fault(f"expected a variable's name and its number of parent sets, got {shown(header)}")
    table.start_child(header[0])
    for words in islice(rows, n_sets):
        try:
            score, n_parents = float(words[0]), int(words[1])
        except (ValueError, IndexError):
            raise _set_fault(source, words, table, n_sets) from None
        if n_parents != len(words) - 2 or b"_" in words[0]:
            raise _set_fault(source, words, table, n_sets)
        table.add(score, words[2:])
    if table.n_sets_of_last < n_sets:
        raise _too_few_sets(source, table, n_sets)


def _set_fault(source: Source, words: list[bytes], table: FamilyTable, n_sets: int) -> ScoreFileError:
    """Say what is wrong with a line that should be a parent set; it may be the next child's header."""
    if len(words) == 2 and _count(words[1]) is not None and not _is_decimal(words[0]):
        return _too_few_sets(source, table, n_sets)
    child = table.names[-1]
    n_parents = _count(words[1]) if len(words) > 1 and is_score(words[0]) else None
    if n_parents is None:
        expected = "a score, the number of parents and their names"
        return source.fault(f"expected {expected} for a parent set of child {child!r}, got {shown(words)}")
    return source.fault(f"a parent set of child {child!r} announces {n_parents} parents but lists {len(words) - 2}")


def _too_few_sets(source: Source, table: FamilyTable, n_sets: int) -> ScoreFileError:
    child, n_listed = table.names[-1], table.n_sets_of_last
    return source.fault(f"child {child!r} announces {n_sets} parent sets but lists {n_listed}")


def _is_set(words: list[bytes]) -> bool:
    """Is this a parent set where a header is due? `3 0` is not: it reads as a variable named 3 without sets."""
    return len(words) > 1 and _is_decimal(words[0]) and _count(words[1]) == len(words) - 2


def _is_decimal(word: bytes) -> bool:
    """Is this a score, and no integer that may be a variable's name?"""
    return is_score(word) and not word.isdigit()


def _count(word: bytes) -> int | None:
    return int(word) if word.isdigit() and len(word) <= _MOST_DIGITS else None


def _write_families(cache: ScoreCache, sink: ByteSink) -> str:
    """Write the text of the file; returns its sha256."""
    sha256 = hashlib.sha256()
    for block in _blocks(cache):
        sha256.update(block)
        sink.write(block)
    return sha256.hexdigest()


def _blocks(cache: ScoreCache) -> Iterator[bytes]:
    yield f"{cache.n_vars}\n".encode()
    for child, name in enumerate(cache.names):
        lines = [f"{name} {cache.n_families_of(child)}"]
        for score, parents in named_families(cache, child):
            lines.append(" ".join([repr(score), str(len(parents)), *parents]))
        lines.append("")
        yield "\n".join(lines).encode()
