"""The rounds of structural EM: E-steps until the objective rises no more, then the next network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.expected_score import ExpectedScore
from exactbnc.learning.incomplete_data import LEAST_WAYS, IncompleteData, Ways
from exactbnc.learning.incomplete_numbers import IncompleteNumbers
from exactbnc.learning.likely_ways import Factor, Kept, log_product
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.parameters.counts import cells
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Clock
from exactbnc.run.solution import Solution
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError

MOST_ROUNDS = 100
MOST_REFITS = 20
"""E-steps with one network, before the next one is looked for."""

COARSER = 10
"""The ways that a row keeps are this many times fewer until the best of several runs is known."""

LEAST_GAIN = 1e-6
"""A round that raises the objective by less is the last one."""


@dataclass(frozen=True, eq=False)
class Step:
    """The network of a round; what it was found by, where it was searched for."""

    dag: DAG
    solution: Solution | None = None
    problem: Problem | None = None
    max_parents: int | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """The last network, the counts that its tables are of (as rows, too), and the objective after every round."""

    step: Step
    expected: Dataset
    counts: Any
    trace: list[float]


class Counts(NamedTuple):
    """The ways to complete rows that can have a probability, and how often each completed row is expected."""

    ways: Ways
    expected: Floats


@dataclass(frozen=True, eq=False)
class States:
    """Rows of states, and the score of their expected counts; `IncompleteNumbers` is the same for numbers."""

    data: IncompleteData
    score: ExpectedScore

    def drawn(self, random: np.random.Generator) -> Dataset:
        """Missing values drawn by how often the others of their column occur."""
        return self.data.drawn(random)

    def begin(self, net: BayesNet) -> Counts:
        """The expected counts of the completed rows by a network."""
        factors = factors_of(net)
        ways = self.data.likeliest(factors)
        return Counts(ways, self.data.expected(log_product(ways.rows.codes, factors), ways)[0])

    def completed(self, counts: Counts) -> Dataset:
        """The completed rows that are expected at all, weighted."""
        return self.data.completed(counts.expected, counts.ways)

    def refit(self, counts: Counts, dag: DAG, *, anew: bool = True) -> tuple[float, float, Counts]:
        """S_G at the counts, the objective after the E-step, and its counts; both without what does not change.

        The ways that rows keep are looked for `anew`, or stay as they are.
        """
        intercept, linear, factors = _tangent(counts, dag, self.score)
        ways = self.data.renewed(counts.ways, factors) if anew else counts.ways
        found, log_total = self.data.expected(log_product(ways.rows.codes, factors), ways)
        return intercept + linear, intercept + log_total, Counts(ways, found)

    def coarse(self) -> States:
        """The same with fewer ways where rows keep some of them only."""
        most = max(LEAST_WAYS, self.data.most // COARSER)
        if not len(self.data.wide) or most >= self.data.most:
            return self
        return States(replace(self.data, most=most), self.score)

    def kept(self, counts: Counts, net: BayesNet) -> Kept | None:
        """What a network says of the ways that are kept; None if all are."""
        if not len(self.data.wide):
            return None
        rows, factors = np.ascontiguousarray(self.data.codes[:, self.data.wide]), factors_of(net)
        weights = self.data.weights[self.data.wide]
        try:
            shares = np.exp(self.data.kept(counts.ways, factors) - net.log_probability(rows))
        except MemoryLimitError:
            return Kept(float(weights.sum()), self.data.most, None)
        return Kept(float(weights.sum()), self.data.most, float(shares @ weights / weights.sum()))


def factors_of(net: BayesNet) -> list[Factor]:
    """The logarithms of a network's tables."""
    with np.errstate(divide="ignore"):
        return [Factor((*net.dag.parents[v], v), np.log(table)) for v, table in enumerate(net.tables)]


def incomplete(dataset: Dataset, score: ExpectedScore) -> Any:
    """What the rounds complete: rows with numbers, or rows of states."""
    return IncompleteNumbers.of(dataset) if dataset.measurements else States(IncompleteData.of(dataset), score)


def run_rounds(data: Any, counts: Any, step_for: Callable[[Dataset], Step], clock: Clock) -> Run:
    """Rounds until the objective rises no more; one that ends lower, which a limit can cause, is left out."""
    last: Run | None = None
    while True:
        step = step_for(data.completed(counts))
        (*_, reached), counted, counts = _refitted(data, counts, step, MOST_REFITS, clock)
        if last is not None and reached < last.trace[-1]:
            return last
        gain = reached - last.trace[-1] if last is not None else np.inf
        trace = [*(last.trace if last is not None else []), reached]
        last = Run(step, data.completed(counted), counted, trace)
        if gain < LEAST_GAIN or len(trace) == MOST_ROUNDS or clock.stop_reason() is not None:
            return last


def run_refits(data: Any, counts: Any, step: Step, clock: Clock) -> Run:
    """E-steps with the one network, which was found for these counts, until the objective rises no more."""
    trace, counted, _ = _refitted(data, counts, step, MOST_ROUNDS * MOST_REFITS, clock)
    return Run(step, data.completed(counted), counted, trace)


def _refitted(data: Any, counts: Any, step: Step, most: int, clock: Clock) -> tuple[list[float], Any, Any]:
    """The objective after every E-step with one network, and the counts before and after the last of them."""
    constant = 0.0  # what the solver's score has beside `refit`'s: penalties, a prior
    trace: list[float] = []
    while True:
        counted = counts
        scored, objective, counts = data.refit(counted, step.dag, anew=len(trace) % MOST_REFITS == 0)
        if not trace and step.solution is not None and step.solution.score is not None:
            constant = step.solution.score - scored
        trace.append(constant + objective)
        gain = trace[-1] - trace[-2] if len(trace) > 1 else np.inf
        if gain < LEAST_GAIN or len(trace) == most or clock.stop_reason() is not None:
            return trace, counted, counts


def _tangent(counts: Counts, dag: DAG, score: ExpectedScore) -> tuple[float, float, list[Factor]]:
    """Of all families together: the intercept, sum N g, and g."""
    intercept = linear = 0.0
    rows, factors = counts.ways.rows, []
    for child, parents in enumerate(dag.parents):
        members = (*parents, child)
        shape = rows.arities[list(members)]
        own = np.bincount(cells(rows, members), counts.expected, minlength=int(shape.prod()))
        table = own.astype(np.float64).reshape(shape)
        tangent = score.tangent(table)
        intercept += tangent.intercept
        linear += tangent.linear(table)
        factors.append(Factor(members, tangent.g))
    return intercept, linear, factors
