"""What is known of a network when it is written: its DAG and, perhaps, the solution and the problem it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Solution
from scorecache.errors import ParameterError
from scorecache.system.versions import SOLVING, versions


@dataclass(frozen=True)
class Origin:
    """How a file was made: the command as it was typed, program first, and the time in UTC (ISO 8601)."""

    command: tuple[str, ...]
    date: str

    def to_json(self) -> dict[str, Any]:
        """The facts for the provenance of a file, with the versions of what ran."""
        return {"command": list(self.command), "date": self.date, "versions": versions(SOLVING)}


@dataclass(frozen=True)
class Network:
    """A DAG with what is known about it; what every writer takes."""

    dag: DAG
    solution: Solution | None = None
    problem: Problem | None = None
    certificate: Mapping[str, Any] | None = None
    origin: Origin | None = None

    @classmethod
    def of(
        cls,
        result: Solution | DAG,
        problem: Problem | None = None,
        *,
        certificate: Mapping[str, Any] | None = None,
        origin: Origin | None = None,
    ) -> Network:
        """The network of a solution, or a network by itself."""
        if isinstance(result, DAG):
            return cls(result, None, problem, certificate, origin)
        if result.dag is None:
            raise ParameterError(f"there is no network to write: the status is {result.status.value!r}")
        return cls(result.dag, result, problem, certificate, origin)

    @property
    def class_name(self) -> str | None:
        if self.solution is not None and self.solution.class_name is not None:
            return self.solution.class_name
        return None if self.problem is None else self.problem.constraints.class_name

    def local_scores(self) -> dict[str, float] | None:
        """The score of every variable with its parents, edge penalty subtracted; None if not all are known."""
        if self.problem is None:
            return None
        problem, arcs = self.problem, self.dag.arcs
        parents: dict[str, set[int]] = {name: set() for name in self.dag.names}
        for parent, child in arcs:
            parents[child].add(problem.cache.index[parent])
        scores: dict[str, float] = {}
        for child, wanted in parents.items():
            families = problem.cache.families(problem.cache.index[child])
            found = next((score for score, listed in families if wanted == set(listed)), None)
            if found is None:
                return None
            scores[child] = found - problem.constraints.edge_penalty * len(wanted)
        return scores

    def arc_losses(self) -> list[list[Any]] | None:
        """[parent, child, what the score loses if the arc is removed], the arcs as in the DAG; None if not known."""
        if self.problem is None:
            return None
        from exactbnc.alternatives.arcs import removal_losses

        try:
            losses = removal_losses(self.problem, self.dag)
        except ParameterError:  # the network has a family that the score file or the constraints do not
            return None
        return [[*arc, losses[arc]] for arc in self.dag.arcs if arc in losses]

    def provenance(self) -> dict[str, Any] | None:
        """Where the network comes from: the constraints, the record of the score file, the command."""
        if self.problem is None:
            return None if self.origin is None else self.origin.to_json()
        record = self.problem.cache.record
        known: dict[str, Any] = {"constraints": self.problem.constraints.to_json()}
        if self.problem.unsound_reasons:
            known["unsound_reasons"] = list(self.problem.unsound_reasons)
        if record is not None:
            stored = record.to_json()
            kept = ("score", "parameters", "domain", "pruning", "n_rows", "data_sha256")
            known |= {name: stored[name] for name in kept} | {"score_versions": stored["versions"]}
        return known if self.origin is None else known | self.origin.to_json()
