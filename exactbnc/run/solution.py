"""The answer to a problem, with how good it is known to be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from exactbnc.graph.dag import DAG
from exactbnc.run.events import Progress
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    import networkx

INTEGER_METHOD = "order"
"""The method whose every decision is made in whole numbers. Another one without a tolerance decided by its root alone,
which computes so too: what is decided in floating point has a tolerance."""

MINIMAL_METHOD = "class-minimal"
"""The method that finds the fewest class parameters, and of the networks that have them the best score."""

AGREEMENT = 1e-6
"""How far apart, relative to the score, two solvers may be and still agree."""


class Status(StrEnum):
    """What is known: the best network is proved; a network with a gap; there is none; nothing yet.

    Attributes
    ----------
    OPTIMAL, FEASIBLE, INFEASIBLE, UNKNOWN
        In this order. A status compares equal to its text.

    Examples
    --------
    >>> Status("optimal") is Status.OPTIMAL, Status.FEASIBLE == "feasible"
    (True, True)
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Statistics:
    """What a run took, summed over components; None where a solver does not count it.

    Parameters
    ----------
    wall_seconds
        The whole run.
    ascent_seconds, primal_seconds, lp_seconds
        CPU time at the root: dual ascent, local search for networks, linear programs.
    search_seconds, scip_seconds
        CPU time of the search over orders and of branch-and-cut.
    states, nodes, n_nodes
        States of the search over orders; nodes of branch-and-cut; nodes of the tree solver, which has none.
    cuts, lp_iterations
        Cuts in use at the root and added by branch-and-cut; simplex iterations of branch-and-cut.
    n_columns, n_alive
        Families of the problem, and those that the root left.
    n_free, memory_bytes
        Variables in the tables of dynamic programming, and the bytes of these.
    n_components
        Components that were solved one by one.
    class_parameters_bound
        Of a class-minimal network that is not proved: no lossless network has fewer class parameters.
    earlier_seconds, bound_from, checkpoint
        Wall time of the runs before this one, "checkpoint" if the bound comes from one of them, and why the file of the
        checkpoint could not be written.

    Examples
    --------
    >>> Statistics(wall_seconds=0.5, n_free=8).to_json()
    {'wall_seconds': 0.5, 'n_free': 8}
    """

    wall_seconds: float | None = None
    ascent_seconds: float | None = None
    primal_seconds: float | None = None
    lp_seconds: float | None = None
    search_seconds: float | None = None
    scip_seconds: float | None = None
    states: int | None = None
    nodes: int | None = None
    n_nodes: int | None = None
    cuts: int | None = None
    lp_iterations: int | None = None
    n_columns: int | None = None
    n_alive: int | None = None
    n_free: int | None = None
    memory_bytes: int | None = None
    n_components: int | None = None
    class_parameters_bound: int | None = None
    earlier_seconds: float | None = None
    bound_from: str | None = None
    checkpoint: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What is known, by name."""
        known = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in known.items() if value is not None}

    @classmethod
    def total(cls, parts: Iterable[Statistics]) -> Statistics:
        """Counts and seconds added over components."""
        sums: dict[str, Any] = {}
        for part in parts:
            for name, value in part.to_json().items():
                sums[name] = sums.get(name, 0) + value
        return cls(**sums)


@dataclass(frozen=True)
class Solution:
    """A network, its score, and an upper bound on every network's score.

    Parameters
    ----------
    status
        What is known.
    dag, score
        The best network met and its score; None if there is none.
    bound
        No network scores more. Of a class-minimal network: none with as few class parameters, and infinite until that
        is proved.
    method
        The solver, or several joined by "+".
    stop_reason
        "proved", "infeasible", or the limit that ended the run: "time", "gap", "nodes", "memory", "interrupted".
    tolerance
        The largest absolute difference that "optimal" leaves open.
    cache_is_safe
        Whether the best network over the listed families is the best of all.
    class_name
        The class of a classifier.
    statistics
        What the run took.
    trace
        What was known and when, at most 500 entries; the last is the answer.

    Examples
    --------
    >>> dag = DAG.from_modelstring("[A][B|A]")
    >>> solution = Solution(Status.FEASIBLE, dag, -2.5, -2.0, "dp", "time", 1e-9, True)
    >>> solution.gap, solution.relative_gap
    (0.5, 0.2)
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
    statistics: Statistics = field(default_factory=Statistics)
    trace: tuple[Progress, ...] = field(default=(), compare=False, repr=False)

    def to_networkx(self) -> networkx.DiGraph:
        """The network with its class, score, bound and status as graph attributes.

        Returns
        -------
        networkx.DiGraph

        Raises
        ------
        ParameterError
            If there is no network.

        Examples
        --------
        >>> dag = DAG.from_modelstring("[A][B|A]")
        >>> graph = Solution(Status.OPTIMAL, dag, -2.5, -2.5, "dp", "proved", 1e-9, True).to_networkx()
        >>> graph.graph["status"], list(graph.edges)
        ('optimal', [('A', 'B')])
        """
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


def proof_arithmetic(method: str, tolerance: float) -> str:
    """The arithmetic in which a method proved that a network is best.

    >>> proof_arithmetic("order", 0.0)
    'in whole numbers of 1e-8'
    >>> proof_arithmetic("dp", 1e-9)
    'within 1e-09 in floating point'
    """
    if tolerance == 0.0:
        return "in whole numbers of 1e-8"
    return f"within {tolerance:.1g} in {'whole numbers' if method == INTEGER_METHOD else 'floating point'}"


def agree(first: Solution, second: Solution) -> bool | None:
    """Whether two independent answers to a problem agree; None where one of them is not proved."""
    if not {first.status, second.status} <= {Status.OPTIMAL, Status.INFEASIBLE}:
        return None
    if first.status is not second.status:
        return False
    if first.score is None or second.score is None:
        return True
    return abs(first.score - second.score) <= AGREEMENT * max(1.0, abs(first.score))
