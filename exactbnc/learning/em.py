"""Structural EM: the best network for rows with missing values, the M-step exact.

With G, theta the present network, each round takes the expected counts of the rows completed in all ways, finds the
proved best network for them, and fits it by maximum likelihood:

    N_jk = sum over the rows of P(v = k, parents of v = j | the observed values, G, theta)
    (G', theta') = argmax of  sum N_jk log theta'_jk - penalty(G')

Then  log P(observed | G, theta) - penalty(G)  never falls (Friedman 1997): theta' is at least as good as theta for the
counts, and log P(observed) is that up to an entropy which the present network makes as large as it can be. Rounds end
when it rises no more. It has several local optima, so restarts begin with values drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import Learned, plan_of
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes, Floats
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet, Frequencies
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MISSING_STATE
from scorecache.errors import DataError, ParameterError

EM = "em"
"""The way to treat missing values."""

PENALISED = ("aic", "bic", "ll")
"""The scores whose penalised likelihood rises from round to round."""

MOST_ROUNDS = 100
LEAST_GAIN = 1e-6
"""A round that raises the penalised likelihood by less is the last one."""

MOST_COMPLETIONS = 5_000_000
"""Completed rows that are held at one time."""


@dataclass(frozen=True, eq=False)
class IncompleteData:
    """Distinct rows, the missing values of which have the code UNKNOWN, and how often each occurs."""

    names: tuple[str, ...]
    states: tuple[tuple[object, ...], ...]
    codes: Codes
    weights: Floats

    @classmethod
    def of(cls, dataset: Dataset) -> IncompleteData:
        """From a data set in which missing values are a state of their own."""
        codes, states = dataset.codes.copy(), list(dataset.states)
        for v, listed in enumerate(dataset.states):
            if listed[-1] == MISSING_STATE:
                codes[v, codes[v] == len(listed) - 1] = UNKNOWN
                states[v] = listed[:-1]
                if not states[v]:
                    raise DataError(f"column {dataset.names[v]!r} has no value; leave it out")
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        distinct, where = np.unique(codes, axis=1, return_inverse=True)
        own = np.bincount(where.ravel(), weights).astype(np.float64)
        found = cls(dataset.names, tuple(states), np.ascontiguousarray(distinct), own)
        n_completed = sum(len(rows) * n_ways for rows, _, n_ways in found.patterns())
        if n_completed > MOST_COMPLETIONS:
            raise DataError(
                f"the rows with missing values can be completed in {n_completed:,} ways, more than "
                f"{MOST_COMPLETIONS:,}: leave out columns with many missing values, or use missing='category'"
            )
        return found

    def patterns(self) -> Iterator[tuple[np.ndarray, tuple[int, ...], int]]:
        """The rows that lack the same variables, these variables, and in how many ways they can be completed."""
        is_missing = self.codes == UNKNOWN
        kinds, where = np.unique(is_missing, axis=1, return_inverse=True)
        for kind in range(kinds.shape[1]):
            lacking = tuple(np.flatnonzero(kinds[:, kind]).tolist())
            n_ways = math.prod(len(self.states[v]) for v in lacking)
            yield np.flatnonzero(where.ravel() == kind), lacking, n_ways

    def completed(self, net: BayesNet) -> tuple[Dataset, float]:
        """Every row in all ways, weighted by their probabilities given what is observed, and log P(observed)."""
        codes, weights, log_likelihood = [], [], 0.0
        for rows, lacking, n_ways in self.patterns():
            own = np.repeat(self.codes[:, rows], n_ways, axis=1)
            for v, values in zip(lacking, _all_values([len(self.states[v]) for v in lacking]), strict=True):
                own[v] = np.tile(values, len(rows))
            log_p = net.log_probability(own).reshape(len(rows), n_ways)
            total = np.logaddexp.reduce(log_p, axis=1, keepdims=True)
            log_likelihood += float(self.weights[rows] @ total[:, 0])
            codes.append(own)
            weights.append((np.exp(log_p - total) * self.weights[rows, None]).ravel())
        merged, where = np.unique(np.concatenate(codes, axis=1), axis=1, return_inverse=True)
        counts = np.bincount(where.ravel(), np.concatenate(weights)).astype(np.float64)
        occurs = counts > 0
        return self._dataset(merged[:, occurs], counts[occurs]), log_likelihood

    def drawn(self, random: np.random.Generator) -> Dataset:
        """Missing values drawn by how often the others of their column occur."""
        codes = self.codes.copy()
        for v, states in enumerate(self.states):
            lacks = codes[v] == UNKNOWN
            counts = np.bincount(codes[v][~lacks], self.weights[~lacks], minlength=len(states))
            codes[v, lacks] = random.choice(len(states), lacks.sum(), p=counts / counts.sum())
        return self._dataset(codes, self.weights)

    def _dataset(self, codes: Codes, weights: Floats) -> Dataset:
        return Dataset(self.names, self.states, np.ascontiguousarray(codes), weights)


@dataclass(frozen=True, eq=False)
class Completed:
    """What structural EM found: the network of the last round, and the penalised likelihood after each."""

    learned: Learned
    penalised_likelihoods: tuple[float, ...]


def learn_incomplete(dataset: Dataset, class_name: str | None, recipe: Recipe, *, n_restarts: int = 3) -> Completed:
    """The best of several runs of structural EM.

    Parameters
    ----------
    dataset : Dataset
        With missing values as a state of their own (missing="category").
    class_name : str or None
        A column without missing values.
    recipe : Recipe
        Its score is "bic", "aic" or "ll"; its parameters are fitted to the expected counts at the end.
    n_restarts : int, default 3
        Runs that begin with values drawn at random, beside the one that begins without arcs.

    Returns
    -------
    Completed

    Raises
    ------
    ParameterError
        If the score is not a penalised likelihood.
    DataError
        If the rows can be completed in too many ways.
    """
    if recipe.score().name not in PENALISED:
        raise ParameterError(
            f"missing='em' raises a penalised likelihood: score must be one of {', '.join(map(repr, PENALISED))}. "
            f"Got {recipe.score().name!r} instead."
        )
    data, clock = IncompleteData.of(dataset), Clock(recipe.time_limit)
    random = np.random.default_rng(recipe.seed)
    no_arcs = DAG.from_arcs(data.names, [])
    best: Completed | None = None
    for run in range(n_restarts + 1):
        if best is not None and clock.stop_reason() is not None:
            break
        drawn = data.drawn(random)
        dag = no_arcs if run == 0 else _best(drawn, class_name, recipe, clock)[1]
        found = _run(data, fit_parameters(drawn, dag, Dirichlet(1.0)), class_name, recipe, clock)
        if best is None or found.penalised_likelihoods[-1] > best.penalised_likelihoods[-1]:
            best = found
    assert best is not None
    return best


def _run(data: IncompleteData, net: BayesNet, class_name: str | None, recipe: Recipe, clock: Clock) -> Completed:
    """Rounds until the penalised likelihood rises no more."""
    expected, _ = data.completed(net)
    trace: list[float] = []
    while True:
        learned, dag, penalty = _best(expected, class_name, recipe, clock)
        net = fit_parameters(expected, dag, Frequencies())
        following, log_likelihood = data.completed(net)
        trace.append(log_likelihood - penalty)
        is_last = len(trace) > 1 and trace[-1] - trace[-2] < LEAST_GAIN
        if is_last or len(trace) == MOST_ROUNDS or clock.stop_reason() is not None:
            own = fit_parameters(expected, dag, recipe.estimator(), class_name=class_name)
            return Completed(replace(learned, net=own), tuple(trace))
        expected = following


def _best(expected: Dataset, class_name: str | None, recipe: Recipe, clock: Clock) -> tuple[Learned, DAG, float]:
    """The best network for expected counts, and its penalty: the log-likelihood of the counts less the score."""
    plan, constraints = plan_of(expected, class_name, recipe)
    problem = Problem(plan.run(n_jobs=recipe.n_jobs, memory_limit=recipe.memory_limit), constraints)
    limits = clock.left_of(Limits(seconds=recipe.time_limit, memory=recipe.memory_limit))
    solution = solve(problem, solver=recipe.solver, limits=limits, seed=recipe.seed)
    if solution.status is Status.INFEASIBLE or solution.dag is None or solution.score is None:
        raise DataError("no network satisfies the constraints, or the time limit left none")
    net = fit_parameters(expected, solution.dag, Frequencies())
    penalty = net.log_likelihood(expected) - solution.score
    return Learned(net, solution, problem, plan.domain.max_parents, {}), solution.dag, penalty


def _all_values(sizes: list[int]) -> np.ndarray:
    """All combinations of values, one row per variable."""
    ways = list(product(*(range(size) for size in sizes)))
    return np.array(ways, dtype=np.uint16).reshape(len(ways), len(sizes)).T
