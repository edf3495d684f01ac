"""Hill climbing on the conditional likelihood of the class: BNC-2P and GBN-CMDL.

From the empty network, each step adds, deletes or reverses the arc that raises the objective most (Heckerman et al.
1995, with another objective); the search ends when no step does. The class is a variable like any other: it may have
parents. Arcs outside the class's Markov blanket do not change the CLL and are never added. The objectives, with the
parameters of maximum likelihood, are

    BNC-2P      CLL(B) = sum over the rows of w log P(y | x, B)
    GBN-CMDL    -CMDL(B) = CLL(B) - (log N / 2) |Theta|,    |Theta| the free parameters of all tables, N the rows

and the parameters of the finished classifier are a setting of their own; Sugahara and Ueno take EAP.

The CLL is kept up to date step by step:

    log P(c | x) = const(x) + sum over families with the class of log theta

Each family with the class adds one number per row and class; families without it cancel. A step is judged by what
the families it leaves alone add up to, plus the table of the changed one: nothing is ever subtracted, so that a class
of probability 0 (minus infinity) does no harm and rounding does not accumulate. Parameters are those of
`exactbnc.network.parameters.closed_form`: N_jk / N_j, 1/r where the configuration was never seen. A row of the data
always has a positive probability under them, so the CLL is finite without any smoothing. Rows of weight 0 are left out.
References: Friedman, Geiger, Goldszmidt (1997); Grossman, Domingos (2004); Sugahara, Ueno, sections 2.2 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._ascent import Deadline, OnMove, SearchResult, ascend, classifier
from exactbnc.baselines.greedy._kernels import Floats, Ints, cll_with, log_thetas
from exactbnc.baselines.greedy._steps import ParentSets, Step, legal_steps
from exactbnc.network.parameters import ParameterEstimator
from scorecache.data.dataset import Dataset
from scorecache.data.rows import distinct_rows
from scorecache.domain import Domain

Families = tuple[tuple[int, frozenset[int]], ...]


@dataclass(frozen=True)
class ConditionalClimbing:
    """A structure by hill climbing from the empty network on CLL - price |Theta|, then parameters.

    Parameters
    ----------
    label : str
        Its name in tables.
    parameters : str or ParameterEstimator, default "eap"
        Those of the finished classifier.
    max_parents : int, optional
        The class counted; no limit by default.
    is_penalized : bool, default False
        The price of a parameter is (log N) / 2 instead of 0.
    time_limit : float, optional
        In seconds.
    """

    label: str
    parameters: str | ParameterEstimator = "eap"
    max_parents: int | None = None
    is_penalized: bool = False
    time_limit: float | None = None

    @property
    def name(self) -> str:
        return self.label

    def search(self, dataset: Dataset, class_name: str, *, on_move: OnMove | None = None) -> SearchResult:
        """The structure; its score is CLL - price |Theta|."""
        deadline = Deadline.of(self.time_limit)
        limit = None if self.max_parents is None else min(self.max_parents, dataset.n_vars - 1)
        domain = Domain.of(dataset.names, class_name=class_name, max_parents=limit)

        def neighbours(parents: ParentSets) -> Iterator[Step]:
            return legal_steps(parents, domain)

        price = math.log(dataset.total_weight) / 2 if self.is_penalized else 0.0
        objective = ConditionalScore(dataset, class_name, domain.required, price=price)
        return SearchResult.of(dataset.names, ascend(objective, neighbours, deadline, on_move=on_move), self.name)

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Search, then fit parameters."""
        return classifier(dataset, class_name, self.search(dataset, class_name), self.parameters)


def bnc_2p(max_parents: int = 2) -> ConditionalClimbing:
    """BNC-2P: the CLL under maximum-likelihood parameters, at most two parents per variable, the class among them."""
    return ConditionalClimbing(f"bnc-{max_parents}p", max_parents=max_parents)


def gbn_cmdl() -> ConditionalClimbing:
    """GBN-CMDL: minus the conditional minimum description length, general networks without a limit."""
    return ConditionalClimbing("gbn-cmdl", is_penalized=True)


class ConditionalScore:
    """CLL - price * |Theta| of a structure that changes step by step."""

    def __init__(self, dataset: Dataset, class_name: str, parents: ParentSets, *, price: float = 0.0) -> None:
        dataset.column(class_name)  # an error lists the columns if it is not one
        rows = distinct_rows(dataset)
        self._codes = rows.codes
        self._weights: Floats = rows.weights.astype(np.float64)
        self._arities: NDArray[np.int64] = np.asarray(dataset.arities, dtype=np.int64)
        self._target = dataset.index[class_name]
        self._price = price
        self.parents = parents
        self._terms = {child: self._term(child, chosen) for child, chosen in self._with_class(enumerate(parents))}
        self._rest: tuple[int, Families, Floats] | None = None
        self.cll = self._cll_after(Step(self._target, parents[self._target]))

    @property
    def score(self) -> float:
        return self.cll - self._price * self.n_parameters

    @property
    def n_parameters(self) -> int:
        """Free parameters of all tables: (r - 1) q, added up over the variables."""
        return sum(self._size(child, chosen) for child, chosen in enumerate(self.parents))

    def gain(self, step: Step) -> float:
        """The change of the score; only families with the class, before or after, are looked at for the CLL."""
        changed = step.families()
        touches = any(self._has_class(child, chosen) or child in self._terms for child, chosen in changed)
        gain = self._cll_after(step) - self.cll if touches else 0.0
        if self._price > 0:
            more = sum(self._size(child, chosen) - self._size(child, self.parents[child]) for child, chosen in changed)
            gain -= self._price * more
        return gain

    def take(self, step: Step) -> None:
        """Change the structure, and what its rows add up to."""
        for child, chosen in step.families():
            self._terms.pop(child, None)
            if self._has_class(child, chosen):
                self._terms[child] = self._term(child, chosen)
        self.parents = step.applied(self.parents)
        self._rest = None
        self.cll = self._cll_after(Step(self._target, self.parents[self._target]))

    def _cll_after(self, step: Step) -> float:
        """The CLL once the families of the step are changed."""
        rest = self._sum_without(step.child, step.besides)
        actual = self._codes[self._target]
        if self._has_class(step.child, step.parents):
            units, log_theta = self._table(step.child, step.parents)
        else:
            units, log_theta = np.zeros(len(actual), dtype=np.int64), np.zeros((1, rest.shape[1]))
        return float(cll_with(rest, units, log_theta, actual, self._weights))

    def _sum_without(self, child: int, besides: Families) -> Floats:
        """What all families but the child's add up to, rows x classes; the last answer is kept for steps alike."""
        if self._rest is not None and self._rest[:2] == (child, besides):
            return self._rest[2]
        replaced = {child, *(other for other, _ in besides)}
        terms = [self._terms[v] for v in sorted(self._terms) if v not in replaced]
        terms += [self._term(other, chosen) for other, chosen in self._with_class(besides)]
        total = np.zeros((self._codes.shape[1], int(self._arities[self._target])))
        for term in terms:
            total += term
        self._rest = (child, besides, total)
        return total

    def _term(self, child: int, parents: frozenset[int]) -> Floats:
        """log theta of a family for every row and class."""
        units, log_theta = self._table(child, parents)
        return log_theta[units]

    def _table(self, child: int, parents: frozenset[int]) -> tuple[Ints, Floats]:
        others = np.array(sorted(parents - {self._target}), dtype=np.int64)
        units, log_theta = log_thetas(self._codes, self._weights, self._arities, others, child, self._target)
        return units, log_theta

    def _has_class(self, child: int, parents: frozenset[int]) -> bool:
        """Whether the class is in the family."""
        return child == self._target or self._target in parents

    def _with_class(self, families: Iterable[tuple[int, frozenset[int]]]) -> Families:
        return tuple((child, chosen) for child, chosen in families if self._has_class(child, chosen))

    def _size(self, child: int, parents: frozenset[int]) -> int:
        q = 1
        for parent in parents:
            q *= int(self._arities[parent])
        return (int(self._arities[child]) - 1) * q
