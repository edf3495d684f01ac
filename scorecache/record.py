"""What a cache remembers of how it was made, and therefore what it is safe for.

A `.jkl` file has no place for these facts, so they travel in a side-car `<file>.json`; a `.pss` file holds them in META
lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from scorecache.domain import Domain

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Record:
    """Score and parameters, domain, pruning, and the data they belong to.

    `pruning` is "none" or "dominance"; with a `prune_gap` g, sets within g of being dominated were kept.
    """

    score: str
    parameters: Mapping[str, float | int | str]
    domain: Domain
    pruning: str
    prune_gap: float = 0.0
    n_rows: int | None = None
    states: tuple[tuple[str, ...], ...] = ()
    data_sha256: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "score": self.score,
            "parameters": dict(self.parameters),
            "class": self.domain.class_name,
            "domain": self.domain.to_json(),
            "pruning": self.pruning,
            "prune_gap": self.prune_gap,
            "n_rows": self.n_rows,
            "states": {name: list(states) for name, states in zip(self.domain.names, self.states, strict=False)},
            "data_sha256": self.data_sha256,
            "versions": dict(self.versions),
        }

    @classmethod
    def from_json(cls, names: Sequence[str], facts: Mapping[str, Any]) -> Record:
        """Rebuild a record; raises KeyError, TypeError or ValueError where the facts are not ours."""
        if facts["schema_version"] > SCHEMA_VERSION:
            raise ValueError(f"schema_version {facts['schema_version']} is newer than {SCHEMA_VERSION}")
        _check_facts(facts)
        states = facts.get("states") or {}
        return cls(
            score=facts["score"],
            parameters=dict(facts["parameters"]),
            domain=Domain.from_json(names, facts["domain"]),
            pruning=facts["pruning"],
            prune_gap=float(facts.get("prune_gap", 0.0)),
            n_rows=facts.get("n_rows"),
            states=tuple(tuple(states[name]) for name in names) if states else (),
            data_sha256=facts.get("data_sha256"),
            versions=dict(facts.get("versions") or {}),
        )

    def safe_for(self) -> list[str]:
        """In words: the problems for which the best network over the kept families is the best of all."""
        domain = self.domain
        limits = f" with at most {domain.max_parents} parents" if domain.max_parents is not None else ""
        with_arcs = " under its required arcs" if domain.required_arcs else ""
        with_arcs += " under its forbidden arcs and tiers" if domain.forbidden_arcs or domain.tiers else ""
        described = {
            "general": "general networks",
            "naive_bayes": f"naive Bayes with class {domain.class_name!r}",
            "tan": f"TAN (and FAN) with class {domain.class_name!r}",
            "fan": f"FAN with class {domain.class_name!r}",
            "kdb": f"k-DB with k <= {domain.k} and class {domain.class_name!r}",
            "anb": f"ANB, k-DB and FAN with class {domain.class_name!r}",
        }[domain.structure]
        safe = [f"{described}{limits}{with_arcs}"]
        if self.pruning == "none":
            safe.append("any constraint that its parent sets can express (nothing was pruned)")
        return safe


def _check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse facts of other types than ours: they would be believed now and trip a command later."""
    gap, n_rows, states = facts.get("prune_gap", 0.0), facts.get("n_rows"), facts.get("states") or {}
    is_ours = {
        "score": isinstance(facts["score"], str),
        "parameters": all(_is_number(value) or isinstance(value, str) for value in facts["parameters"].values()),
        "pruning": facts["pruning"] in ("none", "dominance"),
        "prune_gap": _is_number(gap) and gap >= 0,
        "n_rows": n_rows is None or (type(n_rows) is int and n_rows >= 0),
        "states": all(isinstance(listed, list) and _are_texts(listed) for listed in states.values()),
        "data_sha256": _are_texts([facts.get("data_sha256") or ""]),
        "versions": _are_texts((facts.get("versions") or {}).values()),
    }
    for name, holds in is_ours.items():
        if not holds:
            raise ValueError(f"{name!r} cannot be {facts.get(name)!r:.60}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -inf < value < inf


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
