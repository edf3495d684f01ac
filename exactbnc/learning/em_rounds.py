"""The rounds of structural EM: E-steps until the objective rises no more, then the next network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.expected_score import ExpectedScore
from exactbnc.learning.incomplete_data import IncompleteData
from exactbnc.learning.incomplete_numbers import IncompleteNumbers
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.parameters.counts import cells
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Clock
from exactbnc.run.solution import Solution
from scorecache.data.dataset import Dataset

MOST_ROUNDS = 100
MOST_REFITS = 20
"""E-steps with one network, before the next one is looked for."""

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


@dataclass(frozen=True, eq=False)
class States:
    """Rows of states, and the score of their expected counts; `IncompleteNumbers` is the same for numbers."""

    data: IncompleteData
    score: ExpectedScore

    def drawn(self, random: np.random.Generator) -> Dataset:
        """Missing values drawn by how often the others of their column occur."""
        return self.data.drawn(random)

    def begin(self, net: BayesNet) -> Floats:
        """The expected counts of the completed rows by a network."""
        return self.data.expected(net.log_probability(self.data.ways.rows.codes))[0]

    def completed(self, counts: Floats) -> Dataset:
        """The completed rows that are expected at all, weighted."""
        return self.data.completed(counts)

    def refit(self, counts: Floats, dag: DAG) -> tuple[float, float, Floats]:
        """S_G at the counts, the objective after the E-step, and its counts; both without what does not change."""
        intercept, linear, log_p = _tangent(self.data.ways.rows, counts, dag, self.score)
        found, log_total = self.data.expected(log_p)
        return intercept + linear, intercept + log_total, found


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
        scored, objective, counts = data.refit(counted, step.dag)
        if not trace and step.solution is not None and step.solution.score is not None:
            constant = step.solution.score - scored
        trace.append(constant + objective)
        gain = trace[-1] - trace[-2] if len(trace) > 1 else np.inf
        if gain < LEAST_GAIN or len(trace) == most or clock.stop_reason() is not None:
            return trace, counted, counts


def _tangent(rows: Dataset, counts: Floats, dag: DAG, score: ExpectedScore) -> tuple[float, float, Floats]:
    """Of all families together: the intercept, sum N g, and the sum of g over the cells of every completed row."""
    intercept = linear = 0.0
    log_p = np.zeros(rows.n_rows)
    for child, parents in enumerate(dag.parents):
        members = (*parents, child)
        found, shape = cells(rows, members), rows.arities[list(members)]
        own = np.bincount(found, counts, minlength=int(shape.prod())).astype(np.float64).reshape(shape)
        tangent = score.tangent(own)
        intercept += tangent.intercept
        linear += tangent.linear(own)
        log_p += tangent.g.ravel()[found]
    return intercept, linear, log_p
