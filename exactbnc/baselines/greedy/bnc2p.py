"""BNC-2P: hill climbing on the conditional log-likelihood, at most two parents per variable.

    CLL(B) = sum over the rows of log P(y | x, B),    the parameters of B being those of maximum likelihood

From the empty network, each step adds, deletes or reverses the arc that raises the CLL most (the hill climbing of
Heckerman et al. 1995 with another objective); it ends when no step does. The class is a variable like any other: it may
have parents, and it counts among the two parents of a feature. Arcs outside the class's Markov blanket do not change
the CLL and are never added. The parameters of the finished classifier are a setting of their own; Sugahara and Ueno
take EAP.

References: Grossman, Domingos (2004); Sugahara, Ueno, sections 2.2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._ascent import Deadline, OnMove, ascend
from exactbnc.baselines.greedy._conditional import ConditionalScore
from exactbnc.baselines.greedy._steps import ParentSets, Step, legal_steps
from exactbnc.baselines.greedy.result import SearchResult, classifier
from exactbnc.network.parameters import ParameterEstimator
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain


@dataclass(frozen=True)
class BNC2P:
    """`max_parents` counts the class; `time_limit` is in seconds."""

    parameters: str | ParameterEstimator = "eap"
    max_parents: int = 2
    time_limit: float | None = None

    @property
    def name(self) -> str:
        return f"bnc-{self.max_parents}p"

    def search(self, dataset: Dataset, class_name: str, *, on_move: OnMove | None = None) -> SearchResult:
        """The structure; its score is the CLL."""
        return climb_conditional(
            dataset,
            class_name,
            price=0.0,
            max_parents=self.max_parents,
            method=self.name,
            time_limit=self.time_limit,
            on_move=on_move,
        )

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Search, then fit parameters."""
        return classifier(dataset, class_name, self.search(dataset, class_name), self.parameters)


def climb_conditional(
    dataset: Dataset,
    class_name: str,
    *,
    price: float,
    max_parents: int | None,
    method: str,
    time_limit: float | None,
    on_move: OnMove | None,
) -> SearchResult:
    """Hill climbing from the empty network on CLL - price * |Theta|."""
    deadline = Deadline.of(time_limit)
    limit = None if max_parents is None else min(max_parents, dataset.n_vars - 1)
    domain = Domain.of(dataset.names, class_name=class_name, max_parents=limit)

    def neighbours(parents: ParentSets) -> Iterator[Step]:
        return legal_steps(parents, domain)

    objective = ConditionalScore(dataset, class_name, domain.required, price=price)
    ascent = ascend(objective, neighbours, deadline, on_move=on_move)
    return SearchResult.of(dataset.names, ascent, method)
