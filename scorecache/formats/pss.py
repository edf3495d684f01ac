"""`.pss` score files (URLearning; GOBNILP reads and writes them too).

    META score_type = BDeu          facts about the file, before the first variable
    VAR A                           a variable, then
    META arity=2                    facts about it
    -10.5                           and its parent sets: the score and the parents' names,
    -12.25 C                        which may be those of later variables

Lines that begin with `#` are comments. Of the METAs only our own `exactbnc_record` is read: the record of the cache as
JSON, tied to the scores by their hash. The others are written for people and other programs.

URLearning tests whether a line contains "meta" or "var " anywhere and wants exactly one "=" in a META, so the JSON
escapes blanks and "=", values that would break the rule are left out, and names that would are warned of.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace

from scorecache.cache import ScoreCache
from scorecache.formats._facts import facts_of, restore_record
from scorecache.formats._source import STDIO, Source, open_source, shown, to_score
from scorecache.formats._table import FamilyTable
from scorecache.formats._writing import check_writable, is_word, named_families
from scorecache.record import Record
from scorecache.system.atomic import atomic_write

SUFFIXES = (".pss",)

_RECORD = "exactbnc_record"


def read(path: str) -> ScoreCache:
    """Read a score file, with the record if it holds one that belongs to its scores."""
    with open_source(path) as source:
        table = FamilyTable(source)
        metas: dict[bytes, bytes] = {}  # of which only our own is kept
        for words in source.rows():
            try:
                score = to_score(words[0])
            except ValueError:
                _read_keyword(source, words, table, metas)
                continue
            if not table.names:
                raise source.fault(f"expected a line 'VAR name' before the first score, got {shown(words)}")
            table.add(score, words[1:])
        if not table.names:
            raise source.fault("expected at least one line 'VAR name', but the file has none")
        cache = table.to_cache()
    text = metas.get(_RECORD.encode())
    if text is None:
        return cache
    return replace(cache, record=restore_record(text, cache.names, _sha256(cache), where=f"{source.label}: the record"))


def write(cache: ScoreCache, path: str) -> None:
    """Write a cache and, if it has one, its record."""
    check_writable(cache)
    for name in cache.names:
        if "meta" in name.lower() or name.lower().endswith("var"):
            warnings.warn(f"URLearning misreads the variable name {name!r} ('meta' or 'var ' in a line)", stacklevel=3)
    if path == STDIO:
        sys.stdout.buffer.writelines(_blocks(cache))
        sys.stdout.buffer.flush()
        return
    with atomic_write(path) as (sink,):
        for block in _blocks(cache):
            sink.write(block)


def _read_keyword(source: Source, words: list[bytes], table: FamilyTable, metas: dict[bytes, bytes]) -> None:
    keyword = words[0].upper()
    if keyword == b"VAR" and len(words) == 2:
        table.start_child(words[1])
    elif keyword == b"META":
        name, _, value = b" ".join(words[1:]).partition(b"=")
        if not table.names and name.strip() == _RECORD.encode():
            metas[name.strip()] = value.strip()
    else:
        raise source.fault(f"expected 'VAR name', 'META name = value' or a score and parents, got {shown(words)}")


def _blocks(cache: ScoreCache) -> Iterator[bytes]:
    """The text of the file in pieces. It ends with an empty line, since GOBNILP reads the last line twice."""
    yield "".join(f"META {name} = {value}\n" for name, value in _metas(cache) if _fits(value)).encode()
    for child, name in enumerate(cache.names):
        lines = ["", f"VAR {name}", *_variable_metas(cache.record, child)]
        lines += [" ".join([repr(score), *parents]) for score, parents in named_families(cache, child)]
        lines.append("")
        yield "\n".join(lines).encode()
    yield b"\n"


def _metas(cache: ScoreCache) -> Iterator[tuple[str, str]]:
    yield "pss_version", "0.1"
    record = cache.record
    if record is None:
        return
    domain = record.domain
    yield "scorer_name", "exactbnc"
    yield "score_type", record.score
    if "ess" in record.parameters:
        yield "ess", str(record.parameters["ess"])
    yield "parent_limit", str(max(domain.limits))
    is_pruned_for_class = domain.is_classifier and record.pruning != "none"
    yield "pruning", f"{domain.structure}:{domain.class_name}" if is_pruned_for_class else record.pruning
    if record.n_rows is not None:
        yield "num_records", str(record.n_rows)
    if domain.class_name is not None:
        yield "class", domain.class_name
    if record.data_sha256 is not None:
        yield "data_sha256", record.data_sha256
    facts = json.dumps(facts_of(record, _sha256(cache)), sort_keys=True, separators=(",", ":"))
    yield _RECORD, facts.replace("=", r"\u003d").replace(" ", r"\u0020")


def _variable_metas(record: Record | None, child: int) -> Iterator[str]:
    if record is None or not record.states:
        return
    states = record.states[child]
    yield f"META arity={len(states)}"
    if all(_fits(state) and "," not in state and not state.lower().endswith("var") for state in states):
        yield f"META values={' '.join(states)}"


def _fits(value: str) -> bool:
    """Can a META line hold this value? What does not fit is in the record all the same."""
    return is_word(value) and "=" not in value


def _sha256(cache: ScoreCache) -> str:
    """Of the families, not of the file's bytes: the file holds the hash itself."""
    sha256 = hashlib.sha256()
    for array, kind in (
        (cache.child_start, "<i8"),
        (cache.scores, "<f8"),
        (cache.parent_start, "<i8"),
        (cache.parents, "<i4"),
    ):
        sha256.update(array.astype(kind).tobytes())
    return sha256.hexdigest()
