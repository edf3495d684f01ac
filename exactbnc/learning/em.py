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

A class-minimal network is defined by families that score best, not by a score that is best, so an M-step that takes it
raises nothing: which networks are lossless changes with the counts. It is searched for once, for the expected counts
that the rounds end with when they choose among all networks in which the class has no parents, which can represent any
distribution. E-steps with the class-minimal network follow, which raise its own F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.em_rounds import Run, Step, incomplete, run_refits, run_rounds
from exactbnc.learning.expected_score import Likelihood, expected_score
from exactbnc.learning.preparation import EM
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import Learned, plan_of, reweighted, run_recipe
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from exactbnc.network.parameters.closed_form import Dirichlet
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError, TimeLimitError

SHARE_OF_COMPLETING = 0.5
"""Of the time limit for a class-minimal network, what completing the rows may take."""


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
        `rounds` are the values of the objective in the best run; of a class-minimal network those of its own E-steps.

    Raises
    ------
    ParameterError
        If the score is not one of expected counts, or a calibration is asked for.
    DataError
        If rows with numbers can be completed in too many ways.
    InfeasibleError
        If no network satisfies the constraints.
    """
    return learn_completed(dataset, class_name, recipe, class_factors=class_factors)[0]


def learn_completed(
    dataset: Dataset,
    class_name: str | None,
    recipe: Recipe,
    *,
    class_factors: Sequence[float] | NDArray[np.float64] | None = None,
) -> tuple[Learned, Dataset]:
    """What `learn_incomplete` learns, and the rows as its network completes them: weighted by their probabilities.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": ["a", None, "b"] * 8, "y": ["a", "a", "b"] * 8}, missing="category")
    >>> learned, rows = learn_completed(data, "y", Recipe("tan"))
    >>> learned.net.states == rows.states, round(float(rows.weights.sum()), 6)
    (True, 24.0)
    """
    if recipe.calibrate:
        raise ParameterError("calibrate needs complete rows: leave it out, or use missing='category'")
    clock = Clock(recipe.time_limit)
    score = expected_score(recipe.score())
    data = incomplete(dataset, score)
    found = _best_run(data, dataset.names, class_name, recipe, clock)
    step, expected = found.step, found.expected
    assert step.solution is not None
    if class_name is not None and class_factors is not None:
        expected = reweighted(expected, class_name, class_factors)
    net = fit_parameters(expected, step.dag, recipe.estimator(), class_name=class_name)
    kept = data.kept(found.counts, net)
    objective = score.objective if kept is None or score.is_bound else f"lower bound of the {score.objective}"
    learned = Learned(
        net,
        step.solution,
        step.problem,
        step.max_parents,
        {"em": clock.elapsed()},
        warning=None if kept is None else kept.warning,
        rounds=tuple(found.trace),
        objective=objective,
        kept=kept,
    )
    return learned, found.expected


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
    data = incomplete(dataset, Likelihood())
    begin = fit_parameters(data.drawn(np.random.default_rng(0)), dag, Dirichlet(1.0))
    found = run_refits(data, data.begin(begin), Step(dag), Clock(None))
    return fit_parameters(found.expected, dag, estimator)


def _best_run(data: Any, names: Sequence[str], class_name: str | None, recipe: Recipe, clock: Clock) -> Run:
    """The run that ends highest; of class-minimal networks what follows the best run without their condition."""
    if recipe.structure == "class_minimal":
        assert class_name is not None
        return _class_minimal_run(data, names, class_name, recipe, clock)
    return _highest_run(data, class_name, recipe, clock)


def _class_minimal_run(data: Any, names: Sequence[str], class_name: str, recipe: Recipe, clock: Clock) -> Run:
    """The class-minimal network for the rows as the best network with the class as a root completes them."""
    free = with_class_as_root(recipe, names, class_name)
    own = clock if recipe.time_limit is None else Clock(SHARE_OF_COMPLETING * recipe.time_limit)
    completing = _highest_run(data, class_name, free, own)
    step = _best(completing.expected, class_name, recipe, clock)
    if own.stop_reason() == "interrupted" and step.solution is not None:
        step = replace(step, solution=replace(step.solution, stop_reason="interrupted"))
    return run_refits(data, completing.counts, step, clock)


def with_class_as_root(recipe: Recipe, names: Sequence[str], class_name: str) -> Recipe:
    """The recipe for the best of all networks in which the class has no parents."""
    arcs = [(name, class_name) for name in names if name != class_name]
    return replace(recipe, structure="general", constraints=recipe.constraints.merged(Constraints(forbidden_arcs=arcs)))


def _highest_run(data: Any, class_name: str | None, recipe: Recipe, clock: Clock) -> Run:
    """The best of a run that begins without arcs and the restarts.

    Where rows keep some of their ways only, these runs keep fewer still, and the best of them goes on with all that are
    kept.
    """
    random = np.random.default_rng(recipe.seed)
    coarse = data.coarse()

    def best(expected: Dataset) -> Step:
        return _best(expected, class_name, recipe, clock)

    found: Run | None = None
    for run in range(recipe.restarts + 1):
        if found is not None and clock.stop_reason() is not None:
            break
        drawn = data.drawn(random)
        dag = DAG.from_arcs(drawn.names, []) if run == 0 else best(drawn).dag
        own = run_rounds(coarse, coarse.begin(fit_parameters(drawn, dag, Dirichlet(1.0))), best, clock)
        if found is None or own.trace[-1] > found.trace[-1]:
            found = own
    assert found is not None
    if coarse is data:
        return found
    net = fit_parameters(found.expected, found.step.dag, Dirichlet(1.0))
    return run_rounds(data, data.begin(net), best, clock)


def _best(expected: Dataset, class_name: str | None, recipe: Recipe, clock: Clock) -> Step:
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
    return Step(solution.dag, solution, problem, plan.domain.max_parents)
