"""The answer to a problem, with how good it is known to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from exactbnc.graph.dag import DAG
from exactbnc.run.events import Progress
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    import networkx


class Status(StrEnum):
    """What is known: the best network is proved; a network with a gap; there is none; nothing yet."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Solution:
    """A network, its score, and an upper bound on every network's score.

    `tolerance` is the largest absolute difference that "optimal" leaves open; `stop_reason` is "proved", "infeasible",
    or the limit that ended the search ("time", "gap", "nodes", "memory", "interrupted"). `trace` tells what was known
    and when, at most 500 entries; the last is the answer.
    """

    status: Status
    dag: DAG | None
    score: float | None
    bound: float
    method: str
    stop_reason: str
    tolerance: float
    cache_is_safe: bool
    class_name: str | None = None
    statistics: Mapping[str, float | int | str] = field(default_factory=dict)
    trace: tuple[Progress, ...] = field(default=(), compare=False, repr=False)

    def to_networkx(self) -> networkx.DiGraph:
        """The network with its class, score, bound and status as graph attributes."""
        from exactbnc.graph.nx import to_networkx

        if self.dag is None:
            raise ParameterError("there is no network to convert: " + self.status.value)
        return to_networkx(self.dag, self.class_name, score=self.score, bound=self.bound, status=self.status.value)

    @property
    def gap(self) -> float:
        """Bound less score; infinite without a network."""
        return float("inf") if self.score is None else max(0.0, self.bound - self.score)

    @property
    def relative_gap(self) -> float:
        """The gap over the score's size."""
        return float("inf") if self.score is None else self.gap / max(1.0, abs(self.score))
