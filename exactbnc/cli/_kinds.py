"""Tell a file of the wrong kind from a faulty one, so that the error says what to do with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from scorecache.errors import InputError, ParameterError

FIRST_BYTES = 65_536
"""How many bytes of a file are read to recognise it."""


class Kind(StrEnum):
    """What the commands read or write, as a message calls it."""

    TABLE = "a data table"
    SCORES = "a score file"
    NETWORK = "a network"
    MODEL = "a model"
    GOBNILP_TEXT = "GOBNILP's text of a network"


_WAYS = {
    (Kind.SCORES, Kind.TABLE): "'exactbnc score' makes a score file of it",
    (Kind.NETWORK, Kind.TABLE): "'exactbnc learn' finds a network for it",
    (Kind.NETWORK, Kind.SCORES): "'exactbnc solve' finds its best network",
    (Kind.NETWORK, Kind.GOBNILP_TEXT): "it is written, not read; 'exactbnc solve -o NET.json' writes one that is read",
    (Kind.NETWORK, Kind.MODEL): "'exactbnc solve -o' writes a network by itself",
    (Kind.MODEL, Kind.TABLE): "'exactbnc learn' makes a model of it",
    (Kind.MODEL, Kind.NETWORK): "'exactbnc learn' makes a model, a network with its tables, from data",
    (Kind.MODEL, Kind.SCORES): "'exactbnc learn' makes a model from the data",
}
"""By the kind that was expected and the kind that came."""

_OTHER_SUFFIXES = (".bif", ".csv", ".dot", ".html", ".json", ".parquet", ".sem", ".tsv", ".xml")


@contextmanager
def expecting(path: str, *wanted: Kind) -> Iterator[None]:
    """If reading fails because the file is of another kind, raise an error that names both kinds."""
    try:
        yield
    except (InputError, ParameterError) as error:
        found = kind_of(path)
        if found is None or found in wanted:
            raise
        way = _WAYS.get((wanted[0], found), f"{wanted[0]} is wanted here")
        message = f"{str(error).removesuffix('.')}. This looks like {found}: {way}."
        raise (ParameterError if isinstance(error, ParameterError) else InputError)(message) from error


def kind_of(path: str) -> Kind | None:
    """What a file looks like from its beginning; None if it cannot be recognised."""
    from scorecache.system.files import open_input

    if not os.path.isfile(path):  # a pipe has been read, and would be waited for
        return None
    try:
        with open_input(path) as file:
            start = file.read(FIRST_BYTES)
    except (OSError, InputError):
        return None
    if start.startswith(b"PAR1"):
        return Kind.TABLE
    text = start.decode("utf-8-sig", errors="replace")
    if text.lstrip().startswith("{"):
        return _kind_of_json(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")][:2]
    first, second = (*lines, "", "")[:2]
    if first.startswith(("META ", "VAR ")) or (first.isdigit() and re.fullmatch(r"\S+\s+\d+", second)):
        return Kind.SCORES
    if re.match(r"network\b|digraph\b|<\?xml|<!DOCTYPE BIF|<BIF", first):
        return Kind.NETWORK
    if _is_gobnilp_text(first):
        return Kind.GOBNILP_TEXT
    is_table = any(first.count(sign) == second.count(sign) > 0 for sign in ",;\t|")
    return Kind.TABLE if is_table else None


def check_score_file_name(path: str, file_format: str | None) -> None:
    """Refuse to write scores into a file whose name promises something else."""
    suffix = Path(path).suffix.lower()
    if file_format is None and suffix in _OTHER_SUFFIXES:
        raise ParameterError(f"a score file must end in .jkl or .pss, packed or not. Got {path!r} instead.")


def _is_gobnilp_text(line: str) -> bool:
    """Is it `child<-p1,p2, score`?"""
    family, _, score = line.rpartition(" ")
    return "<-" in family and family.endswith(("<-", ",")) and re.fullmatch(r"-?\d+\.\d+", score) is not None


def _kind_of_json(text: str) -> Kind | None:
    if '"exactbnc.model"' in text or '"exactbnc.bayesnet"' in text:
        return Kind.MODEL
    return Kind.NETWORK if '"arcs"' in text else None
