"""The record of a cache as JSON text, tied to the scores it was written with.

A record says what a cache is safe for, so it must not outlive its scores: another program may replace the score file
and leave the record behind. The text therefore holds the variables' names in order and a hash of the scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from scorecache.domain import Domain
from scorecache.errors import InputError, ParameterError
from scorecache.record import SCHEMA_VERSION, CutShort, Record
from scorecache.scores.prior import StructurePrior
from scorecache.system.jsonfile import decode_json

Count = Annotated[int, msgspec.Meta(ge=0)]


class DomainFacts(msgspec.Struct, rename={"class_name": "class"}):
    """What `Domain.to_json` gives."""

    family: str
    class_name: str | None = None
    k: Count | None = None
    max_parents: Count | None = None
    required_arcs: list[tuple[str, str]] = []
    forbidden_arcs: list[tuple[str, str]] = []
    tiers: list[list[str]] = []
    numbers: list[str] = []


class PriorFacts(msgspec.Struct):
    """What `StructurePrior.to_json` gives."""

    edge: float | list[tuple[str, str, float]] | None = None
    size: bool = False
    complexity: float = 0.0

    def prior(self, names: Sequence[str]) -> StructurePrior:
        """The prior; a ParameterError if it is of other variables."""
        found = StructurePrior(self.edge, self.size, self.complexity)
        found.check(names)
        return found


class CutFacts(msgspec.Struct):
    """What `CutShort` holds."""

    asked: Count | None
    reason: str


class RecordFacts(msgspec.Struct):
    """What `Record.to_json` gives; what has a default may be absent."""

    score: str
    parameters: dict[str, int | float | str | list[list[float]]]
    domain: DomainFacts
    pruning: Literal["none", "dominance"]
    prune_gap: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    n_rows: Count | Annotated[float, msgspec.Meta(ge=0)] | None = None
    states: dict[str, list[str]] | None = None
    data_sha256: str | None = None
    versions: dict[str, str] | None = None
    interventions: dict[str, Count] | None = None
    interventions_sha256: str | None = None
    prior: PriorFacts | None = None
    cut_short: CutFacts | None = None

    def record(self, names: Sequence[str]) -> Record:
        """The record of a cache with these variables; a ParameterError if the facts do not fit them."""
        states = self.states or {}
        absent = [name for name in names if states and name not in states]
        if absent:
            raise ParameterError(f"'states' lists none of {absent[0]!r}")
        recipe = self.domain
        domain = Domain.of(
            names,
            recipe.family,
            class_name=recipe.class_name,
            k=recipe.k,
            max_parents=recipe.max_parents,
            required_arcs=recipe.required_arcs,
            forbidden_arcs=recipe.forbidden_arcs,
            tiers=recipe.tiers,
            numbers=recipe.numbers,
        )
        return Record(
            score=self.score,
            parameters=self.parameters,
            domain=domain,
            pruning=self.pruning,
            prune_gap=self.prune_gap,
            n_rows=self.n_rows,
            states=tuple(tuple(states[name]) for name in names) if states else (),
            data_sha256=self.data_sha256,
            versions=self.versions or {},
            interventions=self.interventions or {},
            interventions_sha256=self.interventions_sha256,
            prior={} if self.prior is None else self.prior.prior(names).to_json(),
            cut_short=None if self.cut_short is None else CutShort(self.cut_short.asked, self.cut_short.reason),
        )


class _Head(msgspec.Struct):
    """What ties the facts to their scores."""

    schema_version: int
    names: list[str]
    scores_sha256: str


def facts_of(record: Record, sha256: str) -> dict[str, Any]:
    """Everything that `restore_record` needs, ready for JSON."""
    return {"names": list(record.domain.names), "scores_sha256": sha256, **record.to_json()}


def restore_record(text: bytes, names: Sequence[str], sha256: str, *, where: str) -> Record | None:
    """Read a record; None, with a warning that begins with `where`, if it is not ours or speaks of other scores."""
    try:
        head = decode_json(text, _Head, _fault)
        if head.schema_version > SCHEMA_VERSION:
            raise InputError(f"schema_version {head.schema_version} is newer than {SCHEMA_VERSION}")
        if head.names == list(names) and head.scores_sha256 == sha256:
            return decode_json(text, RecordFacts, _fault).record(names)
        reason = "was written for other scores"
    except (InputError, ParameterError) as error:
        reason = f"is no record of this version ({error!s:.200})"
    warnings.warn(f"{where} {reason}; the scores are read as those of another program, without a record", stacklevel=4)
    return None


def _fault(line: int | None, message: str) -> InputError:
    return InputError(message if line is None else f"line {line}: {message}")
