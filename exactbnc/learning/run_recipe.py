"""From a data set and a recipe to a network with its tables: score, solve, fit parameters.

    run_recipe(dataset, "y", Recipe(structure="tan", criterion="bdeu"))  ->  Learned (network, solution, ...)

`exactbnc.learn`, the estimators and the command line all call it, with a table that is prepared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning.fallback import Attempt, attempts, grace_of
from exactbnc.learning.likely_ways import Kept
from exactbnc.learning.parent_limit import naive_bayes_warning, parent_limit
from exactbnc.learning.recipe import Recipe
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.class_model import ClassFit
from exactbnc.network.parameters import fit_parameters
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.soundness import unsound_reasons
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError, TimeLimitError
from scorecache.scores.gaussian import BGe
from scorecache.scoring.build import BuildPlan, plan_build


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted network with the solution it came from.

    `problem` is None where the time ended before there was one. Where the network stands in for the requested
    structure (`stands_in`, see `fallback`), the solution has no bound, and no score if only some rows were scored.
    Without time for any network the structure is naive Bayes, or without a class no arcs, which need not satisfy the
    constraints.
    """

    net: BayesNet
    solution: Solution
    problem: Problem | None
    max_parents: int | None
    seconds: Mapping[str, float]
    warning: str | None = None
    """A warning for the caller where the requested structure needs too many families, or scoring too much time."""
    stands_in: bool = False
    rounds: tuple[float, ...] = ()
    """What structural EM raises, after each round, where missing values were summed out."""
    objective: str = ""
    """What that is."""
    kept: Kept | None = None
    """Where rows can be completed in too many ways: what they keep of them."""


def run_recipe(
    dataset: Dataset,
    class_name: str | None,
    recipe: Recipe,
    *,
    listener: Listener | None = None,
    class_factors: Sequence[float] | NDArray[np.float64] | None = None,
) -> Learned:
    """The best network of the recipe's structure for the data, with its parameters.

    Parameters
    ----------
    dataset : Dataset
        Weights that are not whole count as they are in the parameters and in the scores that take them; those that are
        defined for counts alone get the whole numbers of `counted`.
    class_name : str or None
        A column of the data; None for a general network without a class.
    recipe : Recipe
    listener : Listener, optional
        Receives the events of the solver.
    class_factors : sequence of float, optional
        By class, what the weights of its rows are multiplied by for parameters and calibration.

    Returns
    -------
    Learned
        The fitted network, the solution and the seconds of every step.

    Raises
    ------
    ParameterError
        If the class is not a column, or the recipe does not fit the data.
    InfeasibleError
        If no network satisfies the constraints.

    Examples
    --------
    >>> data = Dataset.from_columns({"rain": ["no", "yes"] * 8, "wet": ["no", "yes"] * 8})
    >>> learned = run_recipe(data, "wet", Recipe(structure="naive_bayes"))
    >>> learned.net.dag.modelstring, learned.solution.status.value
    ('[wet][rain|wet]', 'optimal')
    """
    limits = Limits(seconds=recipe.time_limit, memory=recipe.memory_limit)
    clock, begun = Clock(limits.seconds), time.monotonic()
    if class_name is not None:
        dataset.column(class_name)  # an error lists the columns if it is not one
    if not recipe.score().takes_measurements:
        dataset.require_categories()
    rows = dataset if recipe.score().takes_real_weights else counted(dataset)
    problem, solution, warning, max_parents = None, _unsolved(class_name), None, None
    stands_in = False
    listed = attempts(rows, class_name, recipe)
    for attempt in listed:
        try:
            plan, constraints = plan_of(attempt.rows, class_name, attempt.recipe)
        except (ParameterError, InfeasibleError):
            if attempt.recipe is recipe:
                raise
            continue  # constraints that the smaller structure cannot satisfy
        if attempt.recipe is recipe:
            max_parents, warning = plan.domain.max_parents, _limit_warning(plan.domain, recipe)
        is_last = attempt is listed[-1] and attempt.warning is not None
        cache = _scored(plan, recipe, begun, attempt.share, grace_of(recipe) if is_last else 0.0)
        if cache is not None:
            break
    scored = time.monotonic()
    if cache is not None:
        problem = Problem(cache, constraints)
        left = clock.left_of(limits)
        if attempt.warning is not None and left.seconds is not None:
            left = replace(left, seconds=max(left.seconds, grace_of(recipe)))
        solution = solve(problem, solver=attempt.recipe.solver, limits=left, listener=listener, seed=recipe.seed)
        stands_in = attempt.warning is not None and solution.dag is not None
        if attempt.warning is not None:
            problem, solution, warning = _standing_in(attempt, problem, solution)
    solved = time.monotonic()
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError("no network satisfies all the constraints together")
    dag = _without_search(dataset, class_name) if solution.dag is None else solution.dag
    solution = replace(solution, dag=dag)
    if class_name is not None and class_factors is not None:
        dataset = reweighted(dataset, class_name, class_factors)
    net = fit_parameters(dataset, dag, recipe.estimator(), class_name=class_name, prior=recipe.regression_prior())
    if class_name is not None and (recipe.is_discriminative or recipe.calibrate):
        net = replace(net, class_name=class_name, class_fit=_class_fit(dataset, net, class_name, recipe))
    seconds = {"score": scored - begun, "solve": solved - scored, "fit": time.monotonic() - solved}
    return Learned(net, solution, problem, max_parents, seconds, warning, stands_in)


def counted(dataset: Dataset) -> Dataset:
    """The rows with whole weights; weights that are not are rounded so that sums over classes and cells hardly change.

    With the rows in the order of class (the last column) and values, row i gets round(W_i) - round(W_(i-1)), where W_i
    is the weight of the rows up to it; rows that get 0 are left out.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]})
    >>> counted(replace(data, weights=np.array([0.5, 0.5, 1.5, 1.5]))).weights.tolist()
    [1, 2, 1]
    """
    if dataset.weights is None or dataset.weights.dtype == np.int64:
        return dataset
    order = np.lexsort(dataset.codes)
    below = np.floor(np.cumsum(dataset.weights[order]) + 0.5)
    whole = np.empty(dataset.n_rows, dtype=np.int64)
    whole[order] = np.diff(below, prepend=0.0).astype(np.int64)
    return replace(dataset, weights=whole).rows(whole > 0)


def networks_by(recipe: Recipe) -> Callable[[Dataset, str], BayesNet]:
    """The recipe as a function from data to networks, with which `selection.choose` can judge features.

    Rows of a single class, which a fold may consist of, give naive Bayes.
    """

    def network(dataset: Dataset, class_name: str) -> BayesNet:
        observed = dataset.column(class_name)
        if observed.min() == observed.max():
            structure = _naive_bayes(dataset, class_name)
            return fit_parameters(dataset, structure, recipe.estimator(), class_name=class_name)
        return run_recipe(dataset, class_name, recipe).net

    return network


def plan_of(dataset: Dataset, class_name: str | None, recipe: Recipe) -> tuple[BuildPlan, Constraints]:
    """What is scored for a recipe, and under which constraints it is solved."""
    score, requested = recipe.score(), recipe.constraints
    k = recipe.k if recipe.structure == "kdb" else None
    domain = Domain.of(
        dataset.names,
        recipe.structure,
        class_name=class_name,
        k=k,
        required_arcs=requested.required_arcs,
        forbidden_arcs=requested.forbidden_arcs,
        tiers=requested.tiers,
    )
    limits = [limit for limit in (recipe.max_parents, requested.max_parents) if limit is not None]
    limit = min(limits) if limits else parent_limit(score, domain, dataset)
    if limit is not None:
        domain = replace(domain, max_parents=min(limit, dataset.n_vars - 1))
    constraints = Constraints(
        structure=recipe.structure, class_name=class_name, k=k, max_parents=domain.max_parents
    ).merged(requested)
    plan = plan_build(dataset, score, domain=domain, prior=recipe.prior)
    if unsound_reasons(plan.record(), constraints):  # constraints that dropping a parent can break
        plan = plan_build(dataset, score, domain=domain, prune=False, prior=recipe.prior)
    return plan, constraints


def _standing_in(attempt: Attempt, problem: Problem, solution: Solution) -> tuple[Problem | None, Solution, str | None]:
    """What is known of the requested structure where another one was solved: no bound, and of a sample no score."""
    if solution.dag is None:
        return None, _unsolved(solution.class_name), None
    reason = solution.stop_reason if solution.stop_reason == "interrupted" else "time"
    if attempt.is_sample:
        unscored = replace(solution, status=Status.UNKNOWN, score=None, bound=float("inf"), trace=())
        return None, replace(unscored, stop_reason=reason), attempt.warning
    unproved = replace(solution, status=Status.FEASIBLE, bound=float("inf"), stop_reason=reason)
    return problem, unproved, attempt.warning


def _limit_warning(domain: Domain, recipe: Recipe) -> str | None:
    """The warning of a chosen limit; a limit that was asked for needs none."""
    requested = (recipe.max_parents, recipe.constraints.max_parents)
    return naive_bayes_warning(domain) if requested == (None, None) else None


def _scored(plan: BuildPlan, recipe: Recipe, begun: float, share: float, grace: float) -> ScoreCache | None:
    """The score cache, None if this share of the time limit, and `grace` seconds from now, ended first."""
    limit = None if recipe.time_limit is None else share * recipe.time_limit
    if limit is not None and grace:
        limit = max(limit, time.monotonic() - begun + grace)
    try:
        return plan.run(n_jobs=recipe.n_jobs, memory_limit=recipe.memory_limit, time_limit=limit, started=begun)
    except TimeLimitError:
        return None


def reweighted(dataset: Dataset, class_name: str, class_factors: Sequence[float] | NDArray[np.float64]) -> Dataset:
    """The data set with the weights of the rows of each class multiplied."""
    factors = np.asarray(class_factors, dtype=np.float64)[dataset.column(class_name)]
    return replace(dataset, weights=factors if dataset.weights is None else dataset.weights * factors)


def _class_fit(dataset: Dataset, net: BayesNet, class_name: str, recipe: Recipe) -> ClassFit:
    """Weights and temperature, or the temperature alone; with numbers predictive distributions instead of weights."""
    if net.numbers:
        from exactbnc.learning.discriminative.by_folds import calibrated_by_folds

        prior, is_predictive = recipe.regression_prior() or BGe(), recipe.is_discriminative
        return calibrated_by_folds(dataset, net, recipe.estimator(), class_name, prior, is_predictive=is_predictive)
    from exactbnc.learning.discriminative.fit import calibrated, discriminative

    if recipe.is_discriminative:
        return discriminative(dataset, net, recipe.estimator(), class_name)
    return calibrated(dataset, net, recipe.estimator(), class_name)


def _without_search(dataset: Dataset, class_name: str | None) -> DAG:
    """The network where there was no time to search: naive Bayes, or no arcs if there is no class."""
    return DAG.from_arcs(dataset.names, []) if class_name is None else _naive_bayes(dataset, class_name)


def _naive_bayes(dataset: Dataset, class_name: str) -> DAG:
    return DAG.from_arcs(dataset.names, [(class_name, name) for name in dataset.names if name != class_name])


def _unsolved(class_name: str | None) -> Solution:
    return Solution(
        status=Status.UNKNOWN,
        dag=None,
        score=None,
        bound=float("inf"),
        method="none",
        stop_reason="time",
        tolerance=0.0,
        cache_is_safe=True,
        class_name=class_name,
    )
