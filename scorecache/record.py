"""What a cache remembers of how it was made, and therefore what it is safe for.

A `.jkl` file has no place for these facts, so they travel in a side-car `<file>.json`; a `.pss` file holds them in META
lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from scorecache.domain import Domain

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class CutShort:
    """A build that ended early: sets of `asked` parents were asked for (None: of any number), and `reason` ended it."""

    asked: int | None
    reason: str

    def describe(self, complete: int | None) -> str:
        """In words, of a cache that is complete for this many parents."""
        asked = "any number" if self.asked is None else str(self.asked)
        return f"complete to {complete} parents, {asked} were asked for: {self.reason}"


@dataclass(frozen=True)
class Record:
    """Score and parameters, domain, pruning, and the data they belong to.

    `prior` is what `StructurePrior.to_json` gives of the prior in the scores, empty without one. `interventions` are
    the numbers of rows in which variables were set, which do not count for their families.

    If the build was `cut_short`, the domain's `max_parents` says to how many parents the cache is complete.

    `pruning` is "none" or "dominance"; with a `prune_gap` g, sets within g of being dominated were kept.
    """

    score: str
    parameters: Mapping[str, Any]
    domain: Domain
    pruning: str
    prune_gap: float = 0.0
    n_rows: float | None = None
    states: tuple[tuple[str, ...], ...] = ()
    data_sha256: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    interventions: Mapping[str, int] = field(default_factory=dict)
    interventions_sha256: str | None = None
    prior: Mapping[str, Any] = field(default_factory=dict)
    cut_short: CutShort | None = None

    def to_json(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
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
        if self.interventions:
            facts |= {"interventions": dict(self.interventions), "interventions_sha256": self.interventions_sha256}
        if self.prior:
            facts["prior"] = dict(self.prior)
        if self.cut_short is not None:
            facts["cut_short"] = asdict(self.cut_short)
        return facts

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
            "class_minimal": f"class-minimal networks with class {domain.class_name!r}",
        }[domain.structure]
        safe = [f"{described}{limits}{with_arcs}"]
        if self.pruning == "none":
            safe.append("any constraint that its parent sets can express (nothing was pruned)")
        return safe
