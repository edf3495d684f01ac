"""Structural EM: the best network for rows with missing values, the M-step exact.

With G, theta the present network, each round takes the expected counts of the rows completed in all ways, finds the
proved best network for them, and fits it by maximum likelihood, several times with new expected counts:

    N_jk = sum over the rows of P(v = k, parents of v = j | the observed values, G, theta)
    (G', theta') = argmax of  sum N_jk log theta'_jk - penalty(G')

Then  log P(observed | G, theta) - penalty(G)  never falls (Friedman 1997): theta' is at least as good as theta for the
counts, and log P(observed) is that up to an entropy which the present network makes as large as it can be. Rounds end
when it rises no more. It has several local optima, so restarts begin with values drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.preparation import EM, States, observed_codes, observed_states
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import Learned, plan_of, reweighted, run_recipe
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes, Floats
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet, Frequencies
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError, TimeLimitError

PENALISED = ("aic", "bic", "ll")
"""The scores whose penalised likelihood rises from round to round."""

MOST_ROUNDS = 100
MOST_REFITS = 20
"""Of the tables, with new expected counts, before the next network is looked for."""

LEAST_GAIN = 1e-6
"""A round that raises the penalised likelihood by less is the last one."""

MOST_COMPLETIONS = 5_000_000
"""Completed rows that are held at one time."""


@dataclass(frozen=True, eq=False)
class _Ways:
    """The distinct completed rows; way i to complete a row gives number `where[i]`.

    The ways of data row `row[k]` begin at `starts[k]`.
    """

    codes: Codes
    where: NDArray[np.int64]
    row: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IncompleteData:
    """Distinct rows, the missing values of which have the code UNKNOWN, and how often each occurs."""

    names: tuple[str, ...]
    states: States
    codes: Codes
    weights: Floats

    @classmethod
    def of(cls, dataset: Dataset) -> IncompleteData:
        """From a data set in which missing values are a state of their own."""
        codes, states = observed_codes(dataset.states, dataset.codes), observed_states(dataset.states)
        for name, listed in zip(dataset.names, states, strict=True):
            if not listed:
                raise DataError(f"column {name!r} has no value; leave it out")
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        distinct, where = np.unique(codes, axis=1, return_inverse=True)
        own = np.bincount(where.ravel(), weights).astype(np.float64)
        found = cls(dataset.names, states, np.ascontiguousarray(distinct), own)
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

    @cached_property
    def _ways(self) -> _Ways:
        """The completed rows, which are the same in every round."""
        codes, rows = [], []
        for own, lacking, n_ways in self.patterns():
            completed = np.repeat(self.codes[:, own], n_ways, axis=1)
            for v, values in zip(lacking, _all_values([len(self.states[v]) for v in lacking]), strict=True):
                completed[v] = np.tile(values, len(own))
            codes.append(completed)
            rows.append(np.repeat(own, n_ways))
        distinct, where = np.unique(np.concatenate(codes, axis=1), axis=1, return_inverse=True)
        row = np.concatenate(rows)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return _Ways(np.ascontiguousarray(distinct), where.ravel(), row[starts], starts)

    def completed(self, net: BayesNet) -> tuple[Dataset, float]:
        """Every row in all ways, weighted by their probabilities given what is observed, and log P(observed)."""
        ways = self._ways
        log_p = net.log_probability(ways.codes)[ways.where]
        largest = np.maximum.reduceat(log_p, ways.starts)
        n_ways = np.diff(ways.starts, append=len(log_p))
        p = np.exp(log_p - np.repeat(largest, n_ways))
        total = np.add.reduceat(p, ways.starts)
        weights = self.weights[ways.row]
        counts = np.bincount(ways.where, p * np.repeat(weights / total, n_ways), minlength=ways.codes.shape[1])
        occurs = counts > 0
        expected = counts[occurs].astype(np.float64)
        return self._dataset(ways.codes[:, occurs], expected), float(weights @ (largest + np.log(total)))

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


def run_with_missing(
    dataset: Dataset,
    class_name: str | None,
    recipe: Recipe,
    *,
    missing: str,
    listener: Listener | None = None,
    class_factors: Sequence[float] | NDArray[np.float64] | None = None,
) -> Learned:
    """`learn_incomplete` where missing values are summed out (missing="em"), else `run_recipe`.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": ["a", None, "b"] * 8, "y": ["a", "a", "b"] * 8}, missing="category")
    >>> learned = run_with_missing(data, None, Recipe("general", "bic"), missing="em")
    >>> learned.net.states, learned.solution.status.value
    ((('a', 'b'), ('a', 'b')), 'optimal')
    """
    if missing != EM:
        return run_recipe(dataset, class_name, recipe, listener=listener, class_factors=class_factors)
    return learn_incomplete(dataset, class_name, recipe, class_factors=class_factors)


def learn_incomplete(
    dataset: Dataset,
    class_name: str | None,
    recipe: Recipe,
    *,
    class_factors: Sequence[float] | NDArray[np.float64] | None = None,
) -> Learned:
    """The best of several runs of structural EM: one that begins without arcs, and the restarts of the recipe.

    Parameters
    ----------
    dataset : Dataset
        With missing values as a state of their own (missing="category").
    class_name : str or None
        A column without missing values.
    recipe : Recipe
        Its score is "bic", "aic" or "ll"; its parameters are fitted to the expected counts at the end. With "auto" they
        are tables alone: weights fitted to the class would need complete rows.
    class_factors : sequence of float, optional
        By class, what its expected counts are multiplied by for the parameters.

    Returns
    -------
    Learned
        `rounds` are the penalised likelihoods of the best run.

    Raises
    ------
    ParameterError
        If the score is not a penalised likelihood, or a calibration is asked for.
    DataError
        If the rows can be completed in too many ways.
    InfeasibleError
        If no network satisfies the constraints.
    """
    if recipe.score().name not in PENALISED:
        raise ParameterError(
            f"missing='em' needs a penalised likelihood as the score: {', '.join(map(repr, PENALISED))}. "
            f"Got {recipe.score().name!r} instead."
        )
    if recipe.structure == "class_minimal":
        raise ParameterError("structural EM (missing='em') needs the best score, which a class-minimal network has not")
    if recipe.calibrate:
        raise ParameterError("calibrate needs complete rows: leave it out, or use missing='category'")
    data, clock = IncompleteData.of(dataset), Clock(recipe.time_limit)
    random = np.random.default_rng(recipe.seed)

    def best(expected: Dataset) -> _Step:
        return _best(expected, class_name, recipe, clock)

    found: _Run | None = None
    for run in range(recipe.restarts + 1):
        if found is not None and clock.stop_reason() is not None:
            break
        drawn = data.drawn(random)
        dag = DAG.from_arcs(data.names, []) if run == 0 else best(drawn).dag
        own = _rounds(data, fit_parameters(drawn, dag, Dirichlet(1.0)), best, clock)
        if found is None or own.trace[-1] > found.trace[-1]:
            found = own
    assert found is not None
    step, expected = found.step, found.expected
    assert step.solution is not None
    if class_name is not None and class_factors is not None:
        expected = reweighted(expected, class_name, class_factors)
    net = fit_parameters(expected, step.dag, recipe.estimator(), class_name=class_name)
    seconds = {"em": clock.elapsed()}
    return Learned(net, step.solution, step.problem, step.max_parents, seconds, rounds=tuple(found.trace))


def fit_incomplete(dataset: Dataset, dag: DAG, estimator: ParameterEstimator) -> BayesNet:
    """The tables of a given network by EM; missing values are a state of their own in the data set.

    Parameters
    ----------
    dataset : Dataset
    dag : DAG
        With the variables of the data set in their order.
    estimator : ParameterEstimator
        What the expected counts of the last round become tables by; the rounds are of maximum likelihood.

    Returns
    -------
    BayesNet
    """
    data = IncompleteData.of(dataset)
    begin = fit_parameters(data.drawn(np.random.default_rng(0)), dag, Dirichlet(1.0))
    found = _rounds(data, begin, lambda expected: _Step(dag, 0.0), Clock(None))
    return fit_parameters(found.expected, dag, estimator)


@dataclass(frozen=True, eq=False)
class _Step:
    """The network of a round and its penalty; what it was found by, where it was searched for."""

    dag: DAG
    penalty: float
    solution: Solution | None = None
    problem: Problem | None = None
    max_parents: int | None = None


@dataclass(frozen=True, eq=False)
class _Run:
    """The last round, the expected counts it was taken from, and the penalised likelihood after every round."""

    step: _Step
    expected: Dataset
    trace: list[float]


def _rounds(data: IncompleteData, net: BayesNet, step_for: Callable[[Dataset], _Step], clock: Clock) -> _Run:
    """Rounds until the penalised likelihood rises no more."""
    expected, _ = data.completed(net)
    trace: list[float] = []
    while True:
        step = step_for(expected)
        penalised = -np.inf
        for _ in range(MOST_REFITS):
            counted = expected
            expected, log_likelihood = data.completed(fit_parameters(counted, step.dag, Frequencies()))
            gain, penalised = log_likelihood - step.penalty - penalised, log_likelihood - step.penalty
            if gain < LEAST_GAIN:
                break
        trace.append(penalised)
        is_last = len(trace) > 1 and trace[-1] - trace[-2] < LEAST_GAIN
        if is_last or len(trace) == MOST_ROUNDS or clock.stop_reason() is not None:
            return _Run(step, counted, trace)


def _best(expected: Dataset, class_name: str | None, recipe: Recipe, clock: Clock) -> _Step:
    """The best network for expected counts, and its penalty: the log-likelihood of the counts less the score."""
    plan, constraints = plan_of(expected, class_name, recipe)
    problem = Problem(plan.run(n_jobs=recipe.n_jobs, memory_limit=recipe.memory_limit), constraints)
    limits = clock.left_of(Limits(seconds=recipe.time_limit, memory=recipe.memory_limit))
    solution = solve(problem, solver=recipe.solver, limits=limits, seed=recipe.seed)
    if solution.stop_reason == "interrupted":
        clock.interrupt()  # the round in progress is the last one
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError("no network satisfies all the constraints together")
    if solution.dag is None or solution.score is None:
        raise TimeLimitError("the time limit ended before the first network was found; raise time_limit")
    log_likelihood = fit_parameters(expected, solution.dag, Frequencies()).log_likelihood(expected)
    return _Step(solution.dag, log_likelihood - solution.score, solution, problem, plan.domain.max_parents)


def _all_values(sizes: list[int]) -> np.ndarray:
    """All combinations of values, one row per variable."""
    ways = list(product(*(range(size) for size in sizes)))
    return np.array(ways, dtype=np.uint16).reshape(len(ways), len(sizes)).T
