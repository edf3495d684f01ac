"""From a data set to a network with its tables in one go: score, solve, fit parameters.

    learn(dataset, "y", Recipe(structure="tan", criterion="bdeu"))  ->  Learned (network, solution, ...)

Both the scikit-learn estimators and the command line use it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.class_model import ClassFit
from exactbnc.network.parameters import ParameterEstimator, fit_parameters, make_parameters
from exactbnc.network.parameters.closed_form import Dirichlet
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.soundness import unsound_reasons
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain, structure_named
from scorecache.errors import ParameterError, TimeLimitError
from scorecache.scores import Score, make_score
from scorecache.scores._base import require_positive
from scorecache.scoring.build import BuildPlan, plan_build

MOST_FAMILIES = 500_000
"""Without a limit on the parents, the largest limit with at most this many families is used."""

MOST_PAIRS = 5_000_000
"""An augmented naive Bayes may have one feature parent, besides the class, up to this many families."""

ANB_PARENTS = 3
"""The limit for an augmented naive Bayes, and for scores that never fall when parents are added: the class and two
features. More parents predict no better."""

SCORING_SHARE = 0.6
"""Of a time limit; when it ends, the best forest-augmented naive Bayes is looked for in what is left."""

AUTO = "auto"
"""Parameters: tables for rows with unknown values, and weights fitted to the class for all others."""

KDB_K = 2


@dataclass(frozen=True)
class Recipe:
    """What is learned, and how.

    Parameters
    ----------
    structure : str, default "anb"
        "anb", "tan", "fan", "kdb", "naive_bayes" or "general".
    criterion : str or Score, default "bdeu"
    parameters : str or ParameterEstimator, default "eap"
        "auto" fits weights to the class beside the tables, which then are Dirichlet's with one row per cell.
    calibrate : bool, default False
        Whether the tables get a temperature, by leave-one-out; with "auto" they always do.
    max_parents : int, optional
        The class counted; by default see `affordable_parents`.
    k : int, default 2
        Most feature parents, for "kdb".
    ess : float, default 1
        For the criterion and the parameters that have an equivalent sample size.
    constraints : Constraints
    solver : str, default "auto"
    time_limit : float, optional
        Seconds for scoring and solving together.
    memory_limit : int, optional
        Bytes for scoring, and for solving.
    n_jobs : int, optional
        Threads.
    seed : int, default 0

    Raises
    ------
    ParameterError
        If a name is unknown or a setting out of its range.

    Examples
    --------
    >>> Recipe(structure="tan", ess=5.0).score().parameters
    {'ess': 5.0}
    """

    structure: str = "anb"
    criterion: str | Score = "bdeu"
    parameters: str | ParameterEstimator = "eap"
    calibrate: bool = False
    max_parents: int | None = None
    k: int = KDB_K
    ess: float = 1.0
    constraints: Constraints = field(default_factory=Constraints)
    solver: str = "auto"
    time_limit: float | None = None
    memory_limit: int | None = None
    n_jobs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", structure_named(self.structure))
        require_positive("a recipe", "ess", self.ess)
        self.score()
        self.estimator()

    def score(self) -> Score:
        """The criterion as a score."""
        if isinstance(self.criterion, Score):
            return self.criterion
        plain = make_score(self.criterion)
        return replace(plain, **{"ess": self.ess}) if "ess" in plain.parameters else plain

    def estimator(self) -> ParameterEstimator:
        """The parameters as an estimator."""
        if isinstance(self.parameters, ParameterEstimator):
            return self.parameters
        if self.is_discriminative:
            return Dirichlet(1.0)
        plain = make_parameters(self.parameters)
        return replace(plain, **{"ess": self.ess}) if "ess" in plain.settings else plain

    @property
    def is_discriminative(self) -> bool:
        """Whether weights are fitted to the class."""
        return self.parameters == AUTO

    def to_json(self) -> dict[str, Any]:
        """The recipe in the types of JSON, for provenance."""
        settings = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        score, estimator = self.score(), self.estimator()
        settings["criterion"] = {"name": score.name, **score.parameters}
        own = {"name": estimator.name, **estimator.settings}
        settings["parameters"] = {"name": AUTO} if self.is_discriminative else own
        settings["constraints"] = self.constraints.to_json()
        return settings

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Recipe:
        """What `to_json` gave; what is not in it has its default."""
        given = dict(stored) if isinstance(stored, Mapping) else {"": stored}
        if "method" in given:  # the name of `solver` in earlier versions
            given["solver"] = given.pop("method")
        if not given.keys() <= {entry.name for entry in fields(cls)}:
            raise ParameterError("expected the recipe to be a JSON object with the names of a recipe's settings")
        try:
            if "criterion" in given:
                given["criterion"] = make_score(**given["criterion"])
            if "parameters" in given:
                is_auto = given["parameters"] == {"name": AUTO}
                given["parameters"] = AUTO if is_auto else make_parameters(**given["parameters"])
            given["constraints"] = Constraints.from_json(given.get("constraints", {}))
            return cls(**given)
        except (TypeError, AttributeError) as error:
            raise ParameterError(f"expected the settings of a recipe, but {error}") from error


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted network with the solution it came from.

    `problem` is None where the time ended before there was one. Without time for any network the structure is naive
    Bayes, or without a class no arcs, which has no score, no proof, and need not satisfy the constraints.
    """

    net: BayesNet
    solution: Solution
    problem: Problem | None
    max_parents: int | None
    seconds: Mapping[str, float]
    warning: str | None = None
    """A warning for the caller where the requested structure needs too many families, or scoring too much time."""


def learn(
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
    >>> learned = learn(data, "wet", Recipe(structure="naive_bayes"))
    >>> learned.net.dag.modelstring, learned.solution.status.value
    ('[wet][rain|wet]', 'optimal')
    """
    limits = Limits(seconds=recipe.time_limit, memory=recipe.memory_limit)
    clock, begun = Clock(limits.seconds), time.monotonic()
    if class_name is not None:
        dataset.column(class_name)  # an error lists the columns if it is not one
    rows = dataset if recipe.score().takes_real_weights else counted(dataset)
    plan, constraints = plan_of(rows, class_name, recipe)
    problem, solution, warning = None, _unsolved(class_name), _limit_warning(plan.domain, recipe)
    has_fallback = recipe.time_limit is not None and class_name is not None and recipe.structure in ("anb", "kdb")
    share = SCORING_SHARE if has_fallback else 1.0
    cache = _scored(plan, recipe, begun, share)
    if cache is None and has_fallback:
        with suppress(ParameterError, InfeasibleError):  # constraints that a forest cannot satisfy
            plan, constraints = plan_of(rows, class_name, replace(recipe, structure="fan"))
            cache = _scored(plan, recipe, begun, 1.0)
            warning = None if cache is None else _FOREST_WARNING
    scored = time.monotonic()
    if cache is not None:
        problem = Problem(cache, constraints)
        left = clock.left_of(limits)
        solution = solve(problem, solver=recipe.solver, limits=left, listener=listener, seed=recipe.seed)
    solved = time.monotonic()
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError("no network satisfies all the constraints together")
    dag = _without_search(dataset, class_name) if solution.dag is None else solution.dag
    solution = replace(solution, dag=dag)
    if class_name is not None and class_factors is not None:
        dataset = _reweighted(dataset, class_name, class_factors)
    net = fit_parameters(dataset, dag, recipe.estimator(), class_name=class_name)
    if class_name is not None and (recipe.is_discriminative or recipe.calibrate):
        net = replace(net, class_name=class_name, class_fit=_class_fit(dataset, net, class_name, recipe))
    seconds = {"score": scored - begun, "solve": solved - scored, "fit": time.monotonic() - solved}
    return Learned(net, solution, problem, plan.domain.max_parents, seconds, warning)


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
        return learn(dataset, class_name, recipe).net

    return network


def affordable_parents(score: Score, domain: Domain) -> int | None:
    """The largest limit of the parents with at most MOST_FAMILIES families; None if no limit is needed.

    That is for general networks and augmented naive Bayes; the other structures have limits of their own. An augmented
    naive Bayes gets at most ANB_PARENTS, and one feature parent up to MOST_PAIRS families; so do scores that do not
    fall when parents are added. One parent, or as many as are required, is always allowed.
    """
    if domain.structure not in ("general", "anb"):
        return None
    most = max(domain.limits)
    if score.needs_bound:
        return min(most, max(ANB_PARENTS, *map(len, domain.required)))
    limit = 1
    if domain.structure == "anb":
        most = min(most, max(ANB_PARENTS, *map(len, domain.required)))
        limit = 2 if _n_families(domain, 2) <= MOST_PAIRS else 1
    limit = max(limit, *map(len, domain.required))
    while limit < most and _n_families(domain, limit + 1) <= MOST_FAMILIES:
        limit += 1
    return None if limit >= max(domain.limits) else limit


def limited(domain: Domain, score: Score) -> Domain:
    """The domain with the limit of `affordable_parents`, unless it has a limit of its own.

    >>> limited(Domain.of("abcdef"), make_score("ll")).max_parents
    3
    """
    if domain.max_parents is not None:
        return domain
    limit = affordable_parents(score, domain)
    return domain if limit is None else replace(domain, max_parents=min(limit, len(domain.names) - 1))


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
    limit = min(limits) if limits else affordable_parents(score, domain)
    if limit is not None:
        domain = replace(domain, max_parents=min(limit, dataset.n_vars - 1))
    constraints = Constraints(
        structure=recipe.structure, class_name=class_name, k=k, max_parents=domain.max_parents
    ).merged(requested)
    plan = plan_build(dataset, score, domain=domain)
    if unsound_reasons(plan.record(), constraints):  # constraints that dropping a parent can break
        plan = plan_build(dataset, score, domain=domain, prune=False)
    return plan, constraints


def _n_families(domain: Domain, limit: int) -> int:
    """The number of families with at most that many parents."""
    total = 0
    for required, allowed, own in zip(domain.required, domain.allowed, domain.limits, strict=True):
        most_free = min(limit, own) - len(required)
        total += sum(comb(len(allowed), n_free) for n_free in range(most_free + 1))
    return total


def _limit_warning(domain: Domain, recipe: Recipe) -> str | None:
    """A warning where the limit that was chosen leaves an augmented naive Bayes nothing but naive Bayes."""
    requested = (recipe.max_parents, recipe.constraints.max_parents)
    if domain.structure != "anb" or requested != (None, None) or domain.max_parents != 1 or domain.n_vars <= 2:
        return None
    return (
        f"with {domain.n_vars - 1} features, two parents each would be more than {MOST_PAIRS:,} families: the "
        "features have no parent but the class, and the network is naive Bayes. Give max_parents=2 to learn arcs "
        "between features anyway, or another structure such as tan, or fewer features"
    )


_FOREST_WARNING = (
    "the time limit ended before all families were scored: the structure is the best one with at most one feature "
    "parent each (fan). Raise time_limit, or lower max_parents"
)


def _scored(plan: BuildPlan, recipe: Recipe, begun: float, share: float) -> ScoreCache | None:
    """The score cache, None if this share of the time limit ended first."""
    limit = None if recipe.time_limit is None else share * recipe.time_limit
    try:
        return plan.run(n_jobs=recipe.n_jobs, memory_limit=recipe.memory_limit, time_limit=limit, started=begun)
    except TimeLimitError:
        return None


def _reweighted(dataset: Dataset, class_name: str, class_factors: Sequence[float] | NDArray[np.float64]) -> Dataset:
    """The data set with the weights of the rows of each class multiplied."""
    factors = np.asarray(class_factors, dtype=np.float64)[dataset.column(class_name)]
    return replace(dataset, weights=factors if dataset.weights is None else dataset.weights * factors)


def _class_fit(dataset: Dataset, net: BayesNet, class_name: str, recipe: Recipe) -> ClassFit:
    """Weights and temperature, or the temperature alone."""
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
