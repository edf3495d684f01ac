"""Greedy hill climbing on a decomposable score: add, delete or reverse the arc that raises the score most.

    score(G) = sum over children v of local(v, parents of v)

so that a step costs the difference of one or two local scores. Two baselines of the papers are settings of it:

- GHC2 (Carvalho, Roos, Oliveira, Myllymaki 2011, Table 2): Weka's HillClimber with P = 2 and its other defaults, on LL
  or fCLL: at most two parents, *the class among them*; it begins with naive Bayes, whose arcs it may delete, and does
  not reverse arcs. Parameters are frequencies smoothed with 0.5.
- gGBN-BDeu (Sugahara, Ueno, section 3): general networks without a limit, from the empty one, on BDeu with ESS 1.

Reference: Heckerman, Geiger, Chickering (1995), section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._ascent import Ascent, Deadline, OnMove, SearchResult, ascend, classifier
from exactbnc.baselines.greedy._local_scores import LocalScores
from exactbnc.baselines.greedy._steps import OPERATORS, ParentSets, Step, legal_steps, start_of
from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import ParameterEstimator
from exactbnc.network.parameters.closed_form import Dirichlet
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import Score, make_score

STARTS = ("empty", "naive_bayes")

SHAKEN = 0.5
"""A restart takes this many random steps per variable from the best structure so far, at least one."""


class FamilyScores(Protocol):
    """A source of local scores."""

    def __call__(self, child: int, parents: frozenset[int], /) -> float:
        """The score of a child with these parents."""

    def extend(self, child: int, parents: frozenset[int], /) -> None:
        """Prepare the scores of all sets with one parent more."""


@dataclass(frozen=True)
class Climb:
    """How a hill climb moves and when it ends; `tabu` and `restarts` never make the result worse.

    Parameters
    ----------
    operators : tuple of str
        Some of "add", "delete" and "reverse".
    tabu : int, default 0
        The length of the tabu list.
    restarts : int, default 0
    seed : int, default 0
        Of the random steps before a restart.

    Raises
    ------
    ParameterError
        If a setting is out of range.
    """

    operators: tuple[str, ...] = OPERATORS
    tabu: int = 0
    restarts: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not set(self.operators) <= set(OPERATORS):
            raise ParameterError(f"the operators are {', '.join(OPERATORS)}. Got {', '.join(self.operators)} instead.")
        for setting, value in (("tabu", self.tabu), ("restarts", self.restarts)):
            if value < 0:
                raise ParameterError(f"the {setting} of a hill climb must be at least 0. Got {value} instead.")


@dataclass(frozen=True)
class HillClimbing:
    """A structure by hill climbing, then parameters.

    Parameters
    ----------
    criterion : str or Score, default "bdeu"
    structure : str, default "general"
    parameters : str or ParameterEstimator, default "eap"
    max_parents : int, optional
        The class counted.
    k : int, optional
        For the structure "kdb".
    start : {"empty", "naive_bayes"}
    climb : Climb
    time_limit : float, optional
        In seconds.
    label : str, optional
        Its name in tables.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1] * 8, [0, 0, 1, 1] * 4, [0, 1] * 8])
    >>> HillClimbing().search(data, "2").dag.n_arcs
    1
    """

    criterion: str | Score = "bdeu"
    structure: str = "general"
    parameters: str | ParameterEstimator = "eap"
    max_parents: int | None = None
    k: int | None = None
    start: str = "empty"
    climb: Climb = Climb()
    time_limit: float | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise ParameterError(f"the start must be one of {', '.join(STARTS)}. Got {self.start!r} instead.")

    @property
    def name(self) -> str:
        return self.label or f"hill {self.structure} {self.score().name}"

    def score(self) -> Score:
        """The criterion as a score."""
        return make_score(self.criterion) if isinstance(self.criterion, str) else self.criterion

    def search(self, dataset: Dataset, class_name: str, *, on_move: OnMove | None = None) -> SearchResult:
        """The structure."""
        limit = None if self.max_parents is None else min(self.max_parents, dataset.n_vars - 1)
        domain = Domain.of(dataset.names, self.structure, class_name=class_name, k=self.k, max_parents=limit)
        arcs = [(class_name, name) for name in dataset.names if name != class_name]
        start = DAG.from_arcs(dataset.names, arcs) if self.start == "naive_bayes" else None
        scores = LocalScores(dataset, self.score(), class_name)
        found = hill_climb(scores, domain, self.climb, start=start, time_limit=self.time_limit, on_move=on_move)
        return replace(found, method=self.name)

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Search, then fit parameters."""
        return classifier(dataset, class_name, self.search(dataset, class_name), self.parameters)


def ghc2(criterion: str) -> HillClimbing:
    """GHC2 on "ll" or "fcll"; see the module."""
    return HillClimbing(
        criterion=criterion,
        parameters=Dirichlet(0.5),
        max_parents=2,
        start="naive_bayes",
        climb=Climb(("add", "delete")),
        label=f"ghc2 {criterion}",
    )


def hill_climb(
    local_scores: FamilyScores,
    domain: Domain,
    climb: Climb = Climb(),
    *,
    start: DAG | None = None,
    time_limit: float | None = None,
    on_move: OnMove | None = None,
) -> SearchResult:
    """A structure of the domain that no single step improves.

    A TAN is searched for as a FAN: its tree may fall into parts.

    Parameters
    ----------
    local_scores : FamilyScores
        Such as `LocalScores`.
    domain : Domain
    climb : Climb
    start : DAG, optional
        By default the required arcs: the empty network, or naive Bayes where the class is a parent of every feature.
    time_limit : float, optional
        In seconds.
    on_move : callable, optional
        Called with the structure and its score after every step.

    Returns
    -------
    SearchResult

    Raises
    ------
    ParameterError
        If the score needs a limit on the parents and the domain has none, or the time limit is not above 0.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1] * 8, [0, 1] * 8])
    >>> hill_climb(LocalScores(data, "bic"), Domain.of(data.names)).dag.n_arcs
    1
    """
    _require_bound(local_scores, domain)
    deadline, random = Deadline.of(time_limit), np.random.default_rng(climb.seed)

    def neighbours(parents: ParentSets) -> Iterator[Step]:
        return legal_steps(parents, domain, climb.operators)

    def climb_from(parents: ParentSets) -> Ascent:
        objective = DecomposableScore(local_scores, domain, parents)
        return ascend(objective, neighbours, deadline, tabu=climb.tabu, on_move=on_move)

    best = climb_from(start_of(domain, start))
    n_moves = best.n_moves
    for _ in range(climb.restarts):
        if best.timed_out:
            break
        found = climb_from(_shaken(best.parents, domain, random))
        n_moves += found.n_moves
        best = replace(found if found.score > best.score else best, timed_out=found.timed_out)
    return SearchResult.of(domain.names, replace(best, n_moves=n_moves), "hill climbing")


class DecomposableScore:
    """The sum of the local scores of a structure."""

    def __init__(self, local_scores: FamilyScores, domain: Domain, parents: ParentSets) -> None:
        self._local, self._domain = local_scores, domain
        self.parents = parents
        for child in range(len(parents)):
            self._prepare(child)

    @property
    def score(self) -> float:
        return sum(self._local(child, chosen) for child, chosen in enumerate(self.parents))

    def gain(self, step: Step) -> float:
        """The new local scores less the old ones."""
        return sum(
            self._local(child, chosen) - self._local(child, self.parents[child]) for child, chosen in step.families()
        )

    def take(self, step: Step) -> None:
        """Change the structure."""
        self.parents = step.applied(self.parents)
        for child, _ in step.families():
            self._prepare(child)

    def _prepare(self, child: int) -> None:
        if len(self.parents[child]) < self._domain.limits[child]:
            self._local.extend(child, self.parents[child])


def _shaken(parents: ParentSets, domain: Domain, random: np.random.Generator) -> ParentSets:
    """The structure after random legal steps."""
    for _ in range(max(1, round(SHAKEN * len(parents)))):
        steps = list(legal_steps(parents, domain))
        if not steps:
            break
        parents = steps[int(random.integers(len(steps)))].applied(parents)
    return parents


def _require_bound(local_scores: FamilyScores, domain: Domain) -> None:
    score = getattr(local_scores, "score", None)
    is_unbounded = domain.max_parents is None and domain.max_feature_parents is None
    if is_unbounded and isinstance(score, Score) and score.needs_bound:
        raise ParameterError(
            f"the score {score.name!r} does not fall when parents are added, so it needs a limit: max_parents"
        )
