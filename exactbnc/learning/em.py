"""Structural EM: the best network for rows with missing values, the M-step exact.

With q the probabilities of the ways to complete the rows, N(q) the expected counts, S_G the score of a network G for
real-valued counts and H the entropy, the rounds climb

    F(q, G) = S_G(N(q)) + H(q).

The M-step takes the G of the largest score for N(q): the proved best network. The E-step replaces S_G, which is convex
in the counts, by its tangent g at N(q) (`expected_score`); for that linear function the best q is the one in which the
ways to complete a row are in proportion to exp(sum of g over the cells of the completed row). The score lies above its
tangent, so neither step lowers F, and after each of them

    F >= S_G(N) - sum N g + sum over the rows of log sum over the ways of exp(sum of g).

Every network gets several E-steps before the next one is looked for. For "bic", "aic" and "ll" exp(g) are the tables of
maximum likelihood, and the right-hand side is log P(observed | G, theta) less the penalty (Friedman 1997). For "bdeu",
"bd" and "k2" the score is a log marginal likelihood, and F a lower bound of log P(observed, G), by Jensen's inequality,
with equality where no value is missing: these rounds are those of variational Bayes (Beal and Ghahramani 2006), with
the structure chosen among all. Completing the rows by the posterior mean of the parameters instead (Friedman 1998) is
not known to raise any function. Numbers are completed by points with their conditional moments
(`exactbnc.learning.incomplete_numbers`), which for Gaussian likelihoods is exact. F has several local optima, so
restarts begin with values drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.expected_score import ExpectedScore, Likelihood, expected_score
from exactbnc.learning.incomplete_data import IncompleteData
from exactbnc.learning.incomplete_numbers import IncompleteNumbers
from exactbnc.learning.preparation import EM
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import Learned, plan_of, reweighted, run_recipe
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet
from exactbnc.network.parameters.counts import cells
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError, TimeLimitError

MOST_ROUNDS = 100
MOST_REFITS = 20
"""E-steps with one network, before the next one is looked for."""

LEAST_GAIN = 1e-6
"""A round that raises the objective by less is the last one."""


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
    >>> learned = run_with_missing(data, None, Recipe("general"), missing="em")
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
        Its score is one of `expected_score`; its parameters are fitted to the expected counts at the end. With "auto"
        they are tables alone: weights fitted to the class would need complete rows.
    class_factors : sequence of float, optional
        By class, what its expected counts are multiplied by for the parameters.

    Returns
    -------
    Learned
        `rounds` are the values of the objective in the best run.

    Raises
    ------
    ParameterError
        If the score is not one of expected counts, or a calibration is asked for.
    DataError
        If the rows can be completed in too many ways.
    InfeasibleError
        If no network satisfies the constraints.
    """
    if recipe.calibrate:
        raise ParameterError("calibrate needs complete rows: leave it out, or use missing='category'")
    clock = Clock(recipe.time_limit)
    found = _best_run(dataset, class_name, recipe, clock)
    step, expected = found.step, found.expected
    assert step.solution is not None
    if class_name is not None and class_factors is not None:
        expected = reweighted(expected, class_name, class_factors)
    net = fit_parameters(expected, step.dag, recipe.estimator(), class_name=class_name)
    return Learned(
        net,
        step.solution,
        step.problem,
        step.max_parents,
        {"em": clock.elapsed()},
        rounds=tuple(found.trace),
        objective=expected_score(recipe.score()).objective,
    )


def completed_rows(dataset: Dataset, class_name: str, recipe: Recipe) -> Dataset:
    """The rows as the network of `learn_incomplete` completes them: in all ways, weighted by their probabilities.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": ["a", None, "b"] * 8, "y": ["a", "a", "b"] * 8}, missing="category")
    >>> rows = completed_rows(data, "y", Recipe("tan"))
    >>> rows.states, round(float(rows.weights.sum()), 6)
    ((('a', 'b'), ('a', 'b')), 24.0)
    """
    return _best_run(dataset, class_name, recipe, Clock(recipe.time_limit)).expected


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
    data = _incomplete(dataset, Likelihood())
    begin = fit_parameters(data.drawn(np.random.default_rng(0)), dag, Dirichlet(1.0))
    found = _rounds(data, begin, lambda expected: _Step(dag), Clock(None))
    return fit_parameters(found.expected, dag, estimator)


@dataclass(frozen=True, eq=False)
class _Step:
    """The network of a round; what it was found by, where it was searched for."""

    dag: DAG
    solution: Solution | None = None
    problem: Problem | None = None
    max_parents: int | None = None


@dataclass(frozen=True, eq=False)
class _Run:
    """The last round, the expected counts it was taken from, and the objective after every round."""

    step: _Step
    expected: Dataset
    trace: list[float]


def _best_run(dataset: Dataset, class_name: str | None, recipe: Recipe, clock: Clock) -> _Run:
    """The run that ends highest."""
    score = expected_score(recipe.score())
    if recipe.structure == "class_minimal":
        raise ParameterError(
            "structural EM (missing='em') raises the score, and a class-minimal network need not have the best one: "
            "take another structure, or missing='category'"
        )
    random = np.random.default_rng(recipe.seed)
    data = _incomplete(dataset, score)

    def best(expected: Dataset) -> _Step:
        return _best(expected, class_name, recipe, clock)

    found: _Run | None = None
    for run in range(recipe.restarts + 1):
        if found is not None and clock.stop_reason() is not None:
            break
        drawn = data.drawn(random)
        dag = DAG.from_arcs(dataset.names, []) if run == 0 else best(drawn).dag
        own = _rounds(data, fit_parameters(drawn, dag, Dirichlet(1.0)), best, clock)
        if found is None or own.trace[-1] > found.trace[-1]:
            found = own
    assert found is not None
    return found


def _incomplete(dataset: Dataset, score: ExpectedScore) -> Any:
    """What the rounds complete: rows with numbers, or rows of states."""
    return IncompleteNumbers.of(dataset) if dataset.measurements else _States(IncompleteData.of(dataset), score)


@dataclass(frozen=True, eq=False)
class _States:
    """Rows of states, and the score of their expected counts; `IncompleteNumbers` is the same for numbers."""

    data: IncompleteData
    score: ExpectedScore

    def drawn(self, random: np.random.Generator) -> Dataset:
        return self.data.drawn(random)

    def begin(self, net: BayesNet) -> Floats:
        """The expected counts of the completed rows by a network."""
        return self.data.expected(net.log_probability(self.data.ways.rows.codes))[0]

    def completed(self, counts: Floats) -> Dataset:
        return self.data.completed(counts)

    def refit(self, counts: Floats, dag: DAG) -> tuple[float, float, Floats]:
        """S_G at the counts, the objective after the E-step, and its counts; both without what does not change."""
        intercept, linear, log_p = _tangent(self.data.ways.rows, counts, dag, self.score)
        found, log_total = self.data.expected(log_p)
        return intercept + linear, intercept + log_total, found


def _rounds(data: Any, net: BayesNet, step_for: Callable[[Dataset], _Step], clock: Clock) -> _Run:
    """Rounds until the objective rises no more; one that ends lower, which a limit can cause, is left out."""
    counts = data.begin(net)
    last: _Run | None = None
    while True:
        step = step_for(data.completed(counts))
        constant, reached = 0.0, -np.inf  # what the solver's score has beside `refit`'s: penalties, a prior
        for refit in range(MOST_REFITS):
            counted = counts
            scored, objective, counts = data.refit(counted, step.dag)
            if refit == 0 and step.solution is not None and step.solution.score is not None:
                constant = step.solution.score - scored
            before, reached = reached, constant + objective
            if reached - before < LEAST_GAIN:
                break
        if last is not None and reached < last.trace[-1]:
            return last
        gain = reached - last.trace[-1] if last is not None else np.inf
        last = _Run(step, data.completed(counted), [*(last.trace if last is not None else []), reached])
        if gain < LEAST_GAIN or len(last.trace) == MOST_ROUNDS or clock.stop_reason() is not None:
            return last


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


def _best(expected: Dataset, class_name: str | None, recipe: Recipe, clock: Clock) -> _Step:
    """The best network for expected counts."""
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
    return _Step(solution.dag, solution, problem, plan.domain.max_parents)
